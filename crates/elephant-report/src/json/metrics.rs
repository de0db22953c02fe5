//! The costs of an application as JSON.

use std::borrow::Cow;

use serde::Serialize;

use super::Pairs;
use elephant_analysis::metrics::{Metrics, SparkCounts};
use elephant_base::units::{CoreMillis, MbMillis, Millis};
use elephant_model::model::TaskCounts;

#[derive(Serialize)]
pub(super) struct MetricsView {
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
    tasks: Pairs<Cow<'static, str>, TasksView>,
    spark: Option<SparkView>,
}

#[derive(Serialize)]
pub(super) struct TasksView {
    total_count: Option<u64>,
    succeeded_count: Option<u64>,
    failed_count: Option<u64>,
    killed_count: Option<u64>,
    attempts_count: Option<u64>,
    speculative_attempts_count: Option<u64>,
}

pub(super) fn metrics(metrics: &Metrics) -> MetricsView {
    let hours = |amount: Option<MbMillis>| amount.map(MbMillis::as_gb_hours);
    let tasks = metrics.tasks.iter().map(|(kind, counts)| (kind.clone(), task_counts(*counts)));
    let core_hours = |amount: Option<CoreMillis>| amount.map(CoreMillis::as_core_hours);
    MetricsView {
        runtime_ms: metrics.run_time.map(Millis::get),
        wait_ms: metrics.wait_time.map(Millis::get),
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

pub(super) fn task_counts(counts: Option<TaskCounts>) -> TasksView {
    TasksView {
        total_count: counts.map(|counts| counts.total),
        succeeded_count: counts.map(|counts| counts.succeeded),
        failed_count: counts.map(|counts| counts.failed),
        killed_count: counts.map(|counts| counts.killed),
        attempts_count: counts.map(|counts| counts.attempts),
        speculative_attempts_count: counts.map(|counts| counts.speculative_attempts),
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
struct JobsView {
    total_count: u64,
    succeeded_count: u64,
    failed_count: u64,
}

#[derive(Serialize)]
struct StagesView {
    total_count: u64,
    completed_count: u64,
    failed_count: u64,
    skipped_count: Option<u64>,
}

#[derive(Serialize)]
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
