//! `spark-executor-load-balance`: some executors work while others are idle (Dr. Elephant v2.0.9
//! `ExecutorLoadHeuristic`).

use std::sync::Arc;

use super::support::application::spark;
use super::support::crowded::Crowded;
use super::support::idle::{dynamic_allocation, shorter_idle_timeout};
use super::support::memory::{self, unreadable};
use crate::declare::spark as rule;
use elephant_base::severity::Severity;
use elephant_base::units::{Bytes, Millis, three_digits};
use elephant_catalogue::{AdviceParams, Advised, Check, Rule, load_advised};
use elephant_model::model::Application;
use elephant_model::model::counters::{Counter, CounterMask};
use elephant_model::model::spark::{Executor, Facet, Spark};
use elephant_model::model::table::TaskKind;
use elephant_rule::finding::{Advice, Judgement, Measure, Subject, TroubleKind, Verdict};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Duration, Quantity, Ratio, Size};
use elephant_rule::params::{choice, rule_params};
use elephant_rule::wording::{decisive, limit, percent};

choice! {
    /// The deviations that decide.
    pub(super) enum JudgedBy {
        /// The deviation of the task time. The others only explain it.
        TaskTime = "task-time",
        /// The largest deviation.
        AnyMetric = "any-metric",
    }
}

rule_params! {
    /// Parameters of `spark-executor-load-balance`.
    pub(super) struct Balance / BalanceLayer {
        /// Which deviation decides: task-time (the others only explain it), or any-metric as in Dr.
        /// Elephant.
        judged_by: JudgedBy,
        /// Whether time and bytes are divided by the lifetime of the executor.
        by_life: bool,
        /// Largest deviation of an executor's task time from the mean / mean.
        task_time_deviation: Ascending<Ratio>,
        /// The same deviation for bytes read.
        input_deviation: Ascending<Ratio>,
        /// The same deviation for peak storage memory.
        storage_deviation: Ascending<Ratio>,
        /// The same deviation for bytes written.
        output_deviation: Ascending<Ratio>,
        /// Peak storage memory below this counts as 0.
        ignored_storage: Quantity<Size>,
        /// (Highest - mean task time) / (cores x lifetime) of the busiest executor.
        idle_share: Ascending<Ratio>,
        /// Task time of the busiest executor / its cores.
        busiest_time: Ascending<Duration>,
    }
}

pub(super) const RULE: Rule = rule!(
    DrElephant { version: "2.0.9" },
    "spark-executor-load-balance",
    "Spark Executor Load Balance", tells Imbalance,
    Balance,
    |layers, advice| load_advised(layers, advice, Unbalanced)
)
.also_telling(&[TroubleKind::IdleExecutors]);

/// The message of a finding.
const MESSAGE: &str = "{name} of {executors_count} executors{life} is {least}× to {most}× the mean; the busiest worked \
                       {busiest_ms} per core ({limit})";

/// What is compared if executors lived for different times.
const PER_LIFE: &str = " per lifetime";

struct Unbalanced(Balance, Arc<AdviceParams>);

impl Check for Unbalanced {
    fn check(&self, app: &Application) -> Verdict {
        let app = &Advised { app, advice: &self.1 };
        let Self(params, _) = self;
        let Some(spark) = spark(app) else { return Verdict::NotApplicable };
        if spark.executors.is_empty() {
            return Verdict::NotApplicable;
        }
        if spark.any_unreadable(&[Counter::InputBytes, Counter::OutputBytes]) {
            return Verdict::NotEvaluated(unreadable(app, &[Counter::InputBytes, Counter::OutputBytes]));
        }
        let loads: Vec<Load> =
            spark.executors.iter().filter_map(|e| Load::of(app, spark, e, params)).collect();
        if loads.is_empty() {
            return Verdict::NotEvaluated("no executor has a known task time and lifetime".to_owned());
        }
        params.judge(app, spark, &loads)
    }

    fn needs_all(&self) -> bool {
        true
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks, Facet::Executors, Facet::ExecutorMetrics]
    }

    fn reads(&self, _kind: TaskKind) -> CounterMask {
        CounterMask::of(&[Counter::InputBytes, Counter::OutputBytes])
    }
}

impl Balance {
    fn judge(&self, app: &Advised<'_>, spark: &Spark, loads: &[Load]) -> Verdict {
        let deviations = Deviations::of(loads, !self.by_life);
        let metrics = [
            ("task time", "task_time_deviation", deviations.task_time, &self.task_time_deviation),
            ("bytes read", "input_deviation", deviations.input, &self.input_deviation),
            ("storage memory", "storage_deviation", deviations.storage, &self.storage_deviation),
            ("bytes written", "output_deviation", deviations.output, &self.output_deviation),
        ];
        let judged = match self.judged_by {
            JudgedBy::TaskTime => 1,
            JudgedBy::AnyMetric => metrics.len(),
        };
        let judge =
            |(_, _, deviation, cutoffs): &(&str, &str, f64, &Ascending<Ratio>)| cutoffs.severity(*deviation);
        // Take the first of equal metrics.
        let worst = metrics.iter().take(judged).rev().max_by_key(|metric| judge(metric));
        let Some(worst) = worst else { return Verdict::NotApplicable };
        let (name, key, deviation, cutoffs) = *worst;
        let busiest = busiest_time(app, &spark.executors);
        let idle = deviations.idle;
        let low = Severity::Low;
        let apart = |level| cutoffs.describe_in(level, |share| format!("{} above or below", percent(share)));
        let conditions = [
            (key, cutoffs.severity(deviation), apart(low)),
            ("idle_share", self.idle_share.severity(idle), self.idle_share.describe_in(low, percent)),
            ("busiest_time", self.busiest_time.severity(busiest.as_f64()), self.busiest_time.describe(low)),
        ];
        let severity = conditions.iter().map(|(_, severity, _)| *severity).min().unwrap_or_default();
        let limit_of_idle = self.idle_share.describe_in(severity, percent);
        let of_idle = format!("the others idle for {} more of the time: {limit_of_idle}", percent(idle));
        let of_busiest = format!("busiest: {}", self.busiest_time.describe(severity));
        let [by_deviation, by_idle, by_busiest] = conditions.each_ref().map(|(_, severity, _)| *severity);
        let passed = decisive(
            severity,
            &[(by_deviation, apart(severity)), (by_idle, of_idle), (by_busiest, of_busiest)],
        );
        let uneven = metrics.iter().skip(1).filter(|metric| judge(metric) > Severity::None);
        let uneven: Vec<&str> = uneven.map(|(name, ..)| *name).collect();
        let (least, most) = extremes(loads, name);
        Judgement::of(Subject::Application, severity)
            .tasks(spark.executors.len() as u64)
            .facts(deviations.evidence(loads.len() as u64, busiest))
            .message(
                MESSAGE,
                &[
                    ("name", &name),
                    ("life", if self.by_life { &PER_LIFE } else { &"" }),
                    ("least", &three_digits(least)),
                    ("most", &three_digits(most)),
                    ("limit", &limit(severity, passed, &conditions)),
                ],
            )
            .tells(if uneven.is_empty() { TroubleKind::IdleExecutors } else { TroubleKind::Imbalance })
            .advice(|| advice(app, &uneven))
            .into()
    }
}

/// The load of one executor; with `by_life` per millisecond of its lifetime.
struct Load {
    task_time: f64,
    input: f64,
    output: f64,
    storage: f64,
    cores: f64,
    /// The lifetime in milliseconds, as a weight: an executor that was busy for a few seconds does not unbalance hours.
    /// 1 without `by_life`.
    weight: f64,
}

impl Load {
    fn of(app: &Application, spark: &Spark, executor: &Executor, params: &Balance) -> Option<Self> {
        let totals = &executor.totals;
        // The task time of an executor without tasks is known: it is 0.
        let task_time = totals.task_time.or((totals.tasks == 0).then_some(Millis::ZERO))?;
        let life = if params.by_life {
            let life = memory::working_life(app, executor).or_else(|| memory::life(app, spark, executor));
            life.filter(|life| life.get() > 0)?.as_f64()
        } else {
            1.0
        };
        let bytes = |bytes: Option<Bytes>| bytes.unwrap_or_default().as_f64();
        let storage = bytes(executor.storage.peak_used);
        Some(Self {
            task_time: task_time.as_f64() / life,
            input: bytes(totals.input) / life,
            output: bytes(totals.output) / life,
            storage: if storage < params.ignored_storage.get() { 0.0 } else { storage },
            cores: memory::slots(app, executor) as f64,
            weight: life,
        })
    }
}

/// The deviations of the executors from their mean.
struct Deviations {
    task_time: f64,
    input: f64,
    output: f64,
    storage: f64,
    idle: f64,
}

impl Deviations {
    fn of(loads: &[Load], whole: bool) -> Self {
        let weights = || loads.iter().map(|load| load.weight);
        let deviation = |of: fn(&Load) -> f64| deviation(loads.iter().map(of).zip(weights()), whole);
        let busy = loads.iter().map(|load| (load.task_time / load.cores, load.weight));
        let mean = weighted_mean(busy.clone());
        let longest = weights().fold(f64::MIN_POSITIVE, f64::max);
        let over = busy.map(|(busy, weight)| (busy - mean) * weight / longest).fold(0.0, f64::max);
        Self {
            task_time: deviation(|load| load.task_time),
            input: deviation(|load| load.input),
            output: deviation(|load| load.output),
            storage: deviation(|load| load.storage),
            idle: over.min(1.0),
        }
    }

    fn evidence(&self, executors: u64, busiest: Millis) -> Vec<(&'static str, Measure)> {
        vec![
            ("executors_count", Measure::Count(executors)),
            ("task_time_deviation_ratio", Measure::Ratio(Some(self.task_time))),
            ("input_deviation_ratio", Measure::Ratio(Some(self.input))),
            ("storage_deviation_ratio", Measure::Ratio(Some(self.storage))),
            ("output_deviation_ratio", Measure::Ratio(Some(self.output))),
            ("idle_ratio", Measure::Ratio(Some(self.idle))),
            ("busiest_ms", Measure::Time(busiest)),
        ]
    }
}

/// The largest distance from the mean, as a multiple of the mean, of values with their weights; 0 if the mean is 0. With
/// `whole`, the mean is truncated as in Dr. Elephant.
fn deviation(values: impl Iterator<Item = (f64, f64)> + Clone, whole: bool) -> f64 {
    let mean = weighted_mean(values.clone());
    let mean = if whole { mean.trunc() } else { mean };
    if mean <= 0.0 {
        return 0.0;
    }
    let longest = values.clone().map(|(_, weight)| weight).fold(f64::MIN_POSITIVE, f64::max);
    values.map(|(value, weight)| (value - mean).abs() * (weight / longest)).fold(0.0, f64::max) / mean
}

fn weighted_mean(values: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let weights: f64 = values.clone().map(|(_, weight)| weight).sum();
    let sum: f64 = values.map(|(value, weight)| value * weight).sum();
    if weights > 0.0 { sum / weights } else { 0.0 }
}

/// The smallest and the largest value of a metric as multiples of the mean.
fn extremes(loads: &[Load], name: &str) -> (f64, f64) {
    let of = |load: &Load| match name {
        "bytes read" => load.input,
        "storage memory" => load.storage,
        "bytes written" => load.output,
        _ => load.task_time,
    };
    let mean = weighted_mean(loads.iter().map(|load| (of(load), load.weight)));
    let ratio = |value: f64| if mean > 0.0 { value / mean } else { 1.0 };
    let values = || loads.iter().map(|load| ratio(of(load)));
    (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max))
}

/// The task time of the busiest executor per core.
fn busiest_time(app: &Application, executors: &[Executor]) -> Millis {
    let time = |executor: &Executor| {
        let time = executor.totals.task_time.unwrap_or_default();
        Millis::new(time.get() / memory::slots(app, executor))
    };
    executors.iter().map(time).max().unwrap_or_default()
}

fn advice(app: &Advised<'_>, uneven: &[&str]) -> Vec<Advice> {
    if let Some(spread) = Crowded::of(app).and_then(|_| Crowded::advice(app)) {
        return vec![spread];
    }
    let mut advice = Vec::new();
    if !uneven.is_empty() {
        let uneven = uneven.join(" and ");
        advice.push(Advice::new(format!(
            "{uneven} also differ: repartition the data into smaller tasks of similar size, at least three per core"
        )));
    }
    if !app.allocates_dynamically() {
        advice.extend(dynamic_allocation(app));
    }
    if advice.is_empty() {
        advice.push(sooner(app));
    }
    advice
}

/// A shorter idle timeout than the one in force.
fn sooner(app: &Advised<'_>) -> Advice {
    match shorter_idle_timeout(app) {
        Some(line) => Advice::new("release idle executors sooner").set([line]),
        None => "repartition the data into smaller tasks of similar size, at least three per core".into(),
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp)] // exact arithmetic
mod tests {
    use super::*;
    use elephant_base::units::Timestamp;

    const ID: &str = RULE.id;

    /// Executors that live for ten minutes, each with its task time in seconds.
    fn app(seconds: &[u64]) -> Application {
        let mut app = elephant_sample::app(&[]);
        for (id, seconds) in seconds.iter().enumerate() {
            let executor = elephant_sample::executor(&mut app, &id.to_string());
            executor.totals.task_time = Some(Millis::from_secs(*seconds));
        }
        app.finished_at = Some(Timestamp::from_millis(600_000));
        app
    }

    #[test]
    fn deviations() {
        let of = |values: &[f64], whole| deviation(values.iter().map(|&value| (value, 1.0)), whole);
        assert_eq!(of(&[1.0, 1.0], false), 0.0);
        assert_eq!(of(&[0.0, 0.0], false), 0.0);
        assert_eq!(of(&[], false), 0.0);
        assert_eq!(of(&[1.0, 3.0], false), 0.5);
        assert_eq!(of(&[0.0, 2.0, 10.0], false), 1.5);
        assert_eq!(of(&[1.0, 2.0], true), 1.0);
        assert_eq!(of(&[0.0, 1.0], true), 0.0);
    }

    #[test]
    fn one_busy_executor_among_idle_ones_is_found() {
        assert_eq!(elephant_sample::severity(&app(&[600, 600, 600, 600]), ID, false), Some(Severity::None));
        assert_eq!(elephant_sample::severity(&app(&[600, 0, 0, 0]), ID, false), Some(Severity::Critical));
        assert_eq!(elephant_sample::severity(&app(&[600]), ID, false), Some(Severity::None));
    }

    #[test]
    fn short_and_idle_applications_are_harmless() {
        assert_eq!(elephant_sample::severity(&app(&[9, 0, 0, 0]), ID, false), Some(Severity::None));
        assert_eq!(elephant_sample::severity(&app(&[9, 0, 0, 0]), ID, true), Some(Severity::Critical));
    }

    #[test]
    fn executors_with_shorter_lifetimes_do_less() {
        let mut app = app(&[600, 60]);
        elephant_sample::spark(&mut app).executors[1].added_at = Some(Timestamp::from_millis(540_000));
        assert_eq!(elephant_sample::severity(&app, ID, false), Some(Severity::None));
        assert_eq!(elephant_sample::severity(&app, ID, true), Some(Severity::Severe));
    }

    #[test]
    fn bytes_alone_are_found_only_with_the_preset() {
        let mut app = app(&[600, 600]);
        elephant_sample::spark(&mut app).executors[0].totals.input = Some(Bytes::from_mib(100));
        assert_eq!(elephant_sample::severity(&app, ID, false), Some(Severity::None));
        assert_eq!(elephant_sample::severity(&app, ID, true), Some(Severity::Critical));
    }

    #[test]
    fn without_executors_the_rule_is_not_evaluated() {
        assert_eq!(elephant_sample::severity(&elephant_sample::app(&[]), ID, false), None);
        let mut unknown = app(&[600, 600]);
        for executor in &mut elephant_sample::spark(&mut unknown).executors {
            executor.totals.task_time = None;
        }
        assert_eq!(elephant_sample::evaluate(&unknown, ID, false).not_evaluated.len(), 1);
    }
}
