//! Event logs of Spark (`org.apache.spark.util.JsonProtocol`): one event on each line.

use std::collections::{BTreeMap, BTreeSet};

use memchr::memmem;
use serde::Deserialize;
use serde_json::Value;

use super::gather::{Attempt, Gather, Names, Spot};
use elephant_base::limits::Limits;
use elephant_base::units::Bytes;
use elephant_input::budget::{Budget, Metered};
use elephant_input::inventory::Source;
use elephant_input::part::Part;
use elephant_input::window::{ByteWindow, Line, LineReader, NextLine};
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::StageAttempt;
use elephant_model::model::table::Outcome;
use elephant_model::model::{Engine, Subject};

/// The name of an event stands within this many bytes of its line.
const HEAD: usize = 160;
/// Nanoseconds in a millisecond.
const NANOS: u64 = 1_000_000;
const SETTINGS: &str = "Spark Properties";

pub(crate) struct Keys;

impl Names for Keys {
    fn key(&self, counter: Counter) -> String {
        format!("Task Metrics.{}", counter.name_in(Engine::Spark))
    }

    fn run_time_key(&self) -> &'static str {
        "Task Info.Finish Time \u{2212} Task Info.Launch Time"
    }

    fn per_unit(&self, counter: Counter) -> u64 {
        match counter {
            Counter::CpuMilliseconds | Counter::ShuffleWriteTime => NANOS,
            _ => 1,
        }
    }
}

/// Reads all parts of an event log.
///
/// # Errors
/// Why values may be missing.
pub(crate) fn read(source: &Source, limits: &Limits, gather: &mut Gather) -> Result<(), String> {
    let stored: Option<u64> = source.parts.iter().map(Part::stored_len).sum();
    let budget = Budget::new(limits, stored.map(Bytes::new));
    let mut log = EventLog { gather, is_other: false, jobs: BTreeMap::new(), queries: BTreeMap::new() };
    for part in &source.parts {
        let file = log.gather.file(part.name());
        let stream = part.open().map_err(|error| error.to_string())?;
        let expected = stream.plain_len();
        let window = ByteWindow::new(Metered::new(stream, budget.clone(), expected));
        let mut lines = LineReader::new(window, limits.line_len());
        loop {
            match lines.next_line() {
                Ok(NextLine::Line(line)) => log.line(file, line),
                Ok(NextLine::TooLong { .. }) => {}
                Ok(NextLine::End) => break,
                Err(error) => return Err(format!("{} cannot be read to its end: {error}", part.name())),
            }
        }
    }
    Ok(())
}

/// The events that a log may begin a line with, and that are read.
const EVENTS: [&str; 12] = [
    "SparkListenerTaskEnd",
    "SparkListenerStageSubmitted",
    "SparkListenerStageCompleted",
    "SparkListenerJobStart",
    "SparkListenerJobEnd",
    "SparkListenerEnvironmentUpdate",
    "SparkListenerApplicationStart",
    "SparkListenerApplicationEnd",
    "SparkListenerExecutorAdded",
    "SparkListenerExecutorRemoved",
    "SparkListenerSQLExecutionStart",
    "SparkListenerSQLExecutionEnd",
];

struct EventLog<'g> {
    gather: &'g mut Gather,
    /// Whether the events are those of another application in the same log.
    is_other: bool,
    /// The stages of each job, and of each query.
    jobs: BTreeMap<u64, BTreeSet<u64>>,
    queries: BTreeMap<u64, BTreeSet<u64>>,
}

impl EventLog<'_> {
    fn line(&mut self, file: usize, line: Line<'_>) {
        let head = line.bytes.get(..HEAD).unwrap_or(line.bytes);
        let Some(name) = EVENTS.iter().find(|name| is_event(head, name)) else { return };
        let spot = Spot { file, line: Some(line.number), byte: Some(line.offset) };
        if *name == "SparkListenerTaskEnd" {
            if !self.is_other
                && let Ok(end) = serde_json::from_slice::<TaskEnd>(line.bytes)
            {
                self.gather.attempt(&Ended { spot, end: &end, jobs: &self.jobs, queries: &self.queries });
            }
            return;
        }
        let Ok(event) = serde_json::from_slice::<Value>(line.bytes) else { return };
        if *name == "SparkListenerApplicationStart" {
            let id = event.get("App ID").and_then(Value::as_str);
            self.is_other = id.is_some_and(|id| id != self.gather.application);
        }
        if !self.is_other {
            self.event(spot, name, &event);
        }
    }

    fn event(&mut self, spot: Spot, name: &str, event: &Value) {
        let number = |key: &str| event.get(key).and_then(Value::as_u64);
        match name {
            "SparkListenerEnvironmentUpdate" => {
                for (key, value) in event.get(SETTINGS).and_then(Value::as_object).into_iter().flatten() {
                    if self.gather.asks_setting(key) {
                        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                        self.gather.setting(spot, key.clone(), value);
                    }
                }
            }
            "SparkListenerApplicationStart" | "SparkListenerApplicationEnd" => {
                self.gather
                    .event(spot, name, &|subject| matches!(subject, Subject::Application | Subject::Driver));
            }
            "SparkListenerStageSubmitted" | "SparkListenerStageCompleted" => {
                let info = event.get("Stage Info").and_then(stage_of);
                self.gather.event(
                    spot,
                    name,
                    &|subject| matches!(subject, Subject::Stage(stage) if info == Some(*stage)),
                );
            }
            "SparkListenerJobStart" | "SparkListenerJobEnd" => {
                let job = number("Job ID");
                self.stages_of(event, job);
                self.gather.event(
                    spot,
                    name,
                    &|subject| matches!(subject, Subject::Job(number) if job == Some(u64::from(*number))),
                );
            }
            "SparkListenerExecutorAdded" | "SparkListenerExecutorRemoved" => {
                let id = event.get("Executor ID").and_then(Value::as_str);
                let host =
                    event.get("Executor Info").and_then(|info| info.get("Host")).and_then(Value::as_str);
                self.gather.event(spot, name, &|subject| match subject {
                    Subject::Executor(known) => id == Some(known),
                    Subject::Node(known) => host == Some(known),
                    _ => false,
                });
            }
            "SparkListenerSQLExecutionStart" | "SparkListenerSQLExecutionEnd" => {
                let query = number("executionId");
                self.gather.event(spot, name, &|subject| {
                    matches!(subject, Subject::Query(number) | Subject::Operator(number, _) if query == Some(*number))
                });
            }
            _ => {}
        }
    }

    /// Records which stages a job has, and which query it is a part of.
    fn stages_of(&mut self, event: &Value, job: Option<u64>) {
        let (Some(job), Some(ids)) = (job, event.get("Stage IDs").and_then(Value::as_array)) else { return };
        let stages: BTreeSet<u64> = ids.iter().filter_map(Value::as_u64).collect();
        let query = event.get("Properties").and_then(|properties| properties.get("spark.sql.execution.id"));
        let query = query.and_then(Value::as_str).and_then(|id| id.parse().ok());
        if let Some(query) = query {
            self.queries.entry(query).or_default().extend(&stages);
        }
        self.jobs.insert(job, stages);
    }
}

/// Whether a line that begins with `head` is the event with this name. Events of SQL have the name of their class.
fn is_event(head: &[u8], name: &str) -> bool {
    let Some(at) = memmem::find(head, name.as_bytes()) else { return false };
    let before = at.checked_sub(1).and_then(|at| head.get(at));
    matches!(before, Some(b'"' | b'.')) && head.get(at + name.len()) == Some(&b'"')
}

fn stage_of(info: &Value) -> Option<StageAttempt> {
    let number = |key: &str| info.get(key).and_then(Value::as_u64).and_then(|it| u32::try_from(it).ok());
    Some(StageAttempt { stage: number("Stage ID")?, attempt: number("Stage Attempt ID").unwrap_or(0) })
}

/// `SparkListenerTaskEnd`
#[derive(Deserialize)]
struct TaskEnd {
    #[serde(rename = "Stage ID")]
    stage: u32,
    #[serde(rename = "Stage Attempt ID", default)]
    stage_attempt: u32,
    #[serde(rename = "Task End Reason", default)]
    reason: Option<Reason>,
    #[serde(rename = "Task Info")]
    info: TaskInfo,
    #[serde(rename = "Task Metrics", default)]
    metrics: Value,
}

#[derive(Deserialize)]
struct Reason {
    #[serde(rename = "Reason")]
    reason: String,
}

#[derive(Deserialize)]
struct TaskInfo {
    #[serde(rename = "Index", default)]
    index: u64,
    #[serde(rename = "Attempt", default)]
    attempt: u64,
    #[serde(rename = "Launch Time", default)]
    launched: Option<i64>,
    #[serde(rename = "Finish Time", default)]
    finished: Option<i64>,
    #[serde(rename = "Executor ID", default)]
    executor: String,
    #[serde(rename = "Host", default)]
    host: String,
}

/// The end of an attempt, with what is known of jobs and queries.
struct Ended<'a> {
    spot: Spot,
    end: &'a TaskEnd,
    jobs: &'a BTreeMap<u64, BTreeSet<u64>>,
    queries: &'a BTreeMap<u64, BTreeSet<u64>>,
}

impl Ended<'_> {
    fn is_among(&self, stages: Option<&BTreeSet<u64>>) -> bool {
        stages.is_some_and(|stages| stages.contains(&u64::from(self.end.stage)))
    }
}

impl Attempt for Ended<'_> {
    fn spot(&self) -> Spot {
        self.spot
    }

    fn label(&self) -> String {
        let TaskEnd { stage, stage_attempt, info, .. } = self.end;
        format!("stage {stage}.{stage_attempt} task {} attempt {}", info.index, info.attempt)
    }

    fn outcome(&self) -> Outcome {
        match self.end.reason.as_ref().map(|it| it.reason.as_str()) {
            Some("Success") => Outcome::Succeeded,
            Some("TaskKilled" | "TaskCommitDenied") => Outcome::Killed,
            Some(_) => Outcome::Failed,
            None => Outcome::Unfinished,
        }
    }

    fn run_time(&self) -> Option<u64> {
        let TaskInfo { launched, finished, .. } = &self.end.info;
        let finished = finished.filter(|time| *time > 0)?;
        u64::try_from(finished.checked_sub((*launched)?)?).ok()
    }

    fn counter(&self, counter: Counter) -> Option<u64> {
        let mut path = counter.name_in(Engine::Spark).split('.');
        path.try_fold(&self.end.metrics, |object, key| object.get(key))?.as_u64()
    }

    fn is_of(&self, subject: &Subject) -> bool {
        let TaskEnd { stage, stage_attempt, info, .. } = self.end;
        match subject {
            Subject::Application => true,
            Subject::Stage(wanted) => (wanted.stage, wanted.attempt) == (*stage, *stage_attempt),
            Subject::Executor(id) => info.executor == *id,
            Subject::Node(host) => info.host == *host,
            Subject::Job(job) => self.is_among(self.jobs.get(&u64::from(*job))),
            Subject::Query(query) | Subject::Operator(query, _) => self.is_among(self.queries.get(query)),
            _ => false,
        }
    }
}
