//! `spark-executor-metrics`: one executor does far more than the others (Dr. Elephant
//! `ExecutorsHeuristic`).

use super::support::application::{change_to, spark};
use super::support::memory;
use crate::declare::spark as rule;
use elephant_base::severity::Severity;
use elephant_base::stats;
use elephant_base::units::{Bytes, Millis, three_digits};
use elephant_catalogue::{Check, Rule, load};
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::counters::{Counter, CounterMask};
use elephant_model::model::spark::{Executor, Facet, Spark};
use elephant_model::model::table::TaskKind;
use elephant_rule::finding::{Advice, Judgement, Measure, SettingChange, Subject, Verdict};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Duration, Quantity, Ratio, Size};
use elephant_rule::params::rule_params;
use elephant_rule::wording::{change, percent};

rule_params! {
    /// Parameters of `spark-executor-metrics`.
    pub(super) struct Balance / BalanceLayer {
        /// Highest value of an executor / median over executors.
        max_to_median: Ascending<Ratio>,
        /// A metric in bytes is ignored if its highest value is below this.
        ignore_bytes: Quantity<Size>,
        /// Task time is ignored if its highest value is below this.
        ignore_time: Quantity<Duration>,
        /// (Highest - median task time) / cores / run time of the application: the most that balancing
        /// could save.
        excess_time: Ascending<Ratio>,
        /// Highest severity of an imbalance of bytes. Only lost time matters.
        bytes_at_most: Severity,
        /// Executors with less than this share of the longest lifetime are left out. They had less time
        /// to work.
        min_life: Quantity<Ratio>,
        /// Whether values are compared per lifetime of the executor.
        by_life: bool,
        /// Whether the driver is compared like an executor. It runs no tasks.
        with_driver: bool,
    }
}

pub(super) const RULE: Rule = rule!(
    DrElephant { version: "master" },
    "spark-executor-metrics",
    "Spark Executor Metrics", tells Imbalance,
    Balance,
    |layers, _| load(layers, Comparison)
);

/// The message of a finding.
const UNBALANCED: &str = "executor {executor} has {max} of {metric}, {times}× the median of {median}{life} ({limit})[; the \
                          excess per core is {excess} of the application's run time]";

/// The same if the median is 0.
const ALONE: &str = "executor {executor} has {max} of {metric}, the median is {median} ({limit})[; the excess per core is \
                     {excess} of the application's run time]";

/// The message if nothing was found.
const BALANCED: &str =
    "executors are balanced: the busiest has {max} of {metric}, the median is {median}{life}";

/// Follows the median in a message if executors lived for different times.
const OF_LIFE: &str = " for its lifetime";

struct Comparison(Balance);

/// One metric of the executors.
struct Metric {
    name: &'static str,
    keys: [&'static str; 2],
    of: fn(&Executor) -> Option<u64>,
    /// The counters that add up to it.
    counters: &'static [Counter],
    is_time: bool,
}

const METRICS: [Metric; 5] = [
    Metric {
        name: "task time",
        keys: ["max_task_time_ms", "median_task_time_ms"],
        of: |executor| executor.totals.task_time.map(Millis::get),
        counters: &[],
        is_time: true,
    },
    Metric {
        name: "input",
        keys: ["max_input_bytes", "median_input_bytes"],
        of: |executor| executor.totals.input.map(Bytes::get),
        counters: &[Counter::InputBytes],
        is_time: false,
    },
    Metric {
        name: "shuffle read",
        keys: ["max_shuffle_read_bytes", "median_shuffle_read_bytes"],
        of: |executor| executor.totals.shuffle_read.map(Bytes::get),
        counters: &[Counter::ShuffleRemoteBytesRead, Counter::ShuffleLocalBytesRead],
        is_time: false,
    },
    Metric {
        name: "shuffle write",
        keys: ["max_shuffle_write_bytes", "median_shuffle_write_bytes"],
        of: |executor| executor.totals.shuffle_write.map(Bytes::get),
        counters: &[Counter::ShuffleBytesWritten],
        is_time: false,
    },
    Metric {
        name: "cached data",
        keys: ["max_storage_bytes", "median_storage_bytes"],
        of: |executor| executor.storage.peak_used.map(Bytes::get),
        counters: &[],
        is_time: false,
    },
];

/// The distribution of a metric over the executors.
struct Spread<'a> {
    metric: &'static Metric,
    most: &'a Executor,
    max: u64,
    /// The median over the executors, for the lifetime of the one with the most.
    median: u64,
    /// Whether the median is scaled, because other executors lived for different times.
    scaled: bool,
}

impl Check for Comparison {
    fn check(&self, app: &Application) -> Verdict {
        let Some(spark) = spark(app) else { return Verdict::NotApplicable };
        let compared = self.compared(app, spark);
        // A single executor cannot be compared.
        if compared.len() < 2 {
            return Verdict::NotApplicable;
        }
        let spreads: Vec<Spread<'_>> =
            METRICS.iter().filter_map(|metric| spread(metric, &self.with_lives(app, &compared))).collect();
        let judged = spreads.iter().map(|spread| (self.severity(app, spread), spread)).rev();
        // Take the first of equally bad metrics; `max_by_key` returns the last.
        let Some((severity, worst)) = judged.max_by_key(|(severity, _)| *severity) else {
            return Verdict::NotEvaluated("no executor has a finished task".to_owned());
        };
        let mut evidence = vec![
            ("executors_count", Measure::Count(spark.executors.len() as u64)),
            ("compared_executors_count", Measure::Count(compared.len() as u64)),
        ];
        for Spread { metric, max, median, .. } in &spreads {
            let values = metric.keys.into_iter().zip([*max, *median]);
            evidence.extend(values.map(|(key, value)| (key, metric.measure(value))));
        }
        let judgement =
            Judgement::of(Subject::Application, severity).tasks(spark.executors.len() as u64).facts(evidence);
        self.explain(app, judgement, worst).advice(|| advice(app, &compared, worst)).into()
    }

    fn needs_all(&self) -> bool {
        true
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks, Facet::Executors, Facet::ExecutorMetrics]
    }

    fn reads(&self, _kind: TaskKind) -> CounterMask {
        let mut counters = CounterMask::NONE;
        for metric in &METRICS {
            counters.insert_all(CounterMask::of(metric.counters));
        }
        counters
    }
}

impl Comparison {
    /// The executors that lived long enough to be compared.
    fn compared<'a>(&self, app: &Application, spark: &'a Spark) -> Vec<&'a Executor> {
        let life = |executor: &Executor| memory::executor_life(app, executor).map_or(0.0, Millis::as_f64);
        let longest = spark.executors.iter().map(life).fold(0.0, f64::max);
        let long_enough = |executor: &&Executor| life(executor) >= longest * self.0.min_life.get();
        let driver = self.0.with_driver.then_some(&spark.driver);
        spark.executors.iter().filter(long_enough).chain(driver).collect()
    }

    /// Executors with their lifetimes, as shares of the longest.
    fn with_lives<'a>(&self, app: &Application, executors: &[&'a Executor]) -> Vec<(&'a Executor, f64)> {
        let life = |executor: &&Executor| {
            let life = memory::working_life(app, executor).filter(|life| *life > Millis::ZERO)?;
            self.0.by_life.then(|| life.as_f64())
        };
        let lives: Option<Vec<f64>> = executors.iter().map(life).collect();
        let lives = lives.unwrap_or_else(|| vec![1.0; executors.len()]);
        let longest = lives.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        executors.iter().copied().zip(lives).map(|(executor, life)| (executor, life / longest)).collect()
    }

    fn severity(&self, app: &Application, spread: &Spread<'_>) -> Severity {
        let params = &self.0;
        let ignore = if spread.metric.is_time { params.ignore_time.get() } else { params.ignore_bytes.get() };
        if spread.max == 0 || (spread.max as f64) < ignore {
            return Severity::None;
        }
        let by_ratio = params.max_to_median.severity(spread.ratio());
        if !spread.metric.is_time {
            return by_ratio.min(params.bytes_at_most);
        }
        by_ratio.min(match spread.excess(app) {
            Some(share) => params.excess_time.severity(share),
            None if params.excess_time.values().is_none() => Severity::Critical,
            None => Severity::None,
        })
    }

    fn explain(&self, app: &Application, judgement: Judgement, worst: &Spread<'_>) -> Judgement {
        let Spread { metric, most, max, median, scaled } = worst;
        let ratio = worst.ratio();
        let template = match judgement.severity {
            Severity::None => BALANCED,
            _ if ratio.is_finite() => UNBALANCED,
            _ => ALONE,
        };
        let times = if ratio.is_finite() { three_digits(ratio) } else { String::new() };
        let passed = self.0.max_to_median.describe_multiple(self.0.max_to_median.severity(ratio));
        let excess = worst.excess(app).filter(|_| metric.is_time).map(percent);
        judgement.message(
            template,
            &[
                ("executor", &most.id),
                ("max", &metric.measure(*max)),
                ("metric", &metric.name),
                ("median", &metric.measure(*median)),
                ("times", &times),
                ("life", if *scaled { &OF_LIFE } else { &"" }),
                ("limit", &passed),
                ("excess", &excess.unwrap_or_default()),
            ],
        )
    }
}

impl Metric {
    fn measure(&self, value: u64) -> Measure {
        if self.is_time { Measure::Time(Millis::new(value)) } else { Measure::Size(Bytes::new(value)) }
    }
}

impl Spread<'_> {
    /// Infinite if the median is 0: the other executors do nothing.
    fn ratio(&self) -> f64 {
        self.max as f64 / self.median as f64
    }

    /// How much longer than the median the busiest executor works per core, as a share of the application's
    /// run time.
    fn excess(&self, app: &Application) -> Option<f64> {
        let run_time = memory::run_time(app).filter(|time| *time > Millis::ZERO)?;
        let cores = f64::from(self.most.cores.unwrap_or(1).max(1));
        // Tasks of less than a core, or of a damaged log, may take more time than the cores had.
        Some((self.max.saturating_sub(self.median) as f64 / cores / run_time.as_f64()).min(1.0))
    }
}

/// `None` if no executor reports the metric, or if one of its counters is unreadable. Executors without the
/// metric had no task, or none that counts it.
fn spread<'a>(metric: &'static Metric, executors: &[(&'a Executor, f64)]) -> Option<Spread<'a>> {
    if executors.iter().any(|(executor, _)| executor.totals.unreadable.has_any(metric.counters)) {
        return None;
    }
    executors.iter().find_map(|(executor, _)| (metric.of)(executor))?;
    // Peaks do not grow with time.
    let grows = metric.is_time || !metric.counters.is_empty();
    let share = |life: f64| if grows { life } else { 1.0 };
    let scaled = |value: u64, by: f64| Bytes::from_f64(value as f64 * by).unwrap_or_default().get();
    let values = executors.iter().map(|&(executor, life)| {
        let value = (metric.of)(executor).unwrap_or_default();
        (scaled(value, 1.0 / share(life)), value, executor, share(life))
    });
    let values: Vec<(u64, u64, &Executor, f64)> = values.collect();
    let &(_, max, most, life) = values.iter().rev().max_by_key(|(rate, ..)| *rate)?;
    let signed: Vec<i64> = values.iter().map(|(rate, ..)| i64::try_from(*rate).unwrap_or(i64::MAX)).collect();
    let median = stats::median(&signed).and_then(|median| u64::try_from(median).ok())?;
    let differ = values.iter().any(|&(.., other)| (other - life).abs() > 0.01);
    Some(Spread { metric, most, max, median: scaled(median, life), scaled: differ })
}

/// Settings for more tasks. Current values that are already sufficient stay.
fn more_tasks(app: &Application, enough: u64) -> Advice {
    let settings = [
        (ConfKey::DefaultParallelism, memory::in_force(app, ConfKey::DefaultParallelism)),
        (ConfKey::ShufflePartitions, Some(memory::shuffle_partitions(app))),
    ];
    let few = settings.into_iter().filter(|(_, now)| now.is_none_or(|now| now < enough));
    let more: Vec<SettingChange> = few.map(|(key, _)| change(app, key, enough)).collect();
    if more.is_empty() {
        return "repartition the input into small tasks of similar size".into();
    }
    Advice::new("use more and smaller tasks, three per core, so that the load of executors balances")
        .set(more)
}

/// Advice for executors that started late, tasks that wait for locality, and keys that dominate.
fn advice(app: &Application, compared: &[&Executor], worst: &Spread<'_>) -> Vec<Advice> {
    let mut advice = Vec::new();
    let first_task = compared.iter().filter_map(|executor| executor.totals.first_task_at).min();
    let late = compared.iter().filter(|executor| executor.added_at > first_task).count();
    if first_task.is_some() && late > 0 {
        let what = format!(
            "{late} of {} executors started after the first task; wait for all of them",
            compared.len()
        );
        // Under dynamic allocation, executors come with the tasks.
        let dynamic = app.allocates_dynamically();
        let all = change_to(app, ConfKey::MinRegisteredRatio, "1.0").filter(|_| !dynamic);
        advice.extend(all.map(|all| Advice::new(what).set([all])));
    }
    let cores: u64 = compared.iter().map(|executor| u64::from(executor.cores.unwrap_or(1).max(1))).sum();
    advice.push(more_tasks(app, cores.saturating_mul(3)));
    if worst.metric.is_time && app.conf.flag(ConfKey::Speculation) != Some(true) {
        let what = format!("if executor {} is on a slow host, enable speculative execution", worst.most.id);
        advice.push(Advice::new(what).set([change(app, ConfKey::Speculation, true)]).conditional());
    } else if !worst.metric.is_time {
        let what = Advice::new("do not let tasks wait for the executor that has the data");
        advice.extend(change_to(app, ConfKey::LocalityWait, "0s").map(|line| what.set([line])));
    }
    advice
}
