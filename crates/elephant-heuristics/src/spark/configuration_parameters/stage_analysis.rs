//! Analyses a stage by its tasks: spill, long tasks, skew with its cause, failures (Dr. Elephant
//! `StagesAnalyzer`).

use super::{Limits, Method};
use crate::spark::support::memory::run_time;
use crate::spark::support::stage_figures::{Figures, Flow};
use elephant_base::severity::Severity;
use elephant_base::units::{Bytes, Millis};
use elephant_catalogue::Advised;
use elephant_model::model::spark::{Spark, Stage, StageStatus};

/// The analysis of one stage attempt.
pub(super) struct Analysis<'a> {
    pub(super) stage: &'a Stage,
    pub(super) figures: Figures,
    pub(super) spill: Severity,
    pub(super) long_tasks: Severity,
    /// The severity of run-time skew.
    pub(super) skew: Severity,
    /// Why the slowest task is slow; empty without skew.
    pub(super) causes: Vec<Cause>,
    pub(super) task_failures: Severity,
    pub(super) out_of_memory: Severity,
    pub(super) container_kills: Severity,
    pub(super) stage_failure: Severity,
}

/// Why one task runs longer than the others of its stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// It has more of this data than the others.
    Data(Flow),
    /// It has no more data, but was the first task of a JVM, which loads classes and compiles code.
    FirstOnExecutor,
    /// It has no more data, but spent much of its time in garbage collection.
    Gc(Millis),
    /// It has no more data: its node may be slow.
    SameWork,
}

impl Analysis<'_> {
    /// The highest severity of all findings about the stage.
    pub(super) fn severity(&self, limits: &Limits) -> Severity {
        let failures = if limits.report_failures {
            self.task_failures.max(self.out_of_memory).max(self.container_kills).max(self.stage_failure)
        } else {
            Severity::None
        };
        let skew = if limits.report_skew { self.skew } else { Severity::None };
        self.spill.max(self.long_tasks).max(skew).max(failures)
    }
}

/// Every stage attempt with tasks, in the order of the stages.
pub(super) fn analyse<'a>(app: &Advised<'_>, spark: &'a Spark, limits: &Limits) -> Vec<Analysis<'a>> {
    let app_time = run_time(app);
    let ran = spark.stages.iter().filter_map(|stage| {
        let group = app.groups.get(stage.group?)?;
        Some((stage, Figures::of(app, stage, group)))
    });
    let ran: Vec<(&Stage, Figures)> = ran.collect();
    let mut stages: Vec<Analysis<'_>> =
        ran.into_iter().map(|(stage, figures)| analyse_stage(stage, figures, app_time, limits)).collect();
    for stage in stages.iter_mut().filter(|stage| stage.long_tasks > limits.long_without_idle) {
        if limits.aim().more_than(app, spark, stage.stage).is_none() {
            stage.long_tasks = limits.long_without_idle;
        }
    }
    stages
}

fn analyse_stage<'a>(
    stage: &'a Stage,
    figures: Figures,
    app_time: Option<Millis>,
    limits: &Limits,
) -> Analysis<'a> {
    let ratio = figures.run_time.map_or(Severity::None, |run| limits.skew_ratio.severity(run.ratio()));
    let skew = if skew_matters(&figures, limits) { ratio } else { Severity::None };
    let causes = if skew > Severity::None { causes(&figures, limits) } else { Vec::new() };
    let rate = |tasks: u64| limits.failure_rate.severity(tasks as f64 / figures.tasks as f64);
    let share = stage_share(&figures, app_time, limits);
    Analysis {
        stage,
        spill: spill_ratio(&figures, limits).min(spill_matters(&figures, limits)).min(share),
        long_tasks: long_tasks(&figures, limits).min(share),
        skew,
        causes,
        task_failures: rate(figures.failed),
        out_of_memory: rate(match limits.method {
            Method::Measured => figures.heap_full,
            Method::DrElephant => figures.out_of_memory,
        }),
        container_kills: rate(figures.over_memory),
        stage_failure: if stage.status == StageStatus::Failed { Severity::Critical } else { Severity::None },
        figures,
    }
}

fn spill_ratio(figures: &Figures, limits: &Limits) -> Severity {
    let (Some(spilled), Some(data)) = (figures.spilled(), figures.largest_flow()) else {
        return Severity::None;
    };
    if spilled == Bytes::default() {
        return Severity::None;
    }
    limits.spill_ratio.severity(spilled.as_f64() / data.as_f64())
}

/// The highest possible severity of spill: a little is harmless, and very large data cannot avoid it.
fn spill_matters(figures: &Figures, limits: &Limits) -> Severity {
    let large = figures.largest_flow().is_some_and(|data| data.as_f64() >= limits.spill_max_data.get());
    if large {
        return Severity::None;
    }
    limits.spill_size.severity(figures.spilled().unwrap_or_default().as_f64())
}

fn long_tasks(figures: &Figures, limits: &Limits) -> Severity {
    figures.run_time.map_or(Severity::None, |run| limits.long_task_time.severity(run.median.as_f64()))
}

/// Whether the slowest task is so long that skew matters.
fn skew_matters(figures: &Figures, limits: &Limits) -> bool {
    let (Some(run), Some(stage_time)) = (figures.run_time, figures.stage_time) else {
        return false;
    };
    let longest = run.longest.as_f64();
    longest > limits.skew_task_time.get() && longest > limits.skew_stage_share.get() * stage_time.as_f64()
}

/// The highest possible severity of any problem in a stage with this share of the application's run time.
fn stage_share(figures: &Figures, app_time: Option<Millis>, limits: &Limits) -> Severity {
    match (figures.stage_time, app_time) {
        (Some(stage), Some(app)) => limits.stage_share.severity(stage.as_f64() / app.as_f64()),
        _ => Severity::Critical,
    }
}

fn causes(figures: &Figures, limits: &Limits) -> Vec<Cause> {
    let from = limits.skew_ratio.values().map_or(0.0, |[low, ..]| low);
    let matters = |flow: &Flow| flow.of_slowest.as_f64() >= limits.ignored_data.get() && flow.ratio() >= from;
    let mut more: Vec<Flow> = figures.flows.iter().copied().filter(matters).collect();
    more.sort_by(|a, b| b.ratio().total_cmp(&a.ratio()));
    if !more.is_empty() {
        // Two are enough: a task that reads more often also writes more.
        return more.into_iter().take(2).map(Cause::Data).collect();
    }
    let gc =
        figures.run_time.zip(figures.slowest.gc).filter(|(run, gc)| gc.as_f64() * 2.0 > run.gap().as_f64());
    let starting = figures.run_time.is_some_and(|run| run.gap().as_f64() <= limits.jvm_start.get());
    vec![match gc {
        _ if figures.slowest.first_on_executor && starting => Cause::FirstOnExecutor,
        Some((_, gc)) => Cause::Gc(gc),
        None => Cause::SameWork,
    }]
}
