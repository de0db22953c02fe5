//! `spark-configuration-parameters`: problems of stages, and settings that would help (Dr. Elephant
//! `ConfigurationParametersHeuristic`).

mod changes;
mod facts;
mod recommend;
mod stage_analysis;
mod stages;

use std::sync::Arc;

use changes::Change;
use facts::Facts;
use recommend::Recommended;

use super::support::application::spark;
use super::support::jvms::doubt_of_heaps;
use super::support::partitions::Aim;
use super::support::spill_sizing::Bounds;
use super::support::stage_figures;
use crate::declare::spark as rule;
use elephant_base::severity::Severity;
use elephant_catalogue::{AdviceParams, Advised, Check, Rule, load_advised};
use elephant_model::model::Application;
use elephant_model::model::counters::CounterMask;
use elephant_model::model::spark::{Facet, Spark};
use elephant_model::model::table::TaskKind;
use elephant_rule::finding::{Advice, Judgement, Measure, Phrase, Subject, TroubleKind, Verdict};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio, Size};
use elephant_rule::params::{Positive, choice, rule_params};

choice! {
    /// How settings are recommended.
    pub(super) enum Method {
        /// Only changes that a measurement justifies, and only in settings that the application can change.
        Measured = "measured",
        /// As in Dr. Elephant.
        DrElephant = "dr-elephant",
    }
}

rule_params! {
    /// Parameters of `spark-configuration-parameters`.
    pub(super) struct Limits / LimitsLayer {
        /// Skew of a stage: longest / median run time of its tasks.
        skew_ratio: Ascending<Ratio>,
        /// Skew is judged only if the longest task runs longer than this.
        skew_task_time: Quantity<Duration>,
        /// Skew is judged only if the longest task takes more than this share of the stage's time.
        skew_stage_share: Quantity<Ratio>,
        /// Whether this rule reports skew, too. spark-skew reports it by default.
        report_skew: bool,
        /// Bytes spilled from memory / largest of input, output, shuffle read and shuffle write of a
        /// stage.
        spill_ratio: Ascending<Ratio>,
        /// Bytes spilled from memory by the stage.
        spill_size: Ascending<Size>,
        /// Spill is not judged in a stage that reads or writes this much.
        spill_max_data: Quantity<Size>,
        /// Long tasks: median run time of a stage's tasks.
        long_task_time: Ascending<Duration>,
        /// Severity of long tasks at most if they leave no task slot idle: then more of them would save nothing.
        long_without_idle: Severity,
        /// For spill and long tasks: time of the stage / run time of the application.
        stage_share: Ascending<Ratio>,
        /// Failed task attempts / tasks of a stage. The same cut-offs apply to attempts out of memory and
        /// to killed containers.
        failure_rate: Ascending<Ratio>,
        /// Whether this rule reports failures, too. spark-stages-with-failed-tasks reports them by
        /// default.
        report_failures: bool,
        /// For the settings: GC time / task time of all executors.
        gc_ratio: Ascending<Ratio>,
        /// Task time of all executors. GC is judged only if they have run this long.
        gc_task_time: Ascending<Duration>,
        /// Heap size / (peak heap use + the 300 MiB that Spark reserves).
        heap_ratio: Ascending<Ratio>,
        /// Heaps up to this size are never called too large.
        heap_min: Quantity<Size>,
        /// A smaller heap of executors, or of the driver in local mode, is advised only if it is smaller by this share.
        heap_gain: Quantity<Ratio>,
        /// The same for a driver that runs no tasks.
        driver_heap_gain: Quantity<Ratio>,
        /// Cores of the driver.
        driver_cores: Ascending<Count>,
        /// Highest severity of the finding about settings. GC, heaps and failures have their own rules.
        settings_severity: Severity,
        /// How settings are computed: measured or dr-elephant.
        method: Method,
        /// Task run time that advice on partitions aims at.
        target_task_time: Positive<Duration>,
        /// For stages that leave task slots idle: the number of tasks for each slot that advice aims at.
        tasks_per_slot: Quantity<Count>,
        /// For stages that leave task slots idle: tasks that would be shorter are not worth splitting.
        small_task_time: Quantity<Duration>,
        /// Largest number of partitions to recommend.
        max_partitions: Quantity<Count>,
        /// Largest number of executors to recommend.
        max_instances: Quantity<Count>,
        /// If the driver has too many cores, this many are advised; in Dr. Elephant, at most this many always.
        wanted_driver_cores: Quantity<Count>,
        /// The first task of an executor may take this much longer than others because its JVM starts.
        jvm_start: Quantity<Duration>,
        /// A slow task is explained by its data only if it has at least this much.
        ignored_data: Quantity<Size>,
    }
}

pub(super) const RULE: Rule = rule!(
    DrElephant { version: "customSHSWork" },
    "spark-configuration-parameters",
    "Spark Configuration Parameters", tells Settings,
    Limits,
    |layers, advice| load_advised(layers, advice, Settings)
)
.also_telling(&[
    TroubleKind::Failures,
    TroubleKind::Skew,
    TroubleKind::Spill,
    TroubleKind::GarbageCollection,
    TroubleKind::FewTasks,
    TroubleKind::LittleMemory,
    TroubleKind::MuchMemory,
    TroubleKind::Driver,
]);

/// The messages of the judgement on the application: no setting, one, or several need a change.
const SETTINGS_FIT: &str = "settings fit the measurements[: {measured}]";
const ONE_MISFIT: &str = "1 setting does not fit the measurements[: {measured}]";
const MISFITS: &str = "{changes} settings do not fit the measurements[: {measured}]";

struct Settings(Limits, Arc<AdviceParams>);

impl Limits {
    /// The number of tasks for stages that leave task slots idle.
    const fn aim(&self) -> Aim {
        Aim { tasks_per_slot: self.tasks_per_slot.get(), small_task_time: self.small_task_time.get() }
    }

    /// The bounds of advice on spill.
    const fn of_spill(&self) -> Bounds {
        Bounds { most: self.max_partitions.get(), cutoffs: self.spill_ratio.values() }
    }
}

impl Check for Settings {
    fn check(&self, app: &Application) -> Verdict {
        let app = &Advised { app, advice: &self.1 };
        let Self(limits, _) = self;
        let Some(spark) = spark(app) else { return Verdict::NotApplicable };
        let facts = Facts::of(app, spark, limits);
        if facts.stages.is_empty() {
            return Verdict::NotEvaluated("no stage ran a task".to_owned());
        }
        let (recommended, changes) = recommend::recommend(&facts, limits);
        let mut stages = stages::judge(&facts, &changes, limits);
        let mut of_executors = changes;
        if let Some((_, carrier)) = stages.iter_mut().find(|(carries, _)| *carries) {
            // A stage's finding gets the changes against its own trouble. Other changes have another cause.
            let cores = of_executors.iter().any(Change::is_cores_of_stages);
            let of_stage = of_executors.extract_if(.., |change| change.is_of_stages(cores));
            carrier.advice.splice(0..0, of_stage.map(|change| change.advice(app)));
        }
        let of_driver = match limits.method {
            Method::Measured => of_executors.extract_if(.., |change| change.is_of_driver()).collect(),
            Method::DrElephant => Vec::new(),
        };
        let whole = settings(&facts, &recommended, &of_executors, limits);
        let driver = driver(&facts, &of_driver, limits);
        let stages = stages.into_iter().map(|(_, judged)| judged);
        Verdict::Several(std::iter::once(whole).chain(driver).chain(stages).collect())
    }

    fn doubt(&self, app: &Application) -> Option<String> {
        doubt_of_heaps(app)
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks, Facet::Stages, Facet::ExecutorMetrics]
    }

    fn reads(&self, _kind: TaskKind) -> CounterMask {
        stage_figures::READ
    }
}

/// The judgement on the application: which settings to change, except those that a finding about a stage or the driver has.
fn settings(facts: &Facts<'_>, recommended: &Recommended, changes: &[Change], limits: &Limits) -> Judgement {
    let mut measured = facts.measured(limits);
    let severity = match limits.method {
        Method::DrElephant => {
            measured.extend(facts.measured_of_driver(limits));
            facts.settings_severity()
        }
        // GC alone has its own rule, which advises the same settings.
        Method::Measured if changes.iter().all(Change::is_about_gc) => Severity::None,
        Method::Measured => worst(changes),
    };
    let severity = severity.min(limits.settings_severity);
    Judgement::of(Subject::Application, severity)
        .tasks(executors(facts.spark))
        .facts(facts.evidence().into_iter().chain(recommended.evidence()))
        .message(
            misfits(changes),
            &[("changes", &changes.len()), ("measured", &Phrase::list(", ", measured))],
        )
        .tells(tells(changes))
        .advice(|| advice(facts.app, changes))
}

/// The judgement on the driver, whose settings have nothing to do with those of executors; `None` if they fit.
fn driver(facts: &Facts<'_>, changes: &[Change], limits: &Limits) -> Option<Judgement> {
    let severity = Some(worst(changes).min(limits.settings_severity));
    let severity = severity.filter(|severity| *severity > Severity::None)?;
    let measured = Phrase::list(", ", facts.measured_of_driver(limits));
    Some(
        Judgement::of(Subject::Driver, severity)
            .tasks(1)
            .facts(facts.driver.evidence())
            .message(misfits(changes), &[("changes", &changes.len()), ("measured", &measured)])
            .tells(TroubleKind::Driver)
            .advice(|| advice(facts.app, changes)),
    )
}

fn worst(changes: &[Change]) -> Severity {
    changes.iter().map(|change| change.severity).max().unwrap_or_default()
}

/// The message for this number of changes.
const fn misfits(changes: &[Change]) -> &'static str {
    match changes.len() {
        0 => SETTINGS_FIT,
        1 => ONE_MISFIT,
        _ => MISFITS,
    }
}

/// The kind of the worst problem that the changes are against; of equal ones, the first.
fn tells(changes: &[Change]) -> TroubleKind {
    let worst = changes.iter().rev().max_by_key(|change| change.severity);
    worst.map_or(TroubleKind::Settings, |change| change.reason.tells())
}

fn executors(spark: &Spark) -> u64 {
    (spark.executors.len() as u64).max(1)
}

fn advice(app: &Application, changes: &[Change]) -> Vec<Advice> {
    if changes.is_empty() {
        return vec!["keep the sizes of executors and driver: no measurement calls for a change".into()];
    }
    changes.iter().map(|change| change.advice(app)).collect()
}

fn count(key: &'static str, value: Option<u64>) -> Option<(&'static str, Measure)> {
    value.map(|value| (key, Measure::Count(value)))
}

fn mebibytes(
    key: &'static str,
    value: Option<elephant_base::units::Bytes>,
) -> Option<(&'static str, Measure)> {
    value.map(|value| (key, Measure::Mebibytes(value.get().div_ceil(elephant_base::units::Bytes::PER_MIB))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::units::Timestamp;
    use elephant_model::model::spark::ExecutorMetric::JvmHeapMemory;
    use elephant_model::model::table::Outcome;

    /// Executors and a driver of 8 GiB that use this many MiB of it, and a shuffle in four long tasks on sixteen cores.
    fn found(executors: i64, driver: i64) -> Vec<(String, TroubleKind, Vec<String>)> {
        let mut app = elephant_sample::app(&[
            ("spark.master", "yarn"),
            ("spark.executor.memory", "8g"),
            ("spark.driver.memory", "8g"),
            ("spark.default.parallelism", "4"),
        ]);
        for id in ["1", "2", "3", "4"] {
            let executor = elephant_sample::executor(&mut app, id);
            executor.cores = Some(4);
            elephant_sample::peaks(executor, &[(JvmHeapMemory, executors << 20)]);
        }
        let spark = elephant_sample::spark(&mut app);
        elephant_sample::peaks(&mut spark.driver, &[(JvmHeapMemory, driver << 20)]);
        elephant_sample::stage(&mut app, 0, &[(Outcome::Succeeded, 190_000); 4]);
        elephant_sample::succeed(&mut app);
        app.finished_at = Some(Timestamp::from_millis(200_000));
        let findings = elephant_sample::evaluate(&app, RULE.id, false).findings;
        let found = findings.into_iter().filter(|finding| finding.severity > Severity::None);
        let settings = |advice: &Advice| advice.settings.iter().map(ToString::to_string).collect::<Vec<_>>();
        found
            .map(|finding| {
                let settings = finding.advice.iter().flat_map(settings).collect();
                (finding.subject.name().into_owned(), finding.tells, settings)
            })
            .collect()
    }

    #[test]
    fn settings_with_another_cause_are_other_findings() {
        let all = found(1000, 1000);
        let kinds: Vec<TroubleKind> = all.iter().map(|(_, kind, _)| *kind).collect();
        for kind in [TroubleKind::MuchMemory, TroubleKind::Driver, TroubleKind::FewTasks] {
            assert!(kinds.contains(&kind), "{all:?}");
        }
        let settings = |of: TroubleKind| -> String {
            let of = all.iter().find(|(_, kind, _)| *kind == of);
            of.map(|(_, _, settings)| settings.join(" ")).unwrap_or_default()
        };
        assert_eq!(settings(TroubleKind::MuchMemory), "--conf spark.executor.memory=1792m (now 8g)");
        assert!(settings(TroubleKind::Driver).starts_with("--conf spark.driver.memory="), "{all:?}");
        assert!(!settings(TroubleKind::FewTasks).contains("memory"), "{all:?}");
    }

    /// A heap that is hardly too large is not reported.
    #[test]
    fn a_slightly_smaller_heap_is_not_told() {
        let kinds: Vec<TroubleKind> = found(5700, 8000).into_iter().map(|(_, kind, _)| kind).collect();
        assert_eq!(kinds, [TroubleKind::FewTasks]);
    }
}
