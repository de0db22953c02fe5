//! `spark-configuration-parameters`: what stages suffer from, and which settings would help (Dr. Elephant
//! `ConfigurationParametersHeuristic`).

mod facts;
mod recommend;
mod stage_analysis;
mod stages;

use super::support::stage_figures;
use super::{percent, rule, spark};
use crate::finding::{Judgement, Measure, Subject, Verdict};
use crate::heuristics::{Check, Rule, load};
use crate::model::Application;
use crate::model::counters::CounterMask;
use crate::model::spark::{Facet, Spark};
use crate::model::table::TaskKind;
use crate::params::cutoffs::Ascending;
use crate::params::quantity::{Count, Duration, Quantity, Ratio, Size};
use crate::params::{Positive, choice, rule_params};
use crate::severity::Severity;
use facts::Facts;
use recommend::{Change, Recommended};

choice! {
    /// How settings are recommended.
    pub(super) enum Method {
        /// Only what a measurement asks for, and in what the application can change.
        Measured = "measured",
        /// As Dr. Elephant does.
        DrElephant = "dr-elephant",
    }
}

rule_params! {
    /// Parameters of `spark-configuration-parameters`.
    pub(super) struct Limits / LimitsLayer {
        /// Longest over median run time of a stage's tasks.
        skew_ratio: Ascending<Ratio>,
        /// Longest less median run time.
        skew_gap: Ascending<Duration>,
        /// The same as a share of the application's run time.
        skew_gap_share: Ascending<Ratio>,
        /// Skew matters where the longest task runs for more than this.
        skew_task_time: Quantity<Duration>,
        /// Skew matters where the longest task takes more than this share of its stage.
        skew_stage_share: Quantity<Ratio>,
        /// Longest less median run time, where the slowest task has no more data than others.
        unexplained_gap: Ascending<Duration>,
        /// Whether one task's data are judged, whatever time it takes.
        judge_data_skew: bool,
        /// The most that a task of a stage reads over the median.
        data_skew_ratio: Ascending<Ratio>,
        /// The same over the most that any stage reads or writes.
        data_skew_share: Ascending<Ratio>,
        /// Spilled bytes over the largest of input, output, shuffle read and shuffle write.
        spill_ratio: Ascending<Ratio>,
        /// Spilled bytes of a stage.
        spill_size: Ascending<Size>,
        /// A stage with this much data may spill.
        spill_max_data: Quantity<Size>,
        /// Median run time of a stage's tasks.
        long_task_time: Ascending<Duration>,
        /// Share of the application's run time that a stage with spill or long tasks takes.
        stage_share: Ascending<Ratio>,
        /// Failed attempts over tasks of a stage.
        failure_rate: Ascending<Ratio>,
        /// Whether failures of tasks and stages are findings of this rule.
        report_failures: bool,
        /// GC time over task time of all executors.
        gc_ratio: Ascending<Ratio>,
        /// Task time of all executors together.
        gc_task_time: Ascending<Duration>,
        /// Heap over what it was seen to hold, with what Spark keeps for itself.
        heap_ratio: Ascending<Ratio>,
        /// Heaps up to this size are never too large.
        heap_min: Quantity<Size>,
        /// Cores of the driver.
        driver_cores: Ascending<Count>,
        /// The most that a recommendation counts for what has rules of its own.
        settings_severity: Severity,
        /// How settings are recommended.
        method: Method,
        /// The run time of tasks that more partitions aim at.
        target_task_time: Positive<Duration>,
        /// The most partitions to recommend.
        max_partitions: Quantity<Count>,
        /// The most executors to recommend.
        max_instances: Quantity<Count>,
    }
}

pub(super) const RULE: Rule = rule!(
    DrElephant { version: "customSHSWork" },
    "spark-configuration-parameters",
    "Spark Configuration Parameters",
    Limits,
    |layers| load(layers, Settings)
);

struct Settings(Limits);

impl Check for Settings {
    fn check(&self, app: &Application) -> Verdict {
        let Self(limits) = self;
        let Some(spark) = spark(app) else { return Verdict::NotApplicable };
        let facts = Facts::of(app, spark, limits);
        if facts.stages.is_empty() {
            return Verdict::NotEvaluated("no stage ran a task".to_owned());
        }
        let (recommended, changes) = recommend::recommend(&facts, limits);
        let mut stages = stages::judge(&facts, &changes, limits);
        let told = stages.iter().any(|(carries, _)| *carries);
        let whole = settings(&facts, &recommended, &changes, told, limits);
        let lines: Vec<String> = changes.iter().map(|change| change.line(app)).collect();
        if whole.severity == Severity::None
            && let Some((_, carrier)) = stages.iter_mut().find(|(carries, _)| *carries)
        {
            carrier.advice.splice(0..0, lines);
        }
        Verdict::Several(std::iter::once(whole).chain(stages.into_iter().map(|(_, judged)| judged)).collect())
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks, Facet::Stages, Facet::ExecutorMetrics]
    }

    fn reads(&self, _kind: TaskKind) -> CounterMask {
        stage_figures::READ
    }
}

/// The judgement on the application: which settings to change. None where a stage's finding tells them.
fn settings(
    facts: &Facts<'_>,
    recommended: &Recommended,
    changes: &[Change],
    told: bool,
    limits: &Limits,
) -> Judgement {
    let severity = match limits.method {
        Method::DrElephant => facts.settings_severity(),
        // Garbage collection alone has a rule of its own, which gives the same settings.
        Method::Measured if told || changes.iter().all(Change::is_about_gc) => Severity::None,
        Method::Measured => changes.iter().map(|change| change.severity).max().unwrap_or_default(),
    };
    let severity = severity.min(limits.settings_severity);
    Judgement::of(Subject::Application, severity)
        .tasks(executors(facts.spark))
        .facts(facts.evidence().into_iter().chain(recommended.evidence()))
        .worded(message(facts, changes, limits))
        .advice(|| advice(facts.app, changes))
}

fn executors(spark: &Spark) -> u64 {
    (spark.executors.len() as u64).max(1)
}

fn advice(app: &Application, changes: &[Change]) -> Vec<String> {
    if changes.is_empty() {
        return vec![
            "keep the sizes of executors and driver: what was measured asks for no other setting".to_owned(),
        ];
    }
    changes.iter().map(|change| change.line(app)).collect()
}

/// "2 settings do not fit what was measured: heaps hold at most 800 MiB of 4 GiB (…)".
fn message(facts: &Facts<'_>, changes: &[Change], limits: &Limits) -> String {
    let measured: Vec<String> = facts.measured(limits);
    let measured = if measured.is_empty() { String::new() } else { format!(": {}", measured.join(", ")) };
    match changes.len() {
        0 => format!("settings fit what was measured{measured}"),
        1 => format!("1 setting does not fit what was measured{measured}"),
        many => format!("{many} settings do not fit what was measured{measured}"),
    }
}

/// A ratio's limit in brackets: "15 % of task time in garbage collection (severe from 15 %)".
fn with_limit(text: &str, severity: Severity, cutoffs: &Ascending<Ratio>, share: bool) -> String {
    let passed = if share { cutoffs.describe_in(severity, percent) } else { cutoffs.describe(severity) };
    format!("{text} ({passed})")
}

fn count(key: &'static str, value: Option<u64>) -> Option<(&'static str, Measure)> {
    value.map(|value| (key, Measure::Count(value)))
}

fn mebibytes(key: &'static str, value: Option<crate::units::Bytes>) -> Option<(&'static str, Measure)> {
    value.map(|value| (key, Measure::Mebibytes(value.get().div_ceil(crate::units::Bytes::PER_MIB))))
}
