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
#[allow(missing_docs)] // they are the keys of the JSON report
pub struct Run {
    pub id: String,
    pub engine: String,
    pub engine_version: Option<String>,
    pub name: Option<String>,
    pub user: Option<String>,
    pub queue: Option<String>,
    pub status: String,
    #[serde(default)]
    pub complete: bool,
    pub submitted_at: Option<String>,
    pub started_at: Option<String>,
    #[serde(default)]
    pub metrics: Metrics,
    #[serde(default)]
    pub findings: Vec<Finding>,
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

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Metrics {
    pub runtime_ms: Option<f64>,
    pub wait_ms: Option<f64>,
    pub resource_used_gb_hours: Option<f64>,
    pub resource_wasted_gb_hours: Option<f64>,
    pub core_hours_used: Option<f64>,
    pub core_hours_idle: Option<f64>,
    pub tasks: BTreeMap<String, Tasks>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Tasks {
    pub total_count: Option<f64>,
    pub failed_count: Option<f64>,
    pub attempts_count: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[allow(missing_docs)]
pub struct Finding {
    pub rule: String,
    pub severity: Severity,
    /// By cut-offs alone: a small run limits what is shown. Without it, what is shown counts.
    pub raw_severity: Option<Severity>,
    pub subject: String,
    #[serde(default)]
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[allow(missing_docs)]
pub struct NotEvaluated {
    pub rule: String,
    #[serde(default)]
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Phase {
    pub subject: String,
    pub name: Option<String>,
    pub duration_ms: Option<f64>,
    pub tasks: Tasks,
    pub task_time_ms: Option<f64>,
    pub gc_time_ms: Option<f64>,
    pub input_bytes: Option<f64>,
    pub output_bytes: Option<f64>,
    pub shuffle_read_bytes: Option<f64>,
    pub shuffle_write_bytes: Option<f64>,
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

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Query {
    pub id: u64,
    pub name: String,
    pub wall: Option<Wall>,
    /// All of them only in reports with details.
    pub operators: Vec<Operator>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Wall {
    pub total_ms: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Operator {
    pub text: String,
    pub replaced: bool,
    /// The stage attempts in which it ran, such as `3.0`.
    pub stages: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct SchedulerIdentity {
    pub job: Option<String>,
    pub flow: Option<String>,
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
