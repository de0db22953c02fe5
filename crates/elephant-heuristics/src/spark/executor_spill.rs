//! `spark-executor-spill`: tasks need more memory than they have (Dr. Elephant `ExecutorStorageSpillHeuristic`).

use std::sync::Arc;

use super::support::application::spark;
use super::support::memory::{self, ExecutorSize, Setting, unreadable};
use super::support::spill_sizing::AgainstSpill;
use super::support::spilling::SpillingOperator;
use crate::declare::spark as rule;
use elephant_base::severity::Severity;
use elephant_base::units::Bytes;
use elephant_catalogue::{AdviceParams, Advised, Check, Rule, load_advised};
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::conf::defaults::MEMORY_FRACTION;
use elephant_model::model::counters::{Counter, CounterMask};
use elephant_model::model::spark::{Executor, Facet, Spark};
use elephant_model::model::table::TaskKind;
use elephant_rule::finding::{Advice, Judgement, Measure, Subject, Verdict, Worse, multiple};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Quantity, Ratio};
use elephant_rule::params::{choice, rule_params};
use elephant_rule::wording::{change, limit, percent, plural};

choice! {
    /// The tasks that the mean spill is taken over.
    pub(super) enum MeanOver {
        /// Tasks that spilled.
        SpillingTasks = "spilling-tasks",
        /// All tasks.
        AllTasks = "all-tasks",
    }
}

rule_params! {
    /// Parameters of `spark-executor-spill`.
    pub(super) struct Spill / SpillLayer {
        /// Spilling is common from this share of executors that spill.
        common: Quantity<Ratio>,
        /// A spill is large from this ratio: mean spill per task / heap per task (heap / number of
        /// concurrent tasks).
        large: Quantity<Ratio>,
        /// Tasks that the mean is taken over: spilling-tasks, or all-tasks as in Dr. Elephant.
        mean_over: MeanOver,
        /// Severity if few executors spill, and little.
        rare_small: Severity,
        /// Severity if few executors spill, but much.
        rare_large: Severity,
        /// Severity if many executors spill, but little.
        common_small: Severity,
        /// Severity if many executors spill, and much.
        common_large: Severity,
        /// Spilled bytes / bytes read or written.
        data_ratio: Ascending<Ratio>,
    }
}

pub(super) const RULE: Rule = rule!(
    DrElephant { version: "customSHSWork" },
    "spark-executor-spill",
    "Spark Executor Spill", tells Spill,
    Spill,
    |layers, advice| load_advised(layers, advice, Spilling)
)
.measured_by("data_ratio", Worse::Higher);

/// The message of a finding.
const MESSAGE: &str = "{spilling_executors_count} of {executors} spilled {spilled_bytes} from memory, \
    {spilled_per_task_bytes} per task; heap per task {task_heap_bytes}[; most in {operator}] ({limit})";

/// The message if nothing was spilled.
const NO_SPILL: &str = "no executor spilled";

struct Spilling(Spill, Arc<AdviceParams>);

impl Check for Spilling {
    fn check(&self, app: &Application) -> Verdict {
        let app = &Advised { app, advice: &self.1 };
        let Self(params, _) = self;
        let Some(spark) = spark(app) else { return Verdict::NotApplicable };
        if spark.any_unreadable(&MOVED) {
            return Verdict::NotEvaluated(unreadable(app, &MOVED));
        }
        let Some(facts) = Facts::of(app, spark, params.mean_over) else {
            return Verdict::NotEvaluated("no task reports Memory Bytes Spilled".to_owned());
        };
        let table = params.table(&facts);
        let data = params.data_ratio;
        let low = Severity::Low;
        let conditions = [("data_ratio", data.severity(facts.data_ratio()), data.describe_in(low, percent))];
        let severity = conditions.iter().map(|(_, severity, _)| *severity).fold(table, Severity::min);
        let by_table = format!(
            "{severity}: common from {} of executors, large from {} of the heap per task",
            percent(params.common.get()),
            percent(params.large.get())
        );
        // If the table alone gives a higher severity, the share of the data decides.
        let passed = if severity < table {
            let share = data.describe_in(severity, percent);
            format!("{} the data read or written, {share}", multiple(facts.data_ratio()))
        } else {
            by_table
        };
        let spilling = (severity > Severity::None).then(|| SpillingOperator::worst(app, spark)).flatten();
        Judgement::of(Subject::Application, severity)
            .tasks(facts.executors)
            .facts(facts.evidence())
            .message(
                if facts.spilling == 0 { NO_SPILL } else { MESSAGE },
                &[
                    ("limit", &limit(severity, passed, &conditions)),
                    ("executors", &plural(facts.executors, "executor")),
                    (
                        "operator",
                        &spilling.as_ref().map(|spilling| spilling.name.as_str()).unwrap_or_default(),
                    ),
                ],
            )
            .advice(|| advice(app, spark, spilling.as_ref(), data.values()))
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }

    fn reads(&self, _kind: TaskKind) -> CounterMask {
        CounterMask::of(&MOVED)
    }
}

impl Spill {
    fn table(&self, facts: &Facts) -> Severity {
        let common = facts.executors_ratio() >= self.common.get();
        let large = facts.mean().as_f64() >= self.large.get() * facts.task_heap.as_f64();
        match (common, large) {
            _ if facts.spilling == 0 => Severity::None,
            (false, false) => self.rare_small,
            (false, true) => self.rare_large,
            (true, false) => self.common_small,
            (true, true) => self.common_large,
        }
    }
}

/// The measurements.
struct Facts {
    executors: u64,
    /// The number of executors that spilled.
    spilling: u64,
    spilled: Bytes,
    on_disk: Option<Bytes>,
    /// The number of tasks that the mean is taken over.
    tasks: u64,
    /// The heap per task.
    task_heap: Bytes,
    /// The data read or written: the largest of input, output, shuffle read and shuffle write.
    data: Bytes,
}

/// The counters that facts are computed from.
const MOVED: [Counter; 7] = [
    Counter::MemoryBytesSpilled,
    Counter::DiskBytesSpilled,
    Counter::InputBytes,
    Counter::OutputBytes,
    Counter::ShuffleRemoteBytesRead,
    Counter::ShuffleLocalBytesRead,
    Counter::ShuffleBytesWritten,
];

impl Facts {
    fn of(app: &Application, spark: &Spark, mean_over: MeanOver) -> Option<Self> {
        let sum = |of: fn(&Executor) -> Option<Bytes>| spark.workers().filter_map(of).reduce(|a, b| a + b);
        let spilled = sum(|worker| worker.totals.memory_spilled)?;
        let first = spark.workers().next()?;
        let heap = memory::heap_of(app, spark, first);
        let spills = |worker: &&Executor| worker.totals.memory_spilled.is_some_and(|bytes| bytes.get() > 0);
        let moved = [
            sum(|worker| worker.totals.input),
            sum(|worker| worker.totals.output),
            sum(|worker| worker.totals.shuffle_read),
            sum(|worker| worker.totals.shuffle_write),
        ];
        let tasks = match mean_over {
            MeanOver::SpillingTasks => spilling_tasks(app),
            MeanOver::AllTasks => spark.workers().map(|worker| worker.totals.tasks).sum(),
        };
        Some(Self {
            executors: spark.workers().count() as u64,
            spilling: spark.workers().filter(spills).count() as u64,
            spilled,
            on_disk: sum(|worker| worker.totals.disk_spilled),
            tasks: tasks.max(1),
            task_heap: Bytes::new(heap.get() / memory::slots(app, first)),
            data: moved.into_iter().flatten().max().unwrap_or_default(),
        })
    }

    fn executors_ratio(&self) -> f64 {
        self.spilling as f64 / self.executors.max(1) as f64
    }

    fn mean(&self) -> Bytes {
        Bytes::new(self.spilled.get() / self.tasks)
    }

    /// Infinite if data was spilled but none read or written.
    fn data_ratio(&self) -> f64 {
        self.spilled.as_f64() / self.data.as_f64()
    }

    fn evidence(&self) -> Vec<(&'static str, Measure)> {
        let ratio = self.data_ratio();
        let mut evidence = vec![
            ("executors_count", Measure::Count(self.executors)),
            ("spilling_executors_count", Measure::Count(self.spilling)),
            ("executors_ratio", Measure::Ratio(Some(self.executors_ratio()))),
            ("spilled_bytes", Measure::Size(self.spilled)),
            ("spilled_per_task_bytes", Measure::Size(self.mean())),
            ("task_heap_bytes", Measure::Size(self.task_heap)),
            ("data_ratio", Measure::Ratio(ratio.is_finite().then_some(ratio))),
        ];
        evidence.extend(self.on_disk.map(|bytes| ("spilled_to_disk_bytes", Measure::Size(bytes))));
        evidence
    }
}

/// The number of attempts that spilled, whatever their outcome.
fn spilling_tasks(app: &Application) -> u64 {
    let attempts = app.groups.iter().map(|group| &group.attempts);
    let spilling = attempts.map(|attempts| {
        let spilled = |&row: &usize| attempts.count(row, Counter::MemoryBytesSpilled) > Some(0);
        (0..attempts.len()).filter(spilled).count() as u64
    });
    spilling.sum()
}

/// The cheapest change first: Spark's share of the heap, smaller partitions, more memory per task.
fn advice(
    app: &Advised<'_>,
    spark: &Spark,
    spilling: Option<&SpillingOperator>,
    cutoffs: Option<[f64; 4]>,
) -> Vec<Advice> {
    let mut advice = Vec::new();
    let against = AgainstSpill::of_worst(app, spark, cutoffs);
    let before = app.conf.fraction(ConfKey::MemoryFraction).unwrap_or(MEMORY_FRACTION);
    if let Some(more) = against.as_ref().map(|against| against.fraction).filter(|&more| more > before) {
        let line = change(app, ConfKey::MemoryFraction, more);
        advice.push(Advice::new("restore Spark's default share of the heap").set([line]));
    }
    if let Some(partitions) = against.as_ref().and_then(|against| against.partitions) {
        let advisory = against.as_ref().and_then(|against| against.advisory);
        let advisory = advisory.map(|size| change(app, ConfKey::AdaptivePartitionSize, Setting(size)));
        let lines = [change(app, ConfKey::ShufflePartitions, partitions)].into_iter().chain(advisory);
        advice.push(Advice::new("use smaller partitions that fit into memory").set_for_first(lines));
    }
    if let Some(tasks) = against.as_ref().and_then(|against| against.parallelism) {
        let line = change(app, ConfKey::DefaultParallelism, tasks);
        advice.push(Advice::new("use smaller partitions that fit into memory").set([line]));
    }
    advice.extend(against.as_ref().and_then(|against| against.in_code.clone()));
    let can_split = against.as_ref().is_none_or(|against| against.can_split);
    let now = ExecutorSize::now(app, spark);
    let wanted = against.and_then(|against| against.executors(app, spark)).unwrap_or(now);
    if wanted.heap != now.heap {
        let line = change(app, memory::heap_key(app, spark), Setting(wanted.heap));
        advice.push(Advice::new("give tasks more memory").set([line]));
    }
    if wanted.cores != now.cores {
        let line = change(app, ConfKey::ExecutorCores, wanted.cores);
        advice.push(Advice::new("run fewer tasks per heap").set([line]));
    }
    if let Some(spilling) = spilling {
        advice.push(spilling.remedy.clone().into());
    } else if advice.is_empty() && !can_split {
        advice.push(
            "keep less data in memory: no other number of tasks is possible in the stage that spills most"
                .into(),
        );
    } else if advice.is_empty() {
        advice.push("use smaller partitions: more tasks in the stages that spill".into());
    }
    advice
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = RULE.id;

    /// Executors of 4 GiB with 4 cores; the first `spilling` of them spill `each`.
    fn app(executors: u32, spilling: u32, each: Bytes) -> Application {
        let mut app = elephant_sample::app(&[("spark.executor.memory", "4g"), ("spark.executor.cores", "4")]);
        for id in 0..executors {
            let executor = elephant_sample::executor(&mut app, &id.to_string());
            executor.cores = Some(4);
            executor.totals.memory_spilled = Some(if id < spilling { each } else { Bytes::default() });
        }
        app
    }

    #[test]
    fn every_case_of_the_table_is_reached() {
        let (small, large) = (Bytes::from_mib(1), Bytes::from_mib(4096));
        let severity = |spilling, each| elephant_sample::severity(&app(10, spilling, each), ID, false);
        assert_eq!(severity(0, small), Some(Severity::None));
        assert_eq!(severity(1, small), Some(Severity::Low));
        assert_eq!(severity(1, large), Some(Severity::Moderate));
        assert_eq!(severity(2, small), Some(Severity::Moderate));
        assert_eq!(severity(2, large), Some(Severity::Critical));
    }

    #[test]
    fn dr_elephant_ignores_large_spills_of_few_executors() {
        let (small, large) = (Bytes::from_mib(1), Bytes::from_mib(4096));
        let severity = |spilling, each| elephant_sample::severity(&app(10, spilling, each), ID, true);
        assert_eq!(severity(1, small), Some(Severity::Low));
        assert_eq!(severity(1, large), Some(Severity::None));
        assert_eq!(severity(2, small), Some(Severity::Severe));
        assert_eq!(severity(2, large), Some(Severity::Critical));
    }

    #[test]
    fn spill_of_a_small_share_of_the_data_is_harmless() {
        let mut app = app(4, 4, Bytes::from_mib(100));
        elephant_sample::spark(&mut app).executors[0].totals.input = Some(Bytes::from_mib(100_000));
        let found = elephant_sample::evaluate(&app, ID, false);
        assert_eq!(found.findings[0].severity, Severity::None);
        assert!(found.findings[0].message.contains("data ratio not reached: low from 1 %"));
        assert_eq!(elephant_sample::severity(&app, ID, true), Some(Severity::Critical));
    }

    #[test]
    fn without_spill_counters_the_rule_is_not_evaluated() {
        let mut app = elephant_sample::app(&[]);
        assert_eq!(elephant_sample::severity(&app, ID, false), None);
        elephant_sample::executor(&mut app, "1");
        let reasons = elephant_sample::evaluate(&app, ID, false).not_evaluated;
        assert_eq!(reasons[0].reason, "no task reports Memory Bytes Spilled");
    }

    #[test]
    fn the_mean_is_over_tasks_that_spilled() {
        use elephant_model::model::table::Outcome;
        let mut app = app(1, 1, Bytes::from_mib(600));
        elephant_sample::stage(&mut app, 0, &[(Outcome::Succeeded, 10), (Outcome::Succeeded, 10)]);
        elephant_sample::count(&mut app, Counter::MemoryBytesSpilled, 300 << 20);
        let spark = app.spark.as_deref().unwrap();
        assert_eq!(Facts::of(&app, spark, MeanOver::SpillingTasks).unwrap().mean(), Bytes::from_mib(300));
        assert_eq!(Facts::of(&app, spark, MeanOver::AllTasks).unwrap().mean(), Bytes::from_mib(600));
    }
}
