//! `spark-partition-pruning`: scans that read all partitions of a source although a condition keeps the rows of a few.

use std::collections::{BTreeMap, BTreeSet};

use super::loss::Limits;
use super::on_queries::{Judge, OnQueries, Site, name_with_others, sites};
use super::rows::inputs;
use crate::declare::spark as rule;
use elephant_base::units::Millis;
use elephant_catalogue::{Rule, load};
use elephant_query::{
    Ground, OperatorKind, SqlCounter, TaskTime, Unpruned, WhyUnpruned, chooses_partitions, feeding,
    filter_above, name_of_source, partition_columns, unpruned, without_numbers,
};
use elephant_rule::finding::{Judgement, Measure, Worse, percent};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio};
use elephant_rule::params::rule_params;
use elephant_rule::wording::grouped;

rule_params! {
    /// Parameters of `spark-partition-pruning`.
    pub(super) struct PartitionPruning / PartitionPruningLayer {
        /// Time lost / run time of the application.
        lost_share: Ascending<Ratio>,
        /// Time lost.
        lost_time: Ascending<Duration>,
        /// Scans of fewer partitions are not judged.
        min_partitions: Quantity<Count>,
        /// A condition on other columns should choose partitions, too, if it keeps at most this share of the rows.
        few_rows: Quantity<Ratio>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "spark-partition-pruning", "Spark Partition Pruning", tells Scan, PartitionPruning, |layers, _| {
        load(layers, OnQueries::<PartitionPruning>)
    })
    .measured_by("lost_ratio", Worse::Higher);

const UNUSED: &str = "{query} reads {partitions} partitions of {source}, divided by {columns}: {condition} prunes none of them, \
                      because {why}[, and then keeps {kept} of the rows]; reading the others took up to {lost_ms}, \
                      {lost_ratio:%} of the run time ({limit})";
const NO_CONDITION: &str = "{query} reads all {partitions} partitions of {source}, divided by {columns}, because no condition \
                            names {columns}; {condition} then keeps {kept} of the rows; reading the others took up to \
                            {lost_ms}, {lost_ratio:%} of the run time ({limit})";

impl Judge for PartitionPruning {
    const FITS: &'static str = "no scan reads partitions for long that a condition could leave out";

    fn judge(&self, ground: &Ground<'_>) -> Vec<Judgement> {
        let wanted = |kind| kind == OperatorKind::Scan;
        // The same mistake in several queries is one.
        let mut alike: BTreeMap<(String, Option<WhyUnpruned>), Vec<Whole<'_, '_>>> = BTreeMap::new();
        for whole in sites(ground, wanted).filter_map(|scan| self.reads_whole(scan)) {
            let key = (name_of_source(whole.site.operator), whole.unpruned.as_ref().map(|it| it.why));
            alike.entry(key).or_default().push(whole);
        }
        alike.into_values().filter_map(|scans| self.judge_scans(ground, &scans)).collect()
    }
}

/// A scan of all partitions, above which a condition drops rows.
struct Whole<'g, 'a> {
    site: Site<'g, 'a>,
    partitions: u64,
    columns: String,
    condition: String,
    /// The condition on columns of partitions; `None` if it names other columns only.
    unpruned: Option<Unpruned>,
    /// The share of the rows that it keeps.
    kept: Option<f64>,
    /// The time of what reads and drops the others.
    time: TaskTime,
    /// The same on the driver: listing files.
    listed: Millis,
}

impl PartitionPruning {
    fn reads_whole<'g, 'a>(&self, site: Site<'g, 'a>) -> Option<Whole<'g, 'a>> {
        let Site { ground, query, place, operator } = site;
        let partitions = operator.total(SqlCounter::PartitionsRead)?;
        (partitions as f64 >= self.min_partitions.get()).then_some(())?;
        let unpruned = unpruned(query, place);
        let (filter, columns, condition) = match &unpruned {
            Some(found) => (found.filter, found.columns.join(", "), found.condition.clone()),
            None if chooses_partitions(operator) => return None,
            None => {
                let (filter, condition) = filter_above(query, place)?;
                let columns: Vec<_> = partition_columns(operator).into_iter().map(without_numbers).collect();
                (filter, columns.join(", "), condition)
            }
        };
        let rows_in = inputs(query, filter).first().copied();
        let rows_out = query.operators.get(filter)?.total(SqlCounter::OutputRows);
        let kept = rows_in.zip(rows_out).map(|(all, kept)| kept as f64 / all.max(1) as f64);
        if unpruned.is_none() && kept.is_none_or(|kept| kept > self.few_rows.get()) {
            return None;
        }
        let spared = 1.0 - kept.unwrap_or_default().min(1.0);
        let listed = operator.millis(SqlCounter::MetadataTime).unwrap_or_default();
        Some(Whole {
            site,
            partitions,
            columns,
            condition,
            unpruned,
            kept,
            time: ground.time_of_all(query, feeding(query, filter)).scaled(spared),
            listed: Millis::from_f64(listed.as_f64() * spared).unwrap_or_default(),
        })
    }

    fn judge_scans(&self, ground: &Ground<'_>, scans: &[Whole<'_, '_>]) -> Option<Judgement> {
        let mut time = TaskTime::default();
        for scan in scans {
            time.add_all(&scan.time);
        }
        let listed: Millis = scans.iter().map(|scan| scan.listed).sum();
        let cost = ground.cost(&time)?;
        let limits = Limits { share: &self.lost_share, time: &self.lost_time };
        let loss = limits.loss((cost.wall + listed).min(ground.run_time), ground.run_time)?;
        let wall = |scan: &Whole<'_, '_>| ground.cost(&scan.time).map(|cost| cost.wall);
        let most = scans.iter().enumerate().max_by_key(|(at, scan)| (wall(scan), std::cmp::Reverse(*at)));
        let (_, most) = most?;
        let judged = loss
            .judgement(Some(&cost))
            .fact("scans_count", Measure::Count(scans.len() as u64))
            .fact("partitions_count", Measure::Count(most.partitions))
            .facts(most.kept.map(|kept| ("kept_ratio", Measure::Ratio(Some(kept)))))
            .fact("listing_ms", Measure::Time(listed));
        let queries: BTreeSet<u64> = scans.iter().map(|scan| scan.site.query.execution.id).collect();
        let why = most.unpruned.as_ref().map(|found| reason(found.why));
        let words: [(_, &dyn std::fmt::Display); 8] = [
            ("query", &name_with_others(most.site.query, queries.len().saturating_sub(1))),
            ("partitions", &grouped(i128::from(most.partitions))),
            ("source", &name_of_source(most.site.operator)),
            ("columns", &most.columns),
            ("condition", &most.condition),
            ("why", &why.unwrap_or_default()),
            ("kept", &most.kept.map(percent).unwrap_or_default()),
            ("limit", &loss.limit),
        ];
        let template = if why.is_some() { UNUSED } else { NO_CONDITION };
        Some(judged.message(template, &words).advice(|| vec![advice(most)]))
    }
}

const fn reason(why: WhyUnpruned) -> &'static str {
    match why {
        WhyUnpruned::Python => "a Python function runs only after reading",
        WhyUnpruned::OtherColumns => "it also needs columns of the files",
        WhyUnpruned::NotEvaluated => "Spark does not evaluate it before reading",
    }
}

fn advice(scan: &Whole<'_, '_>) -> String {
    let Whole { columns, condition, .. } = scan;
    match scan.unpruned.as_ref().map(|found| found.why) {
        Some(WhyUnpruned::Python) => format!(
            "compare {columns} with a value without the Python function, such as {columns} = …, or use a built-in function \
             of Spark SQL in it"
        ),
        Some(WhyUnpruned::OtherColumns) => {
            format!("add a condition on {columns} alone, such as {columns} >= …, next to {condition}")
        }
        Some(WhyUnpruned::NotEvaluated) => {
            format!("compare {columns} itself with a value, without a function, such as {columns} = …")
        }
        None => format!(
            "if the rows that {condition} keeps are in few partitions, also filter on {columns}; otherwise sort or cluster \
             the files by the columns of this condition when they are written"
        ),
    }
}
