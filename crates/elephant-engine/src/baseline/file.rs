//! The baseline file: YAML, sorted, one entry for each job definition.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::results::{Accepted, Comparison, JobComparison};
use elephant_base::address::Address;
use elephant_base::units::{Bytes, Timestamp};
use elephant_input::whole;
use elephant_rule::params::yaml::too_deep;

/// The version of the file's layout.
const VERSION: u32 = 1;

/// How many runs of a job a baseline keeps by default.
const KEEP_RUNS: usize = 10;

const HEADER: &str = "\
# The accepted state of these jobs, written by `elephant-rs check PATH… --baseline THIS_FILE --update`.
# `elephant-rs check PATH… --baseline THIS_FILE` fails when a run has findings that are not listed here, worse ones, or
# costs more than the runs listed here allow. Accept a change with --update and commit this file. --update also removes
# findings that are gone, so they are new if they come back.
";

/// The accepted state of all jobs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    pub(super) version: u32,
    /// How many runs of a job are kept.
    pub keep_runs: usize,
    /// Runs that could not be judged when this file was written, by [`Run::run`]. They are not reported
    /// again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_judged: Vec<String>,
    /// The jobs, in the order of their keys.
    pub jobs: Vec<Job>,
}

/// The accepted state of one job definition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The job definition, [`JobKey`](crate::results::JobKey).
    pub job: String,
    /// Runs that started before this time (RFC 3339 in UTC) no longer count. They cost less than the level
    /// accepted since then, or they exceed the number of kept runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Its accepted incomplete runs, by [`Run::run`], the last accepted at the end. What their logs show is not compared
    /// again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete_runs: Vec<String>,
    /// Hashes of the names of the files that its runs were read from when they were accepted. Such a file that holds no
    /// history any more fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub histories: Vec<String>,
    /// Its accepted findings, by rule and subject.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Accepted>,
    /// Its last accepted runs, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<Run>,
}

/// The costs of an accepted run. Unknown values are absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Identifies the run: a hash of the application's id.
    pub run: String,
    /// When it was submitted or started, RFC 3339 in UTC: the oldest runs are dropped first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// From submission to end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_ms: Option<u64>,
    /// Memory allocated over time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_used_gb_hours: Option<f64>,
    /// The part of it that was not needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_wasted_gb_hours: Option<f64>,
    /// Total run time of all attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_time_ms: Option<u64>,
    /// Failed attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_attempts_count: Option<u64>,
    /// Bytes read as input: more input may explain higher costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_bytes: Option<u64>,
    /// Its largest phases that read something, by name. Files that earlier versions wrote have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<ReadPhase>,
}

/// What a phase of an accepted run read, and how long it took: if it reads more, it may take longer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadPhase {
    /// The phase, without ids that change from run to run.
    pub phase: String,
    /// Bytes read as input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_bytes: Option<u64>,
    /// Bytes that came through a shuffle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shuffle_read_bytes: Option<u64>,
    /// From the launch of its first task to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_ms: Option<u64>,
    /// Total run time of its attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_time_ms: Option<u64>,
}

/// A baseline that cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BaselineError {
    /// The file does not exist.
    #[error("there is no baseline {path}; run the same command with --update to accept the current state", path = Address::of(path))]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file could not be read.
    #[error("cannot read the baseline {path}: {source}", path = Address::of(path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is not a baseline, or it is damaged.
    #[error("{path}{place}: {message}; restore the baseline from version control, or delete it and run with --update", path = Address::of(path))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// `:line:column`, counted from 1, if known.
        place: String,
        /// What is wrong.
        message: String,
    },
    /// The baseline cannot be written as YAML.
    #[error("cannot write the baseline as YAML: {message}")]
    Unwritable {
        /// Why.
        message: String,
    },
    /// A later version of this tool wrote the file.
    #[error("{path}: the baseline has version {version}, but this elephant-rs reads versions up to {VERSION}; use the elephant-rs that wrote it", path = Address::of(path))]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
}

/// Larger values are no measurements, and sums with them overflow.
const MOST: f64 = 1e15;

/// Larger files are not baselines: a job with its findings needs some kilobytes.
const MAX_LEN: Bytes = Bytes::from_mib(64);

impl Default for Baseline {
    fn default() -> Self {
        Self { version: VERSION, keep_runs: KEEP_RUNS, not_judged: Vec::new(), jobs: Vec::new() }
    }
}

impl Job {
    /// Whether a time of it is none.
    fn has_no_time(&self) -> bool {
        let is_no_time = |text: &Option<String>| {
            text.as_deref().is_some_and(|text| Timestamp::from_rfc3339(text).is_none())
        };
        is_no_time(&self.since) || self.runs.iter().any(|run| is_no_time(&run.started_at))
    }

    /// Whether a value of it is negative, or larger than any can be.
    fn is_impossible(&self) -> bool {
        let impossible = |value: Option<f64>| value.is_some_and(|value| !(0.0..=MOST).contains(&value));
        let in_run =
            |run: &Run| impossible(run.resource_used_gb_hours) || impossible(run.resource_wasted_gb_hours);
        self.findings.iter().any(|finding| impossible(finding.value)) || self.runs.iter().any(in_run)
    }
}

impl Baseline {
    /// Whether some run of `comparison` could not be judged, and this baseline does not list it.
    #[must_use]
    #[doc(hidden)]
    pub fn leaves_open(&self, comparison: &Comparison) -> bool {
        let mut runs = comparison.jobs.iter().flat_map(JobComparison::unjudged);
        runs.any(|run| !self.not_judged.contains(&run.run))
    }

    /// Loads the baseline from this file; `None` if the file does not exist.
    pub fn load(path: &Path) -> Result<Option<Self>, BaselineError> {
        match whole::read_text(path, MAX_LEN) {
            Ok(text) => Self::parse(path, &text).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(BaselineError::Unreadable { path: path.to_owned(), source }),
        }
    }

    /// Parses a baseline; `path` is used in errors.
    pub fn parse(path: &Path, text: &str) -> Result<Self, BaselineError> {
        let damaged =
            |place: String, message: String| BaselineError::Damaged { path: path.to_owned(), place, message };
        let wrong_yaml = |error: &serde_yaml::Error| {
            let message = error.to_string();
            let Some(at) = error.location() else { return damaged(String::new(), message) };
            // The location is printed first, in the form that editors and terminals make clickable.
            let end = message.rfind(" at line ").unwrap_or(message.len());
            let message = message.get(..end).unwrap_or_default().to_owned();
            damaged(format!(":{}:{}", at.line(), at.column()), message)
        };
        if let Some(at) = too_deep(text) {
            return Err(damaged(
                place_in(text, at.start),
                "lists and mappings are nested too deeply".to_owned(),
            ));
        }
        let head: Head = serde_yaml::from_str(text).map_err(|error| {
            if error.to_string().starts_with("missing field") {
                return damaged(
                    String::new(),
                    "this is not a baseline; a baseline starts with \"version: 1\"".to_owned(),
                );
            }
            wrong_yaml(&error)
        })?;
        if head.version < VERSION {
            let message = format!(
                "no elephant-rs writes version {}; a baseline starts with \"version: 1\"",
                head.version
            );
            return Err(damaged(String::new(), message));
        }
        if head.version > VERSION {
            return Err(BaselineError::Newer { path: path.to_owned(), version: head.version });
        }
        let mut baseline: Self = serde_yaml::from_str(text).map_err(|error| wrong_yaml(&error))?;
        baseline.check().map_err(|message| damaged(String::new(), message))?;
        for finding in baseline.jobs.iter_mut().flat_map(|job| &mut job.findings) {
            finding.severity_in_larger_run.get_or_insert(finding.severity);
        }
        baseline.sort();
        Ok(baseline)
    }

    /// Says what is wrong with values that no check writes.
    fn check(&self) -> Result<(), String> {
        let mut keys = BTreeSet::new();
        if let Some(twice) = self.jobs.iter().find(|job| !keys.insert(job.job.as_str())) {
            return Err(format!("the job \"{}\" occurs twice", twice.job));
        }
        if self.keep_runs == 0 {
            return Err("keep_runs must be at least 1, or nothing is compared".to_owned());
        }
        if let Some(job) = self.jobs.iter().find(|job| job.has_no_time()) {
            return Err(format!("the job \"{}\" has a time that is not RFC 3339", job.job));
        }
        match self.jobs.iter().find(|job| job.is_impossible()) {
            Some(job) => Err(format!("the job \"{}\" has a negative or invalid value", job.job)),
            None => Ok(()),
        }
    }

    /// The text of the file.
    ///
    /// # Errors
    /// If it cannot be written as YAML.
    pub fn to_yaml(&self) -> Result<String, BaselineError> {
        let mut written = self.clone();
        for finding in written.jobs.iter_mut().flat_map(|job| &mut job.findings) {
            finding.severity_in_larger_run =
                finding.severity_in_larger_run.filter(|it| *it != finding.severity);
        }
        let text = serde_yaml::to_string(&written);
        let text = text.map_err(|error| BaselineError::Unwritable { message: error.to_string() })?;
        Ok(format!("{HEADER}{text}"))
    }

    /// The entry of a job.
    #[must_use]
    pub(crate) fn job(&self, key: &str) -> Option<&Job> {
        let at = self.jobs.binary_search_by(|job| job.job.as_str().cmp(key)).ok()?;
        self.jobs.get(at)
    }

    /// Sorts everything into the order of the file.
    pub(super) fn sort(&mut self) {
        self.jobs.sort_by(|a, b| a.job.cmp(&b.job));
        for job in &mut self.jobs {
            let key = |finding: &Accepted| {
                (finding.rule.clone(), finding.subject.clone(), finding.fingerprint.clone())
            };
            job.findings.sort_by_key(key);
            job.runs.sort_by(|a, b| (&a.started_at, &a.run).cmp(&(&b.started_at, &b.run)));
        }
    }
}

/// The keys that every version has.
#[derive(Deserialize)]
#[serde(expecting = "a baseline, which starts with \"version: 1\"")]
struct Head {
    version: u32,
}

/// Line and column of a byte, in the form that editors and terminals make clickable.
fn place_in(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let line = before.lines().last().filter(|_| !before.ends_with('\n')).unwrap_or_default();
    format!(":{}:{}", before.matches('\n').count() + 1, line.chars().count() + 1)
}
