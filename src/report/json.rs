//! The JSON report, schema version 1: numbers in the unit that their key's ending names, `null` for what
//! is not known, times as RFC 3339 in UTC.

use std::io::{self, Write};

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use crate::engine::{ApplicationReport, Report, SourceProblem, Summary};
use crate::finding::{Finding, Measure, NotEvaluated, Threshold};
use crate::metrics::{Metrics, SparkCounts};
use crate::parse::Position;
use crate::severity::Severity;
use crate::units::{CoreMillis, MbMillis, Timestamp};

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Document(report)).map_err(io::Error::from)?;
    out.write_all(b"\n")
}

struct Document<'a>(&'a Report);

/// This program, as reports name it.
#[derive(Serialize)]
pub(super) struct Tool {
    name: &'static str,
    version: &'static str,
}

impl Tool {
    pub(super) const THIS: Self = Self { name: "elephant-rs", version: env!("CARGO_PKG_VERSION") };
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(report) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema_version", &1)?;
        map.serialize_entry("tool", &Tool::THIS)?;
        map.serialize_entry("summary", &summary(&report.summary))?;
        map.serialize_entry("applications", &Each(&report.applications, application))?;
        map.serialize_entry("problems", &Each(&report.problems, problem))?;
        map.end()
    }
}

/// Serialises a slice through a view of each element, one at a time.
pub(super) struct Each<'a, T, V>(pub(super) &'a [T], pub(super) fn(&'a T) -> V);

impl<T, V: Serialize> Serialize for Each<'_, T, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(items, view) = self;
        let mut list = serializer.serialize_seq(Some(items.len()))?;
        for item in *items {
            list.serialize_element(&view(item))?;
        }
        list.end()
    }
}

/// Serialises keys and values in their order.
pub(super) struct Pairs<K, V>(pub(super) Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for Pairs<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

#[derive(Serialize)]
struct SummaryView {
    files: FilesView,
    applications: u64,
    findings: Pairs<&'static str, u64>,
}

#[derive(Serialize)]
pub(super) struct FilesView {
    found: u64,
    analysed: u64,
    skipped: u64,
    failed: u64,
}

pub(super) fn files(summary: &Summary) -> FilesView {
    FilesView {
        found: summary.files_found,
        analysed: summary.files_analysed,
        skipped: summary.files_skipped,
        failed: summary.files_failed,
    }
}

fn summary(summary: &Summary) -> SummaryView {
    let levels = Severity::ALL.into_iter().zip(summary.findings).skip(1).rev();
    SummaryView {
        files: files(summary),
        applications: summary.applications,
        findings: Pairs(levels.map(|(level, count)| (level.name(), count)).collect()),
    }
}

#[derive(Serialize)]
struct ApplicationView<'a> {
    id: &'a str,
    attempt: Option<&'a str>,
    engine: &'static str,
    engine_version: Option<&'a str>,
    name: Option<&'a str>,
    user: Option<&'a str>,
    queue: Option<&'a str>,
    job_type: Option<&'static str>,
    status: &'static str,
    complete: bool,
    sources: &'a [String],
    submitted_at: Option<String>,
    started_at: Option<String>,
    finished_at: Option<String>,
    severity: Severity,
    score: u64,
    metrics: MetricsView,
    findings: Each<'a, Finding, FindingView<'a>>,
    not_evaluated: Each<'a, NotEvaluated, NotEvaluatedView<'a>>,
}

fn application(app: &ApplicationReport) -> ApplicationView<'_> {
    let time = |at: Option<Timestamp>| at.and_then(Timestamp::to_rfc3339);
    ApplicationView {
        id: &app.id,
        attempt: app.attempt.as_deref(),
        engine: app.engine.name(),
        engine_version: app.engine_version.as_deref(),
        name: app.name.as_deref(),
        user: app.user.as_deref(),
        queue: app.queue.as_deref(),
        job_type: app.job_type,
        status: app.status.name(),
        complete: app.complete,
        sources: &app.sources,
        submitted_at: time(app.submitted_at),
        started_at: time(app.started_at),
        finished_at: time(app.finished_at),
        severity: app.severity,
        score: app.score,
        metrics: metrics(&app.metrics),
        findings: Each(&app.findings, finding),
        not_evaluated: Each(&app.not_evaluated, not_evaluated),
    }
}

#[derive(Serialize)]
struct MetricsView {
    runtime_ms: Option<u64>,
    wait_ms: Option<u64>,
    resource_used_gb_hours: Option<f64>,
    resource_wasted_gb_hours: Option<f64>,
    resource_wasted_percent: Option<f64>,
    failed_attempts_gb_hours: Option<f64>,
    killed_attempts_gb_hours: Option<f64>,
    losing_attempts_gb_hours: Option<f64>,
    core_hours_used: Option<f64>,
    core_hours_idle: Option<f64>,
    tasks: Pairs<&'static str, TasksView>,
    spark: Option<SparkView>,
}

#[derive(Serialize)]
#[allow(clippy::struct_field_names)] // keys name their unit
struct TasksView {
    total_count: u64,
    succeeded_count: u64,
    failed_count: u64,
    killed_count: u64,
    attempts_count: u64,
    speculative_attempts_count: u64,
}

fn metrics(metrics: &Metrics) -> MetricsView {
    let hours = |amount: Option<MbMillis>| amount.map(MbMillis::as_gb_hours);
    let tasks = metrics.tasks.iter().map(|(kind, counts)| {
        let view = TasksView {
            total_count: counts.total,
            succeeded_count: counts.succeeded,
            failed_count: counts.failed,
            killed_count: counts.killed,
            attempts_count: counts.attempts,
            speculative_attempts_count: counts.speculative_attempts,
        };
        (*kind, view)
    });
    let core_hours = |amount: Option<CoreMillis>| amount.map(CoreMillis::as_core_hours);
    MetricsView {
        runtime_ms: metrics.run_time.map(crate::units::Millis::get),
        wait_ms: metrics.wait_time.map(crate::units::Millis::get),
        resource_used_gb_hours: hours(metrics.used),
        resource_wasted_gb_hours: hours(metrics.wasted),
        resource_wasted_percent: metrics.wasted_percent(),
        failed_attempts_gb_hours: hours(metrics.failed_attempts),
        killed_attempts_gb_hours: hours(metrics.killed_attempts),
        losing_attempts_gb_hours: hours(metrics.losing_attempts),
        core_hours_used: core_hours(metrics.cores_used),
        core_hours_idle: core_hours(metrics.cores_idle),
        tasks: Pairs(tasks.collect()),
        spark: metrics.spark.as_ref().map(spark_counts),
    }
}

#[derive(Serialize)]
struct SparkView {
    jobs: JobsView,
    stages: StagesView,
    executors: ExecutorsView,
    sql_executions_count: u64,
}

#[derive(Serialize)]
#[allow(clippy::struct_field_names)] // keys name their unit
struct JobsView {
    total_count: u64,
    succeeded_count: u64,
    failed_count: u64,
}

#[derive(Serialize)]
#[allow(clippy::struct_field_names)] // keys name their unit
struct StagesView {
    total_count: u64,
    completed_count: u64,
    failed_count: u64,
    skipped_count: Option<u64>,
}

#[derive(Serialize)]
#[allow(clippy::struct_field_names)] // keys name their unit
struct ExecutorsView {
    total_count: u64,
    removed_count: u64,
    lost_count: u64,
}

fn spark_counts(counts: &SparkCounts) -> SparkView {
    let SparkCounts { jobs, stages, executors, sql_executions } = *counts;
    SparkView {
        jobs: JobsView {
            total_count: jobs.total,
            succeeded_count: jobs.succeeded,
            failed_count: jobs.failed,
        },
        stages: StagesView {
            total_count: stages.total,
            completed_count: stages.completed,
            failed_count: stages.failed,
            skipped_count: stages.skipped,
        },
        executors: ExecutorsView {
            total_count: executors.total,
            removed_count: executors.removed,
            lost_count: executors.lost,
        },
        sql_executions_count: sql_executions,
    }
}

#[derive(Serialize)]
struct FindingView<'a> {
    rule: &'a str,
    title: &'a str,
    severity: Severity,
    score: u64,
    subject: std::borrow::Cow<'static, str>,
    message: &'a str,
    evidence: Pairs<&'a str, MeasureView<'a>>,
    thresholds: Pairs<&'a str, [Number; 4]>,
    advice: &'a [String],
}

fn finding(finding: &Finding) -> FindingView<'_> {
    let threshold = |threshold: &'_ Threshold| threshold.cutoffs.map(Number);
    FindingView {
        rule: &finding.rule,
        title: &finding.title,
        severity: finding.severity,
        score: finding.score,
        subject: finding.subject.name(),
        message: &finding.message,
        evidence: Pairs(
            finding.evidence.iter().map(|(key, value)| (key.as_ref(), MeasureView(value))).collect(),
        ),
        thresholds: Pairs(finding.thresholds.iter().map(|t| (t.key.as_str(), threshold(t))).collect()),
        advice: &finding.advice,
    }
}

struct MeasureView<'a>(&'a Measure);

impl Serialize for MeasureView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Measure::Count(count) | Measure::Mebibytes(count) => serializer.serialize_u64(*count),
            Measure::Time(time) => serializer.serialize_u64(time.get()),
            Measure::Size(size) => serializer.serialize_u64(size.get()),
            Measure::Speed(speed) => Number(speed.get()).serialize(serializer),
            Measure::Ratio(Some(ratio)) => Number(*ratio).serialize(serializer),
            Measure::Ratio(None) => serializer.serialize_none(),
            Measure::Text(text) => serializer.serialize_str(text),
        }
    }
}

/// A double that is written without a fraction where it has none; `null` where it is no number, as a cut-off that is
/// never passed.
struct Number(f64);

impl Serialize for Number {
    #[allow(clippy::cast_possible_truncation)] // checked to be whole and small
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(value) = *self;
        if value.fract() == 0.0 && value.abs() < 9.0e15 {
            serializer.serialize_i64(value as i64)
        } else {
            serializer.serialize_f64(value)
        }
    }
}

#[derive(Serialize)]
struct NotEvaluatedView<'a> {
    rule: &'a str,
    reason: &'a str,
}

fn not_evaluated(rule: &NotEvaluated) -> NotEvaluatedView<'_> {
    NotEvaluatedView { rule: &rule.rule, reason: &rule.reason }
}

#[derive(Serialize)]
pub(super) struct ProblemView<'a> {
    source: &'a str,
    line: Option<u64>,
    byte: Option<u64>,
    level: &'static str,
    code: &'static str,
    message: &'a str,
    count: u64,
}

pub(super) fn problem(problem: &SourceProblem) -> ProblemView<'_> {
    let SourceProblem { source, problem } = problem;
    let (line, byte) = match problem.position {
        Some(Position::Line(line)) => (Some(line), None),
        Some(Position::Byte(byte)) => (None, Some(byte)),
        None => (None, None),
    };
    ProblemView {
        source,
        line,
        byte,
        level: problem.level.name(),
        code: problem.code,
        message: &problem.message,
        count: problem.count,
    }
}
