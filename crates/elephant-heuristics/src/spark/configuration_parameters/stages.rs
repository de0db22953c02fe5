//! Findings about single stages.

use std::cmp::Reverse;

use super::changes::{Change, Reason};
use super::facts::Facts;
use super::recommend::tasks_for;
use super::stage_analysis::{Analysis, Cause};
use super::{Limits, Method, count};
use crate::shown::FINDINGS;
use crate::spark::skew::{self, Skewed};
use crate::spark::support::application::{change_to, runs_sql};
use crate::spark::support::memory::is_local;
use crate::spark::support::partitions::{self, Source};
use crate::spark::support::spill_sizing::AgainstSpill;
use crate::spark::support::spilling::SpillingOperator;
use crate::spark::support::stage_figures::{Flow, FlowKind};
use crate::spark::support::stage_text::{first_line, label};
use elephant_base::severity::Severity;
use elephant_base::units::{Bytes, three_digits};
use elephant_model::model::conf::ConfKey;
use elephant_query::{FixedBy, Single};
use elephant_rule::finding::{
    Advice, Judgement, Measure, Phrase, Repartition, Subject, TroubleKind, and_more, multiple, percent,
};

/// The message of a finding about a stage, with a phrase for each problem.
const STAGE: &str = "{stage}: {troubles}";

const SKEW: &str = "the slowest task ran for {longest}, {times}× the median of {median} ({limit}), {causes}";
const SPILL: &str = "tasks spilled {spilled} from memory[, {share} the {data} read or written][, most in {operator}] ({limit})";
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
    let more = bad.len().saturating_sub(FINDINGS);
    let is_changed = |reason| changes.iter().any(|change| change.reason == reason);
    let (helps, mut judged): (Vec<bool>, Vec<Judgement>) = bad
        .into_iter()
        .take(FINDINGS)
        .map(|stage| {
            let helps = stage.spill > Severity::None && is_changed(Reason::Spill)
                || stage.long_tasks > Severity::None && is_changed(Reason::LongTasks);
            (helps, judgement(facts, stage, changes, limits))
        })
        .unzip();
    and_more(&mut judged, more, "stage");
    helps.into_iter().zip(judged).collect()
}

fn judgement(facts: &Facts<'_>, stage: &Analysis<'_>, changes: &[Change], limits: &Limits) -> Judgement {
    let spills = stage.spill > Severity::None;
    let spilling = spills.then(|| SpillingOperator::of(facts.app, facts.spark, stage.stage)).flatten();
    let troubles = troubles(stage, spilling.as_ref(), limits);
    // Failures because of memory are part of the severity without a phrase of their own.
    let kind = troubles.first().map_or(TroubleKind::Failures, |(kind, _)| *kind);
    let phrases = Phrase::list("; ", troubles.into_iter().map(|(_, phrase)| phrase));
    let judged = Judgement::of(Subject::Stage(stage.stage.id), stage.severity(limits));
    let wanted = Some(()).filter(|()| stage.long_tasks > Severity::None);
    let wanted = wanted.and_then(|()| u32::try_from(tasks_for(facts, stage, limits)?).ok());
    let judged = match wanted {
        Some(tasks) => judged.repartition(Repartition { stages: vec![stage.stage.id], tasks }),
        None => judged,
    };
    judged
        .tasks(stage.figures.scored)
        .facts(evidence(stage, limits))
        .message(STAGE, &[("stage", &label(stage.stage)), ("troubles", &phrases)])
        .tells(kind)
        .advice(|| advice(facts, stage, spilling.as_ref(), (changes, limits)))
}

/// The problems of the stage, worst first.
fn troubles(
    stage: &Analysis<'_>,
    spilling: Option<&SpillingOperator>,
    limits: &Limits,
) -> Vec<(TroubleKind, Phrase)> {
    let mut troubles = vec![
        (stage.spill, TroubleKind::Spill, spill(stage, spilling, limits)),
        (stage.long_tasks, TroubleKind::FewTasks, long_tasks(stage, limits)),
    ];
    if limits.report_skew {
        troubles.insert(0, (stage.skew, TroubleKind::Skew, skew(stage, limits)));
    }
    if limits.report_failures {
        troubles.push((stage.task_failures, TroubleKind::Failures, Some(failures(stage, limits))));
        let reason = first_line(stage.stage.failure.as_deref().unwrap_or(NO_REASON));
        let failed = Phrase::new(FAILED, &[("reason", &reason)]);
        troubles.push((stage.stage_failure, TroubleKind::Failures, Some(failed)));
    }
    troubles.sort_by_key(|(severity, ..)| Reverse(*severity));
    let found = troubles.into_iter().filter(|(severity, ..)| *severity > Severity::None);
    found.filter_map(|(_, kind, trouble)| Some((kind, trouble?))).collect()
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
            ("limit", &limits.skew_ratio.describe_multiple(stage.skew)),
            ("causes", &Phrase::list(" and ", causes)),
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

fn spill(stage: &Analysis<'_>, spilling: Option<&SpillingOperator>, limits: &Limits) -> Option<Phrase> {
    let (spilled, data) = (stage.figures.spilled()?, stage.figures.largest_flow()?);
    let share = (data > Bytes::default()).then(|| multiple(spilled.as_f64() / data.as_f64()));
    Some(Phrase::new(
        SPILL,
        &[
            ("spilled", &spilled),
            ("share", &share.unwrap_or_default()),
            ("data", &data),
            ("operator", &spilling.map(|spilling| spilling.name.as_str()).unwrap_or_default()),
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

fn evidence(stage: &Analysis<'_>, limits: &Limits) -> Vec<(&'static str, Measure)> {
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
        size("spilled_bytes", figures.spilled()),
        size("largest_data_bytes", figures.largest_flow()),
        count("failed_attempts_count", Some(figures.failed)),
        count("out_of_memory_count", Some(figures.out_of_memory)),
        count("container_kills_count", Some(figures.over_memory)),
    ];
    let skew = limits.report_skew.then(|| level("skew_text", stage.skew));
    let levels = [
        level("spill_text", stage.spill),
        level("long_tasks_text", stage.long_tasks),
        level("task_failures_text", stage.task_failures),
        level("out_of_memory_text", stage.out_of_memory),
        level("container_kills_text", stage.container_kills),
        level("stage_failure_text", stage.stage_failure),
    ];
    known.into_iter().flatten().chain(skew).chain(levels).collect()
}

fn advice(
    facts: &Facts<'_>,
    stage: &Analysis<'_>,
    spilling: Option<&SpillingOperator>,
    (changes, limits): (&[Change], &Limits),
) -> Vec<Advice> {
    let mut advice = Vec::new();
    if limits.report_skew && stage.skew > Severity::None {
        advice.extend(stage.causes.iter().flat_map(|cause| against(*cause, facts, stage)));
    }
    if stage.spill > Severity::None {
        advice.extend(more_tasks(facts, stage, limits));
        advice.push(against_spill(facts, stage, spilling));
    }
    if stage.long_tasks > Severity::None {
        advice.push(shorter_tasks(facts, stage, changes, limits));
    }
    if limits.report_failures && stage.task_failures.max(stage.stage_failure) > Severity::None {
        advice.push(
            "find out why tasks failed (`elephant-rs rules show spark-stages-with-failed-tasks`)".into(),
        );
    }
    advice.dedup();
    advice
}

/// Less data in memory: in the work of Spark's own, by that; in a query, by the operator that spills; in code with RDDs, by what it
/// keeps for each key, too.
fn against_spill(facts: &Facts<'_>, stage: &Analysis<'_>, spilling: Option<&SpillingOperator>) -> Advice {
    const LESS: &str = "keep less data in memory: drop columns and rows before joins and aggregations";
    let Facts { app, spark, .. } = *facts;
    if let Some(chosen) = partitions::of_stage(app, spark, stage.stage) {
        return chosen;
    }
    match FixedBy::of(app, spark, stage.stage) {
        Some(FixedBy::Single(Single::Window)) => {
            "give the window a key (PARTITION BY): without one, a single task sorts all rows".into()
        }
        _ if runs_sql(spark, stage.stage) => {
            spilling.map_or_else(|| LESS.into(), |spilling| spilling.remedy.clone().into())
        }
        _ => format!("{LESS}, prefer reduceByKey to groupByKey").into(),
    }
}

/// More tasks in code against spill, if no setting that can be advised is enough.
fn more_tasks(facts: &Facts<'_>, stage: &Analysis<'_>, limits: &Limits) -> Option<Advice> {
    let Facts { app, spark, .. } = facts;
    let of_rule = limits.method == Method::Measured;
    of_rule.then(|| AgainstSpill::of(app, spark, stage.stage, &stage.figures, limits.of_spill()).in_code)?
}

/// Remedies for one cause of skew.
fn against(cause: Cause, facts: &Facts<'_>, stage: &Analysis<'_>) -> Vec<Advice> {
    match cause {
        Cause::Data(Flow { kind, of_slowest, median, .. }) => {
            let skewed = Skewed { input: kind == FlowKind::Input, bytes: Some((of_slowest, median)) };
            skew::against(facts.app, facts.spark, stage.stage, skewed)
        }
        Cause::FirstOnExecutor => vec![
            "avoid executor restarts: the first tasks of a JVM load classes and compile code; keep \
             executors longer, or use fewer in a short application"
                .into(),
        ],
        Cause::Gc(_) => {
            let advice = Advice::new("give each task more heap (`elephant-rs rules show spark-executor-gc`)");
            vec![advice.see_rule("spark-executor-gc")]
        }
        Cause::SameWork => vec![check_the_host(facts, stage)],
    }
}

/// Speculative execution, unless it is on already or there is no other host to run a copy on.
fn check_the_host(facts: &Facts<'_>, stage: &Analysis<'_>) -> Advice {
    let host = stage.figures.slowest.host.as_deref().unwrap_or("its host");
    let on = change_to(facts.app, ConfKey::Speculation, true).filter(|_| !is_local(facts.app, facts.spark));
    let what = format!("check {host}");
    match on {
        Some(on) => Advice::new(what + ", and enable speculative execution").set([on]),
        None => what.into(),
    }
}

/// Advice to use more tasks than the stage has, with the setting that determines their number.
fn shorter_tasks(facts: &Facts<'_>, stage: &Analysis<'_>, changes: &[Change], limits: &Limits) -> Advice {
    let Facts { app, spark, .. } = facts;
    let what = "split the work into more tasks";
    let group = stage.stage.group.and_then(|group| app.groups.get(group));
    if let Some(chosen) = partitions::of_stage(app, spark, stage.stage) {
        return chosen;
    }
    let (Some(wanted), Some(group)) = (tasks_for(facts, stage, limits), group) else { return what.into() };
    let source = Source::of(app, spark, stage.stage, group);
    if !source.can_change() {
        return "the number of tasks of this stage cannot change: do less work in it".into();
    }
    if source == Source::ShufflePartitions
        && changes.iter().any(|change| change.key == ConfKey::ShufflePartitions)
    {
        return Advice::new(what).and(", with more partitions");
    }
    partitions::advice(app, spark, stage.stage, source, (stage.figures.tasks, wanted))
}
