//! Findings about single stages.

use std::cmp::Reverse;

use super::facts::Facts;
use super::recommend::{Change, Reason};
use super::stage_analysis::{Analysis, Cause};
use super::{Limits, count};
use crate::finding::{Judgement, Measure, Phrase, Subject, and_more, multiple, percent};
use crate::heuristics::spark::support::stage_figures::{Flow, FlowKind};
use crate::heuristics::spark::support::stage_text::{first_line, label};
use crate::model::Application;
use crate::model::conf::ConfKey;
use crate::severity::Severity;
use crate::units::{Bytes, three_digits};

/// How many stages get their own finding.
const REPORTED: usize = 3;

/// The message of a finding about a stage, with a phrase for each problem.
const STAGE: &str = "{stage}: {troubles}";

const SKEW: &str = "the slowest task ran for {longest}, {times}× the median of {median} ({limit}), {causes}";
const DATA_SKEW: &str = "one task {reads}, {times}× the median of {median} ({limit})";
const SPILL: &str = "tasks spilled {spilled} from memory[, {share} the {data} read or written] ({limit})";
const LONG_TASKS: &str = "the median task ran for {median} ({limit})";
const FAILURES: &str = "{failed} task attempts failed in a stage of {tasks} tasks[, {out_of_memory} of them out of \
                        memory][, {over_memory} of them killed because their container exceeded its memory limit] ({limit})";
const FAILED: &str = "it failed: {reason}";
const NO_REASON: &str = "for an unknown reason";

// The causes of skew.
const MORE_DATA: &str = "it {reads}, the median is {median}";
const FIRST_ON_EXECUTOR: &str = "with no more data than others, among the first tasks of executor {executor}";
const IN_GC: &str = "with no more data than others, {time} of it spent in garbage collection";
const SAME_WORK: &str = "with no more data than others, on executor {executor}";

/// The worst stages, each with whether the recommended changes help against its problems.
pub(super) fn judge(facts: &Facts<'_>, changes: &[Change], limits: &Limits) -> Vec<(bool, Judgement)> {
    let mut bad: Vec<&Analysis<'_>> =
        facts.stages.iter().filter(|stage| stage.severity(limits) > Severity::None).collect();
    bad.sort_by_key(|stage| {
        (Reverse(stage.severity(limits)), Reverse(stage.figures.stage_time), stage.stage.id)
    });
    let more = bad.len().saturating_sub(REPORTED);
    let is_changed = |reason| changes.iter().any(|change| change.reason == reason);
    let (helps, mut judged): (Vec<bool>, Vec<Judgement>) = bad
        .into_iter()
        .take(REPORTED)
        .map(|stage| {
            let helps = stage.spill > Severity::None && is_changed(Reason::Spill)
                || stage.long_tasks > Severity::None && is_changed(Reason::LongTasks);
            (helps, judgement(facts, stage, limits))
        })
        .unzip();
    and_more(&mut judged, more, "stage");
    helps.into_iter().zip(judged).collect()
}

fn judgement(facts: &Facts<'_>, stage: &Analysis<'_>, limits: &Limits) -> Judgement {
    Judgement::of(Subject::Stage(stage.stage.id), stage.severity(limits))
        .tasks(stage.figures.scored)
        .facts(evidence(stage))
        .message(
            STAGE,
            &[("stage", &label(stage.stage)), ("troubles", &Phrase::list("; ", troubles(stage, limits)))],
        )
        .advice(|| advice(facts, stage, limits))
}

/// The problems of the stage, worst first.
fn troubles(stage: &Analysis<'_>, limits: &Limits) -> Vec<Phrase> {
    let mut troubles = vec![
        (stage.skew, skew(stage, limits)),
        (stage.data_skew, data_skew(stage, limits)),
        (stage.spill, spill(stage, limits)),
        (stage.long_tasks, long_tasks(stage, limits)),
    ];
    if limits.report_failures {
        troubles.push((stage.task_failures, Some(failures(stage, limits))));
        let reason = first_line(stage.stage.failure.as_deref().unwrap_or(NO_REASON));
        troubles.push((stage.stage_failure, Some(Phrase::new(FAILED, &[("reason", &reason)]))));
    }
    troubles.sort_by_key(|(severity, _)| Reverse(*severity));
    let found = troubles.into_iter().filter(|(severity, _)| *severity > Severity::None);
    found.filter_map(|(_, trouble)| trouble).collect()
}

fn skew(stage: &Analysis<'_>, limits: &Limits) -> Option<Phrase> {
    let run = stage.figures.run_time?;
    let causes = stage.causes.iter().map(|cause| why(*cause, stage));
    Some(Phrase::new(
        SKEW,
        &[
            ("longest", &run.longest),
            ("times", &three_digits(run.ratio())),
            ("median", &run.median),
            ("limit", &limits.skew_ratio.describe(stage.skew)),
            ("causes", &Phrase::list(" and ", causes)),
        ],
    ))
}

fn data_skew(stage: &Analysis<'_>, limits: &Limits) -> Option<Phrase> {
    let Flow { kind, median, largest, .. } = stage.fullest?;
    Some(Phrase::new(
        DATA_SKEW,
        &[
            ("reads", &kind.does(largest)),
            ("times", &three_digits(largest.as_f64() / median.as_f64())),
            ("median", &median),
            ("limit", &limits.data_skew_ratio.describe(stage.data_skew)),
        ],
    ))
}

fn why(cause: Cause, stage: &Analysis<'_>) -> Phrase {
    let executor = stage.figures.slowest.executor.as_deref().unwrap_or("unknown");
    match cause {
        Cause::Data(Flow { kind, of_slowest, median, .. }) => {
            Phrase::new(MORE_DATA, &[("reads", &kind.does(of_slowest)), ("median", &median)])
        }
        Cause::FirstOnExecutor => Phrase::new(FIRST_ON_EXECUTOR, &[("executor", &executor)]),
        Cause::Gc(time) => Phrase::new(IN_GC, &[("time", &time)]),
        Cause::SameWork => Phrase::new(SAME_WORK, &[("executor", &executor)]),
    }
}

fn spill(stage: &Analysis<'_>, limits: &Limits) -> Option<Phrase> {
    let (spilled, data) = (stage.figures.spilled()?, stage.figures.largest_flow()?);
    let share = (data > Bytes::default()).then(|| multiple(spilled.as_f64() / data.as_f64()));
    Some(Phrase::new(
        SPILL,
        &[
            ("spilled", &spilled),
            ("share", &share.unwrap_or_default()),
            ("data", &data),
            ("limit", &limits.spill_ratio.describe_in(stage.spill, percent)),
        ],
    ))
}

fn long_tasks(stage: &Analysis<'_>, limits: &Limits) -> Option<Phrase> {
    let median = stage.figures.run_time?.median;
    let limit = limits.long_task_time.describe(stage.long_tasks);
    Some(Phrase::new(LONG_TASKS, &[("median", &median), ("limit", &limit)]))
}

fn failures(stage: &Analysis<'_>, limits: &Limits) -> Phrase {
    let figures = &stage.figures;
    let if_any = |count: u64| if count > 0 { count.to_string() } else { String::new() };
    Phrase::new(
        FAILURES,
        &[
            ("failed", &figures.failed),
            ("tasks", &figures.tasks),
            ("out_of_memory", &if_any(figures.out_of_memory)),
            ("over_memory", &if_any(figures.over_memory)),
            ("limit", &limits.failure_rate.describe_in(stage.task_failures, percent)),
        ],
    )
}

fn evidence(stage: &Analysis<'_>) -> Vec<(&'static str, Measure)> {
    let figures = &stage.figures;
    let run = figures.run_time;
    let time = |key, value: Option<_>| value.map(|value| (key, Measure::Time(value)));
    let size = |key, value: Option<_>| value.map(|value| (key, Measure::Size(value)));
    let level = |key, severity: Severity| (key, Measure::Text(severity.to_string()));
    let known = [
        count("tasks_count", Some(figures.tasks)),
        time("stage_time_ms", figures.stage_time),
        time("median_run_time_ms", run.map(|run| run.median)),
        time("longest_run_time_ms", run.map(|run| run.longest)),
        size("fullest_task_bytes", stage.fullest.map(|flow| flow.largest)),
        size("median_task_bytes", stage.fullest.map(|flow| flow.median)),
        size("spilled_bytes", figures.spilled()),
        size("largest_data_bytes", figures.largest_flow()),
        count("failed_attempts_count", Some(figures.failed)),
        count("out_of_memory_count", Some(figures.out_of_memory)),
        count("container_kills_count", Some(figures.over_memory)),
    ];
    let levels = [
        level("skew_text", stage.skew),
        level("data_skew_text", stage.data_skew),
        level("spill_text", stage.spill),
        level("long_tasks_text", stage.long_tasks),
        level("task_failures_text", stage.task_failures),
        level("out_of_memory_text", stage.out_of_memory),
        level("container_kills_text", stage.container_kills),
        level("stage_failure_text", stage.stage_failure),
    ];
    known.into_iter().flatten().chain(levels).collect()
}

fn advice(facts: &Facts<'_>, stage: &Analysis<'_>, limits: &Limits) -> Vec<String> {
    let mut advice = Vec::new();
    if stage.skew > Severity::None {
        advice.extend(stage.causes.iter().map(|cause| against(*cause, facts, stage)));
    }
    if let Some(flow) = stage.fullest.filter(|_| stage.data_skew > Severity::None) {
        let line = against(Cause::Data(flow), facts, stage);
        if !advice.contains(&line) {
            advice.push(line);
        }
    }
    if stage.spill > Severity::None {
        advice.push(
            "keep less data in memory: drop columns and rows before joins and aggregations, prefer \
             reduceByKey to groupByKey"
                .to_owned(),
        );
    }
    if stage.long_tasks > Severity::None {
        advice.push(shorter_tasks(facts.app, stage));
    }
    if limits.report_failures && stage.task_failures.max(stage.stage_failure) > Severity::None {
        advice.push("see spark-stages-with-failed-tasks about the failures".to_owned());
    }
    advice.dedup();
    advice
}

/// The remedy for one cause of skew.
fn against(cause: Cause, facts: &Facts<'_>, stage: &Analysis<'_>) -> String {
    match cause {
        Cause::Data(Flow { kind: FlowKind::Input, .. }) => {
            "split the input more evenly: files of similar size in a splittable format, or --conf \
             spark.sql.files.maxPartitionBytes=64m"
                .to_owned()
        }
        Cause::Data(_) if adaptive_is_off(facts.app) && is_sql(facts, stage) => format!(
            "let Spark split skewed partitions: {} --conf {}=true",
            super::super::change(facts.app, ConfKey::AdaptiveEnabled, "true"),
            ConfKey::AdaptiveSkewJoin.name(),
        ),
        Cause::Data(_) => {
            "distribute the most frequent keys: salt them, aggregate in two steps, or broadcast the \
                           smaller side of the join"
                .to_owned()
        }
        Cause::FirstOnExecutor => {
            "avoid executor restarts: the first tasks of a JVM load classes and compile code; keep \
                                   executors longer, or use fewer in a short application"
                .to_owned()
        }
        Cause::Gc(_) => "give each task more heap: see spark-executor-gc".to_owned(),
        Cause::SameWork => {
            let host = stage.figures.slowest.host.as_deref();
            let host = host.map(|host| format!("check {host}, and ")).unwrap_or_default();
            let line = super::super::change(facts.app, ConfKey::Speculation, "true");
            format!("{host}enable speculative execution: {line}")
        }
    }
}

fn shorter_tasks(app: &Application, stage: &Analysis<'_>) -> String {
    if stage.figures.reads_shuffle_only() {
        let key = if app.conf.find(ConfKey::DefaultParallelism).is_some() {
            ConfKey::DefaultParallelism
        } else {
            ConfKey::ShufflePartitions
        };
        let tasks = stage.figures.tasks.saturating_mul(2);
        return format!(
            "split the work into more tasks: repartition, or {}",
            super::super::change(app, key, tasks)
        );
    }
    "split the input into more tasks: repartition it, or --conf spark.sql.files.maxPartitionBytes=64m"
        .to_owned()
}

fn is_sql(facts: &Facts<'_>, stage: &Analysis<'_>) -> bool {
    facts
        .spark
        .jobs
        .iter()
        .any(|job| job.sql_execution.is_some() && job.stages.contains(&stage.stage.id.stage))
}

/// Whether adaptive execution is off. It is on by default since Spark 3.2.
fn adaptive_is_off(app: &Application) -> bool {
    let version = app.engine_version.as_deref().unwrap_or_default();
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let on_by_default = (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= (3, 2);
    !app.conf.flag(ConfKey::AdaptiveEnabled).unwrap_or(on_by_default)
}
