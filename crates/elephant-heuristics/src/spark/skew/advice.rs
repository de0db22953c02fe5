//! Advice against uneven data: smaller splits, adaptive joins, or other keys.

use super::unsplit::{self, Obstacle};
use crate::spark::support::application::{change_to, runs_sql};
use crate::spark::support::partitions;
use elephant_base::units::{Bytes, three_digits};
use elephant_catalogue::Advised;
use elephant_model::engine_facts::spark::{SPLITS_HASH_JOINS, SPLITS_JOINS};
use elephant_model::model::Application;
use elephant_model::model::conf::{Conf, ConfKey};
use elephant_model::model::spark::{Operator, Spark, SqlExecution, Stage};
use elephant_query::FixedBy;
use elephant_rule::finding::{Advice, SettingChange};
use elephant_rule::wording::change;

const OTHER_KEYS: &str = "distribute the most frequent keys: add a random salt to them and aggregate in two steps, first with \
                          the salt, then without it";
const OTHER_JOIN: &str =
    "broadcast the smaller side of the join, or add a random salt to the most frequent keys of both sides";

/// The uneven data of a stage.
#[derive(Debug, Clone, Copy)]
pub(in crate::spark) struct Skewed {
    /// Whether it is read from files rather than from a shuffle.
    pub(in crate::spark) input: bool,
    /// The bytes of the largest task and of the median one.
    pub(in crate::spark) bytes: Option<(Bytes, Bytes)>,
}

/// Remedies for uneven data of a stage.
pub(in crate::spark) fn against(
    app: &Advised<'_>,
    spark: &Spark,
    stage: &Stage,
    skewed: Skewed,
) -> Vec<Advice> {
    if let Some(chosen) = partitions::of_stage(app, spark, stage) {
        return vec![chosen];
    }
    let fixed = FixedBy::of(app, spark, stage);
    if let Some(even) = fixed.and_then(|fixed| more_even(fixed, skewed.input)) {
        return vec![even.into()];
    }
    if skewed.input {
        return vec![smaller_splits(app, spark, stage, skewed)];
    }
    let Some(join) = Join::of(app, spark, stage) else {
        return vec![if is_called_join(stage) { OTHER_JOIN } else { OTHER_KEYS }.into()];
    };
    let obstacle = Some(()).filter(|()| join.splits).and_then(|()| unsplit::obstacle(app, spark, stage));
    let is_last = obstacle.as_ref().is_some_and(Obstacle::is_checked_last);
    // Settings do not help where the plan has another form.
    if let Some(obstacle) = obstacle.as_ref().filter(|_| !is_last) {
        return vec![obstacle.advice(app)];
    }
    let (changes, why) = skewed.bytes.map(|bytes| join.split(app, bytes)).unwrap_or_default();
    if changes.is_empty() {
        return vec![obstacle.map_or_else(|| OTHER_JOIN.into(), |obstacle| obstacle.advice(app))];
    }
    vec![
        Advice::new(format!("let Spark split the skewed partitions of the join ({why})"))
            .set_for_first(changes),
    ]
}

/// How what fixes the number of tasks divides the data more evenly; `None` if it does not divide them.
fn more_even(fixed: FixedBy, input: bool) -> Option<&'static str> {
    match fixed {
        FixedBy::Jdbc if input => Some(
            "divide the read of the table evenly: a partitionColumn with even values, bounds that fit them (lowerBound, \
             upperBound), or predicates that each select as many rows",
        ),
        FixedBy::Kafka if input => Some(
            "divide the topic evenly: minPartitions of the Kafka source splits its large partitions; or write messages with \
             keys that are distributed evenly",
        ),
        FixedBy::Regions if input => Some(
            "divide the HBase table evenly: split its large regions, or begin the keys of rows with a salt",
        ),
        FixedBy::Buckets if input => {
            Some("write the table with buckets of a column whose values are distributed evenly")
        }
        FixedBy::Parallelized => {
            Some("pass more slices than there are large elements to the call that makes the data")
        }
        FixedBy::Coalesce => Some(
            "coalesce merges whole partitions, however large: use repartition, which distributes rows evenly",
        ),
        FixedBy::Retry => {
            Some("the attempt only computed lost partitions again: see the failures that lost them")
        }
        _ => None,
    }
}

/// Operations of RDDs that join.
const JOINS: [&str; 5] = ["join", "leftOuterJoin", "rightOuterJoin", "fullOuterJoin", "cogroup"];

/// Whether the call that created a stage joins, by its name: "join at Orders.scala:210".
fn is_called_join(stage: &Stage) -> bool {
    let call = stage.name.as_deref().and_then(|name| name.split(" at ").next());
    call.is_some_and(|call| JOINS.contains(&call.trim()))
}

/// Smaller splits of files, if a setting bounds them.
fn smaller_splits(app: &Advised<'_>, spark: &Spark, stage: &Stage, skewed: Skewed) -> Advice {
    let even = "split the input more evenly: files of similar size in a format that can be split";
    let now = app.in_force(ConfKey::FilesMaxPartitionBytes, |conf, key| conf.spark_size(key, Bytes::new(1)));
    let Some(now) = now else { return even.into() };
    // A larger split is a file that cannot be split.
    let bounded = skewed.bytes.filter(|(largest, _)| runs_sql(spark, stage) && *largest <= now);
    let Some((largest, median)) = bounded else { return even.into() };
    let smaller = median.max(Bytes::new(largest.get() / 8));
    if largest < app.advice.uneven_splits.bytes() || smaller >= now {
        return even.into();
    }
    let split = change(app, ConfKey::FilesMaxPartitionBytes, in_spark(smaller));
    Advice::new("if the files can be split, use smaller splits").set([split]).conditional()
}

/// A join that a stage runs.
struct Join {
    /// Whether adaptive execution can split its partitions.
    splits: bool,
}

impl Join {
    /// `None` if the stage runs no join of shuffled data.
    fn of(app: &Application, spark: &Spark, stage: &Stage) -> Option<Self> {
        let job = spark
            .jobs
            .iter()
            .find(|job| job.sql_execution.is_some() && job.stages.binary_search(&stage.id.stage).is_ok())?;
        let execution = spark.sql.iter().find(|execution| Some(execution.id) == job.sql_execution)?;
        let of_execution = |stage: &&Stage| {
            let mut jobs = spark.jobs.iter().filter(|other| other.sql_execution == job.sql_execution);
            jobs.any(|job| job.stages.binary_search(&stage.id.stage).is_ok())
        };
        let stages: Vec<&Stage> = spark.stages.iter().filter(of_execution).collect();
        let named = |name: &str| runs_operator(app, execution, (stage, &stages), name);
        let (sorted, hashed) = (named("SortMergeJoin"), named("ShuffledHashJoin"));
        let version = app.version();
        let since = |first| version.is_some_and(|version| version >= first);
        let splits = sorted && since(SPLITS_JOINS) || hashed && since(SPLITS_HASH_JOINS);
        (sorted || hashed).then_some(Self { splits })
    }

    /// Settings with which adaptive execution splits a partition of size `largest`, where the median partition has size
    /// `median`, and why they do not: the first condition that does not hold. Empty if no setting does, or if all are already
    /// in force.
    fn split(&self, app: &Advised<'_>, (largest, median): (Bytes, Bytes)) -> (Vec<SettingChange>, String) {
        let factor = app.in_force(ConfKey::AdaptiveSkewFactor, Conf::fraction);
        let ratio = largest.as_f64() / median.as_f64();
        if !self.splits || ratio <= app.advice.uneven_join.get() {
            return (Vec::new(), String::new());
        }
        let size = |key| app.in_force(key, |conf, key| conf.spark_size(key, Bytes::new(1)));
        let (mut changes, mut why) = (Vec::new(), None);
        if !is_adaptive(app) {
            changes.extend(change_to(app, ConfKey::AdaptiveEnabled, true));
            why = Some("adaptive execution is off".to_owned());
        }
        if app.conf.flag(ConfKey::AdaptiveSkewJoin) == Some(false) {
            changes.push(change(app, ConfKey::AdaptiveSkewJoin, true));
            why = why.or_else(|| Some("its skew join is off".to_owned()));
        }
        let threshold = size(ConfKey::AdaptiveSkewThreshold);
        if threshold.is_none_or(|threshold| threshold >= largest) {
            let lower = in_spark(Bytes::new(largest.get() / 2));
            changes.push(change(app, ConfKey::AdaptiveSkewThreshold, lower));
            let least = threshold.map(|least| format!(" of {least}")).unwrap_or_default();
            why = why.or_else(|| Some(format!("the largest, {largest}, is below the threshold{least}")));
        }
        if factor.is_none_or(|factor| ratio <= factor) {
            changes.push(change(app, ConfKey::AdaptiveSkewFactor, 2));
            let least = factor.map(|least| format!(" of {}", three_digits(least))).unwrap_or_default();
            let ratio = three_digits(ratio);
            why =
                why.or_else(|| Some(format!("the largest is {ratio}× the median, below the factor{least}")));
        }
        // Parts of a split partition have about this size.
        if size(ConfKey::AdaptivePartitionSize).is_none_or(|part| part.get() > largest.get() / 2) {
            let part = median.max(Bytes::new(largest.get() / 16));
            changes.push(change(app, ConfKey::AdaptivePartitionSize, in_spark(part)));
            why = why.or_else(|| Some("parts would be as large as the advisory size".to_owned()));
        }
        (changes, why.unwrap_or_default())
    }
}

/// Whether the stage runs an operator of this name: one of the operator's metrics is among the stage's values. `all` are
/// the stages of the execution. If none of them has a value of such a metric, whether the plan has such an operator.
fn runs_operator(
    app: &Application,
    execution: &SqlExecution,
    (stage, all): (&Stage, &[&Stage]),
    name: &str,
) -> bool {
    let is_named =
        |operator: &Operator| app.strings.get(operator.name).is_some_and(|found| found.starts_with(name));
    let has =
        |stage: &Stage, metric: u64| stage.accumulables.binary_search_by_key(&metric, |(id, _)| *id).is_ok();
    let plan = &execution.plan;
    let named = || (0_u32..).zip(&plan.operators).filter(|(_, operator)| is_named(operator));
    let metrics = || named().flat_map(|(place, _)| plan.metrics_of(place));
    if metrics().any(|metric| all.iter().any(|stage| has(stage, metric.accumulator))) {
        return metrics().any(|metric| has(stage, metric.accumulator));
    }
    named().next().is_some()
}

/// Whether adaptive execution is on.
fn is_adaptive(app: &Application) -> bool {
    app.in_force(ConfKey::AdaptiveEnabled, Conf::flag) == Some(true)
}

/// A size in Spark's syntax, in whole MiB or, below, in whole KiB.
fn in_spark(size: Bytes) -> String {
    let mib = size.get().div_ceil(Bytes::PER_MIB);
    if mib > 1 { format!("{mib}m") } else { format!("{}k", size.get().div_ceil(1024).max(1)) }
}
