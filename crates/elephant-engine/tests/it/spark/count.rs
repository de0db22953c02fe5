//! Counts over a Spark event log, taken from its lines without the parser.

use std::collections::{BTreeMap, BTreeSet};

use elephant_input::inventory::Source;
use serde_json::Value;
use std::io::Read;

/// The counts over the lines of a log.
#[derive(Debug, Default)]
pub(super) struct Counted {
    /// Distinct ids of tasks that started or ended.
    pub attempts: BTreeSet<i64>,
    pub started: BTreeSet<i64>,
    pub ended: BTreeSet<i64>,
    /// `TaskEnd` events.
    pub ends: u64,
    /// Stage attempts that were submitted, completed or ran a task.
    pub stages: BTreeSet<(i64, i64)>,
    pub submitted: BTreeSet<(i64, i64)>,
    pub completed: BTreeSet<(i64, i64)>,
    /// Tasks by stage attempt: the indices seen, and the announced number of tasks.
    pub indices: BTreeMap<(i64, i64), BTreeSet<i64>>,
    pub announced: BTreeMap<(i64, i64), u64>,
    pub started_jobs: BTreeSet<i64>,
    pub ended_jobs: BTreeSet<i64>,
    pub executors: BTreeSet<String>,
    pub added: BTreeSet<String>,
    pub ran_tasks: BTreeSet<String>,
    pub has_start: bool,
    pub has_end: bool,
    /// Lines that are not JSON.
    pub broken: u64,
}

impl Counted {
    /// Counts over all parts of a log.
    pub(super) fn of(source: &Source) -> Self {
        let mut counted = Self::default();
        for part in &source.parts {
            let mut bytes = Vec::new();
            // Lines before an error count.
            if part.open().unwrap().read_to_end(&mut bytes).is_err() {
                counted.broken += 1;
            }
            for line in bytes.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
                match serde_json::from_slice(line) {
                    Ok(event) => counted.event(&event),
                    Err(_) => counted.broken += 1,
                }
            }
        }
        counted
    }

    fn event(&mut self, event: &Value) {
        let name = event["Event"].as_str().unwrap_or_default();
        let info = &event["Stage Info"];
        match name {
            "SparkListenerApplicationStart" => self.has_start = true,
            "SparkListenerApplicationEnd" => self.has_end = true,
            "SparkListenerTaskStart" => {
                let task = self.task(event);
                self.started.extend(task);
            }
            "SparkListenerTaskEnd" => {
                self.ends += 1;
                // `Resubmitted` does not end an attempt.
                if event["Task End Reason"]["Reason"] != "Resubmitted" {
                    let task = self.task(event);
                    self.ended.extend(task);
                }
            }
            "SparkListenerStageSubmitted" => {
                let id = stage(&info["Stage ID"], &info["Stage Attempt ID"]);
                self.stages.insert(id);
                self.submitted.insert(id);
            }
            "SparkListenerStageCompleted" => {
                let id = stage(&info["Stage ID"], &info["Stage Attempt ID"]);
                self.stages.insert(id);
                self.completed.insert(id);
                if info["Failure Reason"].is_null() {
                    self.announced.insert(id, info["Number of Tasks"].as_u64().unwrap_or_default());
                }
            }
            "SparkListenerJobStart" => {
                self.started_jobs.extend(event["Job ID"].as_i64());
            }
            "SparkListenerJobEnd" => {
                self.ended_jobs.extend(event["Job ID"].as_i64());
            }
            "SparkListenerExecutorAdded" | "SparkListenerExecutorRemoved" => {
                self.executor(&event["Executor ID"], name.ends_with("Added"));
            }
            "SparkListenerBlockManagerAdded" => {
                self.executor(&event["Block Manager ID"]["Executor ID"], true);
            }
            _ => {}
        }
    }

    fn task(&mut self, event: &Value) -> Option<i64> {
        let info = &event["Task Info"];
        let id = info["Task ID"].as_i64()?;
        let stage = stage(&event["Stage ID"], &event["Stage Attempt ID"]);
        self.attempts.insert(id);
        self.stages.insert(stage);
        self.indices.entry(stage).or_default().extend(info["Index"].as_i64());
        if let Some(executor) = self.executor(&info["Executor ID"], false) {
            self.ran_tasks.insert(executor);
        }
        Some(id)
    }

    /// Records an executor unless it is the driver.
    fn executor(&mut self, id: &Value, is_added: bool) -> Option<String> {
        let id = id.as_str().filter(|id| !["driver", "<driver>", "localhost"].contains(id))?;
        self.executors.insert(id.to_owned());
        if is_added {
            self.added.insert(id.to_owned());
        }
        Some(id.to_owned())
    }

    /// Jobs that started or ended.
    pub(super) fn jobs(&self) -> usize {
        self.started_jobs.union(&self.ended_jobs).count()
    }

    /// The missing data, as far as the lines show it.
    pub(super) fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        let mut say = |is_missing: bool, what: &str| {
            if is_missing {
                missing.push(what.to_owned());
            }
        };
        say(!self.has_start, "start");
        say(!self.has_end, "end");
        say(self.started != self.ended, "starts or ends of tasks");
        say(self.submitted != self.stages || self.completed != self.stages, "starts or ends of stages");
        say(self.started_jobs != self.ended_jobs, "starts or ends of jobs");
        say(!self.ran_tasks.is_subset(&self.added), "executors");
        say(self.broken > 0, "lines");
        let attempts = |stage: i64| self.stages.iter().filter(|id| id.0 == stage).count();
        let short = |(id, &announced): (&(i64, i64), &u64)| {
            let shown = self.indices.get(id).map_or(0, BTreeSet::len) as u64;
            // A later attempt of a stage may leave tasks to an earlier attempt.
            attempts(id.0) == 1 && shown < announced
        };
        say(self.announced.iter().any(short), "tasks of stages");
        missing
    }
}

/// Spark 1.0 and earlier do not number attempts.
fn stage(id: &Value, attempt: &Value) -> (i64, i64) {
    (id.as_i64().unwrap_or(-1), attempt.as_i64().unwrap_or_default())
}
