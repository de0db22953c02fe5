//! Findings about single stages.

use std::cmp::Reverse;

use super::facts::Facts;
use super::recommend::{Change, Reason};
use super::stage_analysis::{Analysis, Cause};
use super::{Limits, count, with_limit};
use crate::finding::{Judgement, Measure, Subject, and_more, multiple};
use crate::heuristics::spark::support::stage_figures::{Flow, FlowKind};
use crate::heuristics::spark::support::stage_text::{first_line, label};
use crate::model::Application;
use crate::model::conf::ConfKey;
use crate::severity::Severity;
use crate::units::{Bytes, three_digits};

/// How many stages get their own finding.
const REPORTED: usize = 3;

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
        .worded(format!("{}: {}", label(stage.stage), parts(stage, limits).join("; ")))
        .advice(|| advice(facts, stage, limits))
}

/// The problems of the stage, worst first.
fn parts(stage: &Analysis<'_>, limits: &Limits) -> Vec<String> {
    let mut parts = vec![
        (stage.skew, skew(stage, limits)),
        (stage.data_skew, data_skew(stage, limits)),
        (stage.spill, spill(stage, limits)),
        (stage.long_tasks, long_tasks(stage, limits)),
    ];
    if limits.report_failures {
        parts.push((stage.task_failures, Some(failures(stage, limits))));
        let failure = first_line(stage.stage.failure.as_deref().unwrap_or("for an unknown reason"));
        parts.push((stage.stage_failure, Some(format!("it failed: {failure}"))));
    }
    parts.sort_by_key(|(severity, _)| Reverse(*severity));
    parts
        .into_iter()
        .filter(|(severity, _)| *severity > Severity::None)
        .filter_map(|(_, text)| text)
        .collect()
}

fn skew(stage: &Analysis<'_>, limits: &Limits) -> Option<String> {
    let run = stage.figures.run_time?;
    let times = three_digits(run.ratio());
    let text = format!("the slowest task ran for {}, {times}× the median of {}", run.longest, run.median);
    let causes: Vec<String> = stage.causes.iter().map(|cause| why(*cause, stage)).collect();
    Some(format!("{}, {}", with_limit(&text, stage.skew, &limits.skew_ratio, false), causes.join(" and ")))
}

fn data_skew(stage: &Analysis<'_>, limits: &Limits) -> Option<String> {
    let Flow { kind, median, largest, .. } = stage.fullest?;
    let times = three_digits(largest.as_f64() / median.as_f64());
    let text = format!("one task {}, {times}× the median of {median}", kind.does(largest));
    Some(with_limit(&text, stage.data_skew, &limits.data_skew_ratio, false))
}

fn why(cause: Cause, stage: &Analysis<'_>) -> String {
    let executor = stage.figures.slowest.executor.as_deref().unwrap_or("unknown");
    match cause {
        Cause::Data(Flow { kind, of_slowest, median, .. }) => {
            format!("it {}, the median is {median}", kind.does(of_slowest))
        }
        Cause::FirstOnExecutor => {
            format!("with no more data than others, among the first tasks of executor {executor}")
        }
        Cause::Gc(time) => format!("with no more data than others, {time} of it spent in garbage collection"),
        Cause::SameWork => format!("with no more data than others, on executor {executor}"),
    }
}

fn spill(stage: &Analysis<'_>, limits: &Limits) -> Option<String> {
    let (spilled, data) = (stage.figures.spilled()?, stage.figures.largest_flow()?);
    let share = multiple(spilled.as_f64() / data.as_f64());
    let text = if data > Bytes::default() {
        format!("tasks spilled {spilled} from memory, {share} the {data} read or written")
    } else {
        format!("tasks spilled {spilled} from memory")
    };
    Some(with_limit(&text, stage.spill, &limits.spill_ratio, true))
}

fn long_tasks(stage: &Analysis<'_>, limits: &Limits) -> Option<String> {
    let median = stage.figures.run_time?.median;
    Some(format!("the median task ran for {median} ({})", limits.long_task_time.describe(stage.long_tasks)))
}

fn failures(stage: &Analysis<'_>, limits: &Limits) -> String {
    let figures = &stage.figures;
    let text = format!("{} task attempts failed in a stage of {} tasks", figures.failed, figures.tasks);
    let of = |count: u64, how: &str| (count > 0).then(|| format!(", {count} {how}"));
    let causes = [
        of(figures.out_of_memory, "of them out of memory"),
        of(figures.over_memory, "of them killed because their container exceeded its memory limit"),
    ];
    let causes: String = causes.into_iter().flatten().collect();
    with_limit(&(text + &causes), stage.task_failures, &limits.failure_rate, true)
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
            super::super::conf_line(facts.app, ConfKey::AdaptiveEnabled, "true"),
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
            let line = super::super::conf_line(facts.app, ConfKey::Speculation, "true");
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
            super::super::conf_line(app, key, tasks)
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
