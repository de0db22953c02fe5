//! Gathers the answers about each job, in any order.

use std::collections::BTreeMap;
use std::io::{self, Read};

use serde::Deserializer;
use serde::de::DeserializeSeed;
use serde_json::Value;

use super::counters::{self, JobCounters};
use super::document::Answer;
use super::facts::{AttemptFacts, JobFacts, State, TaskFacts};
use super::ids::JobId;
use super::roots::About;
use crate::build::HistoryBuilder;
use crate::ids::{AttemptId, TaskId};
use crate::json_records::{self, Documents, Progress};
use crate::json_value::text;
use crate::problem::{Level, Problems};
use crate::spread::Collection;
use crate::{OtherCounters, Parsed, too_many};
use elephant_base::limits::{self, Held, LimitReached, Limits};
use elephant_base::units::Timestamp;
use elephant_input::window::ByteWindow;
use elephant_model::model::conf::{Conf, Property};
use elephant_model::model::{Application, Engine, Status};

/// What a job takes without its tables, and a task or an attempt with its counters.
const PER_JOB: usize = 8 << 10;
const PER_ROW: usize = 1 << 10;
/// What a property of a configuration takes.
const PER_PROPERTY: usize = 160;

/// The answers about one job.
pub(super) struct Job {
    pub(super) builder: HistoryBuilder,
    pub(super) facts: JobFacts,
    /// Whether a server of MapReduce told something, and not only the resource manager.
    pub(super) is_of_mapreduce: bool,
    pub(super) counters: Option<JobCounters>,
    /// Hosts of application masters, and when they started.
    pub(super) masters: Vec<(Option<String>, Option<i64>)>,
    pub(super) tasks: BTreeMap<TaskId, TaskFacts>,
    pub(super) attempts: BTreeMap<AttemptId, AttemptFacts>,
}

/// All answers read so far.
pub(super) struct Collected {
    jobs: BTreeMap<JobId, Job>,
    /// Applications of Spark, of which the resource manager tells.
    spark: BTreeMap<String, JobFacts>,
    confs: BTreeMap<JobId, Conf>,
    /// Applications of other engines.
    others: u64,
    limits: Limits,
    other_counters: OtherCounters,
    held: Held,
    rows: usize,
    /// The option whose limit was reached.
    limit: Option<&'static str>,
    /// Whether some objects could not be read.
    is_broken: bool,
    problems: Problems,
}

impl Documents for Collected {
    fn document<'de, D: Deserializer<'de>>(
        &mut self,
        document: D,
        progress: &Progress,
    ) -> Result<(), D::Error> {
        Answer { sink: &mut |about, value| self.add(about, &value), progress }.deserialize(document)
    }

    fn goes_on(&self) -> bool {
        self.limit.is_none_or(|limit| limit == limits::TASKS)
    }
}

impl Collection for Collected {
    fn read<R: Read>(
        &mut self,
        window: ByteWindow<R>,
        most: usize,
        problems: &mut Problems,
    ) -> io::Result<()> {
        let outcome = json_records::read(window, most, problems, self);
        self.is_broken |= outcome.lost > 0;
        outcome.stopped.map_or(Ok(()), Err)
    }

    fn lose(&mut self) {
        self.is_broken = true;
    }

    fn stop(&mut self, reached: LimitReached) {
        self.limit = Some(reached.option());
        self.problems
            .warn(limits::REACHED, None, || format!("only the beginning of the answers was read: {reached}"));
    }

    fn goes_on(&self) -> bool {
        Documents::goes_on(self)
    }

    fn finish(self) -> Parsed {
        let mut parsed = Parsed { beyond_memory: self.held.beyond().is_some(), ..Parsed::default() };
        let mut problems = self.problems;
        if self.others > 0 {
            problems.add(Level::Info, "other-engine", None, || {
                format!(
                    "the resource manager tells of {} applications that are neither of MapReduce nor of Spark; there is nothing \
                     to judge",
                    self.others
                )
            });
        }
        for (id, mut job) in self.jobs {
            if let Some(option) = self.limit {
                job.builder.reach_limit(option);
            }
            parsed.applications.push(job.finish(id, self.is_broken, &mut problems));
        }
        parsed.applications.extend(self.spark.into_iter().map(|(id, facts)| of_spark(id, facts)));
        parsed.confs = self.confs.into_iter().map(|(id, conf)| (id.job(), conf)).collect();
        parsed.problems = problems;
        parsed
    }
}

impl Collected {
    pub(super) fn within(limits: &Limits, other_counters: OtherCounters) -> Self {
        Self {
            jobs: BTreeMap::new(),
            spark: BTreeMap::new(),
            confs: BTreeMap::new(),
            others: 0,
            limits: *limits,
            other_counters,
            held: Held::within(limits),
            rows: 0,
            limit: None,
            is_broken: false,
            problems: Problems::default(),
        }
    }

    fn add(&mut self, about: About, value: &Value) {
        if !Documents::goes_on(self) {
            return;
        }
        if self.add_to_job(about, value).is_none() {
            self.is_broken = true;
            self.problems.warn("record-unreadable", None, || {
                "an object without a readable id was skipped; what it tells is missing".to_owned()
            });
        }
        if let Some(reached) = self.held.beyond() {
            self.stop(reached);
        }
    }

    /// `None` if it has no id.
    fn add_to_job(&mut self, about: About, value: &Value) -> Option<()> {
        let id = text(value, "id");
        match about {
            About::App => self.add_app(&id?, value)?,
            About::Conf => {
                let job = JobId::in_path(&text(value, "path")?)?;
                let conf = conf(value);
                self.held.add(conf.len() * PER_PROPERTY);
                self.confs.insert(job, conf);
            }
            About::Master => {
                let job = JobId::of(&text(value, "containerId")?)?;
                let host = text(value, "nodeHttpAddress").or_else(|| text(value, "nodeId"));
                let start = value.get("startTime").and_then(Value::as_i64).filter(|time| *time > 0);
                self.job(job, true).masters.push((host, start));
            }
            About::Job => {
                let facts = JobFacts::of_job(value);
                let job = self.job(JobId::of(&id?)?, true);
                // What MapReduce says of its job counts before what the resource manager says.
                let earlier = std::mem::replace(&mut job.facts, facts);
                job.facts.complete(earlier);
            }
            About::JobCounters => {
                let job = self.job(JobId::of(&id?)?, true);
                let (names, strings) = job.builder.counter_names();
                job.counters = Some(JobCounters::read(value, names, strings));
            }
            About::Task | About::TaskCounters => self.add_task(about, &id?, value)?,
            About::Attempt | About::AttemptCounters => self.add_attempt(about, &id?, value)?,
        }
        Some(())
    }

    fn add_app(&mut self, id: &str, value: &Value) -> Option<()> {
        let number = JobId::of(id)?;
        let facts = JobFacts::of_app(value);
        match value.get("applicationType").and_then(Value::as_str) {
            Some("MAPREDUCE") => self.job(number, false).facts.complete(facts),
            Some("SPARK") => {
                self.held.add(PER_JOB);
                self.spark.entry(number.application()).or_default().complete(facts);
            }
            _ => self.others += 1,
        }
        Some(())
    }

    fn add_task(&mut self, about: About, id: &str, value: &Value) -> Option<()> {
        let (number, task) = (JobId::of(id)?, TaskId::parse(id)?);
        let is_new = !self.job(number, true).tasks.contains_key(&task);
        if is_new && !self.has_room() {
            return Some(());
        }
        let job = self.job(number, true);
        let facts = job.tasks.entry(task).or_default();
        if about == About::Task {
            facts.add(value);
        } else {
            let (names, strings) = job.builder.counter_names();
            facts.counters = Some(counters::read(value, "taskCounterGroup", names, strings));
        }
        Some(())
    }

    fn add_attempt(&mut self, about: About, id: &str, value: &Value) -> Option<()> {
        let (number, attempt) = (JobId::of(id)?, AttemptId::parse(id)?);
        let is_new = !self.job(number, true).attempts.contains_key(&attempt);
        if is_new && !self.has_room() {
            return Some(());
        }
        let job = self.job(number, true);
        let facts = job.attempts.entry(attempt).or_default();
        if about == About::Attempt {
            facts.add(value);
        } else {
            let (names, strings) = job.builder.counter_names();
            facts.counters = Some(counters::read(value, "taskAttemptCounterGroup", names, strings));
        }
        Some(())
    }

    /// Whether another task or attempt is kept.
    fn has_room(&mut self) -> bool {
        let has_room = self.limits.has_room(self.rows);
        if has_room {
            self.rows += 1;
            self.held.add(PER_ROW);
        } else {
            self.limit.get_or_insert(limits::TASKS);
            self.problems.warn(limits::REACHED, None, || too_many(&self.limits));
        }
        has_room
    }

    /// The job with this id, added if it is new.
    fn job(&mut self, id: JobId, is_of_mapreduce: bool) -> &mut Job {
        let job = self.jobs.entry(id).or_insert_with(|| {
            self.held.add(PER_JOB);
            let mut builder = HistoryBuilder::default();
            builder.keep_within(&self.limits, self.other_counters);
            Job {
                builder,
                facts: JobFacts::default(),
                is_of_mapreduce: false,
                counters: None,
                masters: Vec::new(),
                tasks: BTreeMap::new(),
                attempts: BTreeMap::new(),
            }
        });
        job.is_of_mapreduce |= is_of_mapreduce;
        job
    }
}

/// What the resource manager tells of an application of Spark: how it ended, and why.
fn of_spark(id: String, facts: JobFacts) -> Application {
    let JobFacts { name, user, queue, state, submit, finish, diagnostics, .. } = facts;
    Application {
        id,
        name,
        user,
        queue,
        status: match state {
            Some(State::Succeeded) => Status::Succeeded,
            Some(State::Failed) => Status::Failed,
            Some(State::Killed) => Status::Killed,
            Some(State::Running) => Status::Running,
            None => Status::Unknown,
        },
        submitted_at: submit.map(Timestamp::from_millis),
        finished_at: finish.map(Timestamp::from_millis),
        diagnostics,
        events_missing: true,
        told_by_servers: true,
        ..Application::new(Engine::Spark)
    }
}

/// `ConfInfo`: a list of names and values.
fn conf(value: &Value) -> Conf {
    let mut conf = Conf::default();
    for property in value.get("property").and_then(Value::as_array).into_iter().flatten() {
        let part = |key| property.get(key).and_then(Value::as_str).map(str::to_owned);
        if let Some((name, value)) = part("name").zip(part("value")) {
            conf.insert(name, Property { value, is_final: false });
        }
    }
    conf
}
