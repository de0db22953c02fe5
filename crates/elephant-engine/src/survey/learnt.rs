//! What earlier runs of a job showed: how long its tasks usually take, and how they usually progress.
//!
//! The file has a header and one line of JSON for each group of tasks of each run. S2's offline analytics use the progress
//! of earlier runs (section 6.1), and S0's usual time of a task is a quantile over runs of its job (section 6.1).

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::fingerprint::{JobKey, stage_name};
use elephant_analysis::stragglers::executions::{Execution, Executions};
use elephant_analysis::stragglers::regression::ProgressModel;
use elephant_analysis::stragglers::replay::{GRID, Timeline, median_progress};
use elephant_analysis::stragglers::usual::TaskTime;
use elephant_base::address::Address;
use elephant_base::state::State;
use elephant_base::units::{Bytes, Millis, Timestamp};
use elephant_input::whole;
use elephant_model::model::spark::StageAttempt;
use elephant_model::model::table::{TaskGroup, TaskKind};
use elephant_model::model::{Application, Engine};

/// The version of the file's layout.
///
/// In version 1, the times of tasks were in the order of their starts, without numbers.
const VERSION: u32 = 2;
/// Larger files are not read.
const MAX_LEN: Bytes = Bytes::from_mib(1024);
/// This many runs of a job are enough to know usual times and progress; the oldest are dropped first.
const KEEP_RUNS: usize = 30;
/// Only the progress of larger groups is kept.
const MAX_TASKS: usize = 20_000;

/// A file of learnt runs that cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LearntError {
    /// The file cannot be read.
    #[error("cannot read the models {}: {source}; write them with --learn FILE", Address::of(path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A line is damaged, or the file is something else.
    #[error("{}:{line}: {message}; restore the file, or delete it and run with --learn", Address::of(path))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A later version of this tool wrote the file.
    #[error(
        "{}: the models have version {version}, but this elephant-rs reads versions up to {VERSION}; use the elephant-rs \
         that wrote them",
        Address::of(path)
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
}

/// A group of tasks of a job, the same in each of its runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, State)]
pub(crate) struct GroupKey {
    job: String,
    group: String,
}

impl GroupKey {
    /// The keys of the groups of an application, in their order.
    pub(super) fn of_groups<'g>(
        app: &Application,
        groups: impl IntoIterator<Item = &'g TaskGroup>,
    ) -> Vec<Self> {
        let job = JobKey::new(app.engine, app.name.as_deref());
        let stages = app.spark.iter().flat_map(|spark| &spark.stages);
        let names: BTreeMap<StageAttempt, &str> =
            stages.filter_map(|stage| Some((stage.id, stage.name.as_deref()?))).collect();
        let name = |kind| if let TaskKind::Stage(id) = kind { names.get(&id).copied() } else { None };
        let key = |group: &TaskGroup| Self::new(&job, group.kind, name(group.kind));
        groups.into_iter().map(key).collect()
    }

    /// The key of a group of a job.
    fn new(job: &JobKey, kind: TaskKind, name: Option<&str>) -> Self {
        let group = match kind {
            TaskKind::Stage(id) => {
                let name = name.map(|name| format!(" {}", stage_name(name)));
                format!("stage {id}{}", name.unwrap_or_default())
            }
            TaskKind::Vertex(number) => format!("vertex {number}"),
            kind => kind.name().to_owned(),
        };
        Self { job: job.as_str().to_owned(), group }
    }
}

/// A group of tasks in one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LearntRun {
    #[serde(flatten)]
    key: GroupKey,
    application: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    submitted_at: Option<String>,
    /// The numbers of the tasks; empty if they are 0, 1, 2, ….
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    numbers: Vec<u32>,
    /// One for each task, in the order of their numbers; empty if there were too many, or if numbers are unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    durations_ms: Vec<u64>,
    /// One for each task, if known for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    inputs: Vec<u64>,
    /// Median progress of the tasks, as seconds since launch and the share.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    progress: Vec<(f64, f64)>,
}

impl LearntRun {
    /// The times and the progress of a group in one run.
    pub(super) fn of(app: &Application, key: GroupKey, group: &TaskGroup, executions: &Executions) -> Self {
        let numbered = executions.tasks.iter().map(|task| Some((group.tasks.number(task.task())?, task)));
        let mut tasks: Vec<(u32, &Execution)> = numbered.collect::<Option<_>>().unwrap_or_default();
        tasks.sort_by_key(|&(number, _)| number);
        if tasks.len() > MAX_TASKS {
            tasks.clear();
        }
        let numbers = tasks.iter().map(|&(number, _)| number);
        let inputs: Option<Vec<u64>> = tasks.iter().map(|(_, task)| task.input()).collect();
        let durations =
            tasks.iter().map(|(_, task)| Millis::from_seconds(task.duration).unwrap_or_default().get());
        // To the microsecond: the file should not depend on the last bits of a platform's arithmetic.
        let rounded = |value: f64| (1e6 * value).round() / 1e6;
        let points = median_progress(&Timeline::of(group, executions)).unwrap_or_default();
        Self {
            key,
            application: app.id.clone(),
            submitted_at: app.submitted_at.and_then(Timestamp::to_rfc3339),
            numbers: if numbers.clone().zip(0..).all(|(number, place)| number == place) {
                Vec::new()
            } else {
                numbers.collect()
            },
            durations_ms: durations.collect(),
            inputs: inputs.unwrap_or_default(),
            progress: points.into_iter().map(|(at, share)| (rounded(at), rounded(share))).collect(),
        }
    }

    fn times(&self) -> Vec<TaskTime> {
        let number = |place: usize| match self.numbers.as_slice() {
            [] => u32::try_from(place).ok(),
            numbers => numbers.get(place).copied(),
        };
        let time = |(place, &ms): (usize, &u64)| TaskTime {
            number: number(place),
            duration: ms as f64 / 1000.0,
            input: self.inputs.get(place).copied(),
        };
        self.durations_ms.iter().enumerate().map(time).collect()
    }

    /// Progress after `elapsed` seconds, on straight lines between the points.
    fn progress_at(&self, elapsed: f64) -> f64 {
        let after = self.progress.partition_point(|&(at, _)| at < elapsed);
        let (from, low) =
            after.checked_sub(1).and_then(|before| self.progress.get(before)).copied().unwrap_or_default();
        let Some(&(to, high)) = self.progress.get(after) else { return 1.0 };
        if to > from { low + (high - low) * (elapsed - from) / (to - from) } else { high }
    }

    /// Keeps only the progress.
    fn forget_times(&mut self) {
        self.durations_ms.clear();
        self.inputs.clear();
        self.numbers.clear();
    }

    fn is_sound(&self) -> bool {
        let rising =
            self.progress.windows(2).all(|pair| matches!(pair, [(one, _), (other, _)] if one < other));
        let shares = self
            .progress
            .iter()
            .all(|&(at, share)| at > 0.0 && at.is_finite() && (0.0..=1.0).contains(&share));
        let for_each_task = |len: usize| len == 0 || len == self.durations_ms.len();
        rising && shares && for_each_task(self.inputs.len()) && for_each_task(self.numbers.len())
    }
}

/// Earlier runs of jobs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Learnt {
    /// The runs of each group, the oldest first.
    runs: BTreeMap<GroupKey, Vec<LearntRun>>,
}

#[derive(Serialize, Deserialize)]
struct Header {
    models_version: u32,
}

#[doc(hidden)]
impl Learnt {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or is of a later version.
    pub fn load(path: &Path) -> Result<Self, LearntError> {
        let text = whole::read_text(path, MAX_LEN)
            .map_err(|source| LearntError::Unreadable { path: path.to_owned(), source })?;
        Self::parse(path, &text)
    }

    /// Reads a file as [`Self::load`] does; returns no runs if the file does not exist.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or is of a later version.
    pub fn load_if_there(path: &Path) -> Result<Self, LearntError> {
        match Self::load(path) {
            Err(LearntError::Unreadable { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(Self::default())
            }
            loaded => loaded,
        }
    }

    fn parse(path: &Path, text: &str) -> Result<Self, LearntError> {
        let damaged = |line, message: String| LearntError::Damaged { path: path.to_owned(), line, message };
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let header = lines.next().and_then(|(_, line)| serde_json::from_str::<Header>(line).ok());
        let Some(header) = header else {
            return Err(damaged(
                1,
                "this is not a file of models, which starts with {\"models_version\":2}".to_owned(),
            ));
        };
        if header.models_version > VERSION {
            return Err(LearntError::Newer { path: path.to_owned(), version: header.models_version });
        }
        let mut learnt = Self::default();
        for (number, line) in lines {
            let mut run: LearntRun =
                serde_json::from_str(line).map_err(|error| damaged(number + 1, error.to_string()))?;
            if header.models_version < 2 {
                run.forget_times();
            }
            if !run.is_sound() {
                return Err(damaged(number + 1, "times or progress of tasks are impossible".to_owned()));
            }
            learnt.add(run);
        }
        Ok(learnt)
    }

    /// Adds a run. It replaces an earlier entry of the same application; beyond `KEEP_RUNS` the oldest run is
    /// dropped.
    pub(crate) fn add(&mut self, run: LearntRun) {
        let runs = self.runs.entry(run.key.clone()).or_default();
        runs.retain(|known| known.application != run.application);
        runs.push(run);
        runs.sort_by(|a, b| (&a.submitted_at, &a.application).cmp(&(&b.submitted_at, &b.application)));
        let beyond = runs.len().saturating_sub(KEEP_RUNS);
        runs.drain(..beyond);
    }

    /// Writes the file: runs by job, group, time and application.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, &Header { models_version: VERSION })?;
        writeln!(out)?;
        for run in self.runs.values().flatten() {
            serde_json::to_writer(&mut *out, run)?;
            writeln!(out)?;
        }
        Ok(())
    }

    /// Times of the tasks of a group in applications other than these.
    pub(super) fn times_without(&self, key: &GroupKey, applications: &BTreeSet<&str>) -> Vec<Vec<TaskTime>> {
        let runs = self.runs.get(key).into_iter().flatten();
        let runs = runs.filter(|run| !applications.contains(run.application.as_str()));
        runs.filter(|run| !run.durations_ms.is_empty()).map(LearntRun::times).collect()
    }

    /// Usual progress of the tasks of a group in applications other than this one. The group is found by the
    /// engine, the name of its job and its own name.
    #[must_use]
    pub fn usual_progress(
        &self,
        (engine, job): (Engine, Option<&str>),
        (kind, name): (TaskKind, Option<&str>),
        application: &str,
    ) -> Option<ProgressModel> {
        let key = GroupKey::new(&JobKey::new(engine, job), kind, name);
        self.progress(&key, application).map(|(model, _)| model)
    }

    /// Usual progress of the tasks of a group in applications other than this one, and the number of these
    /// applications.
    pub(super) fn progress(&self, key: &GroupKey, application: &str) -> Option<(ProgressModel, u64)> {
        let runs = self.runs.get(key)?.iter();
        let runs: Vec<&LearntRun> =
            runs.filter(|run| run.application != application && !run.progress.is_empty()).collect();
        let end =
            runs.iter().filter_map(|run| run.progress.last()).map(|&(at, _)| at).max_by(f64::total_cmp)?;
        let curves: Vec<_> = runs.iter().map(|run| move |elapsed: f64| run.progress_at(elapsed)).collect();
        Some((ProgressModel::of_curves(&curves, end, GRID)?, runs.len() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> GroupKey {
        GroupKey { job: "spark · etl".to_owned(), group: "stage 0.0".to_owned() }
    }

    fn run(application: &str, day: u32, end: f64) -> LearntRun {
        LearntRun {
            key: key(),
            application: application.to_owned(),
            submitted_at: Some(format!("2026-11-{day:02}T00:00:00Z")),
            numbers: Vec::new(),
            durations_ms: vec![1000, 2000],
            inputs: vec![5, 6],
            progress: (1..=20).map(|k| (end * f64::from(k) / 20.0, f64::from(k) / 20.0)).collect(),
        }
    }

    fn text(learnt: &Learnt) -> String {
        let mut out = Vec::new();
        learnt.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn parse(text: &str) -> Result<Learnt, LearntError> {
        Learnt::parse(Path::new("models"), text)
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut learnt = Learnt::default();
        learnt.add(run("b", 2, 10.0));
        learnt.add(run("a", 1, 20.0));
        let written = text(&learnt);
        assert!(written.lines().nth(1).unwrap().contains("\"application\":\"a\""), "{written}");
        assert_eq!(parse(&written).unwrap(), learnt);
        assert_eq!(parse("{\"models_version\":1}\n").unwrap(), Learnt::default());
    }

    #[test]
    fn damaged_files_name_the_line() {
        let message = |text: &str| parse(text).unwrap_err().to_string();
        assert!(message("").contains("models:1: this is not a file of models"));
        assert!(message("{\"models_version\":3}").contains("version 3"));
        assert!(message("{\"models_version\":2}\n{\"job\":1}").starts_with("models:2: "));
        let line = serde_json::to_string(&LearntRun { inputs: vec![1], ..run("a", 1, 10.0) }).unwrap();
        assert!(
            message(&format!("{{\"models_version\":2}}\n{line}")).contains("models:2: times or progress")
        );
    }

    #[test]
    fn times_of_version_1_have_no_numbers_and_are_not_used() {
        let line = serde_json::to_string(&run("a", 1, 10.0)).unwrap();
        let times = |version| {
            let learnt = parse(&format!("{{\"models_version\":{version}}}\n{line}")).unwrap();
            assert!(learnt.progress(&key(), "b").is_some());
            learnt.times_without(&key(), &BTreeSet::new())
        };
        assert!(times(1).is_empty());
        let number = |task: &TaskTime| task.number;
        assert_eq!(times(2)[0].iter().map(number).collect::<Vec<_>>(), [Some(0), Some(1)]);
        let gaps = LearntRun { numbers: vec![3, 7], ..run("a", 1, 10.0) };
        assert_eq!(gaps.times().iter().map(number).collect::<Vec<_>>(), [Some(3), Some(7)]);
    }

    #[test]
    fn a_run_does_not_learn_from_itself() {
        let mut learnt = Learnt::default();
        learnt.add(run("a", 1, 10.0));
        assert!(learnt.progress(&key(), "a").is_none());
        learnt.add(run("b", 2, 30.0));
        let (model, runs) = learnt.progress(&key(), "a").unwrap();
        assert_eq!(runs, 1);
        assert!((model.at(15.0) - 0.5).abs() < 0.01, "{model:?}");
        assert_eq!(learnt.times_without(&key(), &["a"].into()).len(), 1);
        assert!(learnt.times_without(&key(), &["a", "b"].into()).is_empty());
    }

    #[test]
    fn the_latest_runs_are_kept_and_replace_themselves() {
        let mut learnt = Learnt::default();
        for day in 1..=31 {
            learnt.add(run(&format!("app-{day}"), day, 10.0));
        }
        learnt.add(run("app-31", 31, 99.0));
        let runs = &learnt.runs[&key()];
        assert_eq!((runs.len(), runs[0].application.as_str()), (KEEP_RUNS, "app-2"));
        assert!((runs[KEEP_RUNS - 1].progress[19].0 - 99.0).abs() < 1e-9);
    }
}
