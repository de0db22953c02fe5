//! One side of a comparison, from an analysis or a JSON report of `analyze`. Unknown keys of a report are
//! ignored.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use thiserror::Error;

use super::Label;
use crate::engine::{Filter, Identity};
use crate::fingerprint::{JobKey, job_key, stage_key, stage_name};
use crate::results::Report;
use elephant_base::address::Address;
use elephant_base::severity::Severity;
use elephant_base::units::Timestamp;

/// The version of the JSON report's layout that this program reads.
const SCHEMA_VERSION: u64 = 1;
/// How many bytes are examined to detect a file's type.
const HEAD: u64 = 512;

/// The applications of one side.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Side {
    /// The version of the report's layout.
    pub schema_version: u64,
    /// The applications.
    pub applications: Vec<Run>,
}

/// One application.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Run {
    /// Its id in the history.
    pub id: String,
    /// `mapreduce`, `spark` or `tez`.
    pub engine: String,
    /// The version of the engine, if it is known.
    pub engine_version: Option<String>,
    /// Its name; `None` if it is unknown.
    pub name: Option<String>,
    /// Who ran it; `None` if that is unknown.
    pub user: Option<String>,
    /// The queue of the cluster manager, if it is known.
    pub queue: Option<String>,
    /// How it ended, such as `succeeded`.
    pub status: String,
    /// Whether its history is complete.
    #[serde(default)]
    pub complete: bool,
    /// When it was submitted (RFC 3339); `None` if that is unknown.
    pub submitted_at: Option<String>,
    /// When it started (RFC 3339); `None` if that is unknown.
    pub started_at: Option<String>,
    /// Its times and costs.
    #[serde(default)]
    pub metrics: Metrics,
    /// Its findings, worst first.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// Rules whose data is missing.
    #[serde(default)]
    pub not_evaluated: Vec<NotEvaluated>,
    /// Where the run time went; empty in reports of earlier versions, or if it is unknown.
    #[serde(default)]
    pub run_time_parts: Vec<Part>,
    /// Only in reports with details.
    pub phases: Option<Vec<Phase>>,
    /// Those that took longest.
    #[serde(default)]
    pub queries: Vec<Query>,
    /// What a scheduler calls it.
    pub identity: Option<SchedulerIdentity>,
    /// Only in reports with details.
    pub configuration: Option<BTreeMap<String, String>>,
}

/// Times and costs of an application; `None` if unknown.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Metrics {
    /// From submission to end, in milliseconds.
    pub runtime_ms: Option<f64>,
    /// Time that tasks waited for resources, in milliseconds.
    pub wait_ms: Option<f64>,
    /// Container memory × time, in GB-hours.
    pub resource_used_gb_hours: Option<f64>,
    /// The part of it above the memory needed, in GB-hours.
    pub resource_wasted_gb_hours: Option<f64>,
    /// Cores × time used by tasks, in core-hours.
    pub core_hours_used: Option<f64>,
    /// Cores × time of executors without a running task, in core-hours.
    pub core_hours_idle: Option<f64>,
    /// Counts of tasks, by kind.
    pub tasks: BTreeMap<String, Tasks>,
}

/// Counts of tasks; `None` if unknown.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Tasks {
    /// Tasks.
    pub total_count: Option<f64>,
    /// Tasks that failed.
    pub failed_count: Option<f64>,
    /// Attempts of tasks.
    pub attempts_count: Option<f64>,
}

/// The judgement of a rule on a subject.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Finding {
    /// The rule's id.
    pub rule: String,
    /// The severity that is shown.
    pub severity: Severity,
    /// By cut-offs alone: a small run limits what is shown. Without it, what is shown counts.
    pub raw_severity: Option<Severity>,
    /// What it is about, as the report words it.
    pub subject: String,
    /// The message.
    #[serde(default)]
    pub message: String,
}

/// A rule that was not evaluated.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct NotEvaluated {
    /// The rule's id.
    pub rule: String,
    /// The data that is missing.
    #[serde(default)]
    pub reason: String,
}

/// A stage attempt, or all map or all reduce tasks of a job; `None` where the history lacks a value.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Phase {
    /// The phase, as findings name it.
    pub subject: String,
    /// Its name; only stages have one.
    pub name: Option<String>,
    /// From start to end, in milliseconds.
    pub duration_ms: Option<f64>,
    /// Counts of its tasks.
    pub tasks: Tasks,
    /// Sum of the durations of its attempts, in milliseconds.
    pub task_time_ms: Option<f64>,
    /// Sum of the time of its attempts in garbage collection, in milliseconds.
    pub gc_time_ms: Option<f64>,
    /// Bytes that it read from storage.
    pub input_bytes: Option<f64>,
    /// Bytes that it wrote to storage.
    pub output_bytes: Option<f64>,
    /// Bytes that it read from the shuffle.
    pub shuffle_read_bytes: Option<f64>,
    /// Bytes that it wrote to the shuffle.
    pub shuffle_write_bytes: Option<f64>,
    /// Bytes that it spilled to disk.
    pub spilled_bytes: Option<f64>,
}

/// A part of the run time.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Part {
    /// `phase`, `stages`, `idle` or `rest`.
    pub kind: String,
    /// What happened in it, in words.
    pub name: String,
    /// The phase, if it is only one.
    pub subject: Option<String>,
    /// The id of the query that it worked for.
    pub query: Option<u64>,
    /// The name of the query or job that it worked for.
    pub owner: Option<String>,
    /// The operator that took the most time, or else the name of a stage.
    pub does: Option<String>,
    /// How long it took.
    pub time_ms: f64,
}

/// A query.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Query {
    /// Its number in the application.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Its time from start to end, if that is known.
    pub wall: Option<Wall>,
    /// All of them only in reports with details.
    pub operators: Vec<Operator>,
}

/// The time of a query from start to end.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Wall {
    /// All of it, in milliseconds.
    pub total_ms: Option<f64>,
}

/// An operator of a query's plan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Operator {
    /// The operator as the plan writes it.
    pub text: String,
    /// Whether adaptive execution replaced it.
    pub replaced: bool,
    /// The stage attempts in which it ran, such as `3.0`.
    pub stages: Vec<String>,
}

/// What a scheduler calls an application; `None` where it has no such name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct SchedulerIdentity {
    /// The job.
    pub job: Option<String>,
    /// The flow, DAG or workflow of the job.
    pub flow: Option<String>,
    /// The task.
    pub task: Option<String>,
}

/// A report that cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SideError {
    /// The file could not be read.
    #[error("cannot read {path}: {source}", path = Address::of(path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is not a report, or it is cut.
    #[error("{path}: this JSON report cannot be used: {source}; write it again with `elephant-rs analyze --format json --details`", path = Address::of(path))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why, with line and column.
        source: serde_json::Error,
    },
    /// A later version of this tool wrote it.
    #[error("{path}: the report has schema version {version}, but this elephant-rs reads version {SCHEMA_VERSION}", path = Address::of(path))]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u64,
    },
}

impl Side {
    /// Loads the JSON report from this file; `None` if the file is something else.
    pub fn load(path: &Path) -> Result<Option<Self>, SideError> {
        let unreadable = |source| SideError::Unreadable { path: path.to_owned(), source };
        if !std::fs::metadata(path).is_ok_and(|meta| meta.is_file()) {
            return Ok(None);
        }
        let mut head = Vec::new();
        let file = std::fs::File::open(path).map_err(unreadable)?;
        file.take(HEAD).read_to_end(&mut head).map_err(unreadable)?;
        let head = String::from_utf8_lossy(&head);
        if !(head.trim_start().starts_with('{') && head.contains("\"schema_version\"")) {
            return Ok(None);
        }
        let bytes = std::fs::read(path).map_err(unreadable)?;
        Self::parse(path, &bytes).map(Some)
    }

    /// A side from an analysis. It has phases and configurations if the analysis kept details.
    #[must_use]
    pub fn of(report: &Report) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            applications: report.applications.iter().map(Run::from).collect(),
        }
    }

    /// Keeps the applications that `filter` selects, with only the results of rules that `reports` accepts.
    #[doc(hidden)]
    pub fn select(&mut self, filter: &Filter, reports: impl Fn(&str) -> bool) {
        self.applications.retain(|run| filter.admits(run.identity()));
        for run in &mut self.applications {
            run.findings.retain(|finding| reports(&finding.rule));
            run.not_evaluated.retain(|missing| reports(&missing.rule));
        }
    }

    /// Parses a JSON report; `path` is used in errors.
    ///
    /// # Errors
    /// If the bytes are not a report of a known version.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, SideError> {
        let side: Self = serde_json::from_slice(bytes)
            .map_err(|source| SideError::Damaged { path: path.to_owned(), source })?;
        match side.schema_version {
            SCHEMA_VERSION => Ok(side),
            version => Err(SideError::Newer { path: path.to_owned(), version }),
        }
    }
}

impl Run {
    /// The values that filters test.
    fn identity(&self) -> Identity<'_> {
        Identity {
            engine: &self.engine,
            id: &self.id,
            user: self.user.as_deref(),
            queue: self.queue.as_deref(),
            name: self.name.as_deref(),
            start: self.start().and_then(|start| Timestamp::from_rfc3339(start)),
        }
    }

    pub(super) fn key(&self) -> JobKey {
        let identity = self
            .identity
            .as_ref()
            .map(|identity| [identity.job.as_deref(), identity.flow.as_deref(), identity.task.as_deref()]);
        job_key(&self.engine, identity.unwrap_or_default(), self.name.as_deref())
    }

    /// The queries with their plans, which only reports with details have whole.
    pub(super) fn with_plans(&self) -> Option<&[Query]> {
        self.phases.is_some().then_some(self.queries.as_slice()).filter(|queries| !queries.is_empty())
    }

    pub(super) fn start(&self) -> Option<&String> {
        self.submitted_at.as_ref().or(self.started_at.as_ref())
    }

    pub(super) fn label(&self) -> Label {
        Label {
            job: self.key().as_str().to_owned(),
            id: self.id.clone(),
            name: self.name.clone(),
            user: self.user.clone(),
            status: self.status.clone(),
            started_at: self.start().cloned(),
        }
    }

    /// The phases, with keys that stay the same from run to run.
    pub(super) fn phase_keys(phases: &[Phase]) -> Vec<String> {
        let mut seen: BTreeMap<Option<String>, (u64, String)> = BTreeMap::new();
        let key = |phase: &Phase| {
            let Some(id) = phase.subject.strip_prefix("stage ") else { return phase.subject.clone() };
            let (stage, attempt) = id.split_once('.').unwrap_or((id, "0"));
            let (count, last) = seen.entry(phase.name.as_deref().map(stage_name)).or_default();
            if last != stage || *count == 0 {
                stage.clone_into(last);
                *count += 1;
            }
            let key = stage_key(phase.name.as_deref(), *count);
            if attempt == "0" { key } else { format!("{key} retried") }
        };
        phases.iter().map(key).collect()
    }
}
