//! `spark-cache`: cached tables that no other query reads, and those whose rows are computed again.

use super::loss::Limits;
use super::on_queries::{Judge, OnQueries, name_with_others};
use crate::declare::spark as rule;
use elephant_base::severity::Severity;
use elephant_catalogue::{Rule, load};
use elephant_query::{
    CachedTable, Cost, Ground, OperatorKind, Query, TaskTime, below, name_of_source, sources_below,
};
use elephant_rule::finding::{Judgement, Measure, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Duration, Quantity, Ratio};
use elephant_rule::params::rule_params;

rule_params! {
    /// Parameters of `spark-cache`.
    pub(super) struct Caches / CachesLayer {
        /// Time lost / run time of the application.
        lost_share: Ascending<Ratio>,
        /// Time lost.
        lost_time: Ascending<Duration>,
        /// Rows of a cached table that were computed again / all rows that were computed for it. Below it, the table is not
        /// judged.
        recomputed_share: Quantity<Ratio>,
        /// Severity at most of a cached table that one query reads, if that query does more than count its rows: what keeping
        /// the rows cost is unknown then.
        read_once_at_most: Severity,
    }
}

pub(super) const RULE: Rule = rule!(Own, "spark-cache", "Spark Cache", tells Cache, Caches, |layers, _| {
    load(layers, OnQueries::<Caches>)
})
.measured_by("lost_ratio", Worse::Higher);

const ONLY_COUNTED: &str = "{query} fills a cached table[ from {source}] that no query reads again: counting its rows only \
                            filled the cache; up to {lost_ms}, {lost_ratio:%} of the run time ({limit})";
const READ_ONCE: &str = "{query} fills a cached table[ from {source}] and is the only one that reads it; computing and keeping \
                         the rows took up to {lost_ms}, {lost_ratio:%} of the run time ({limit})";
const RECOMPUTED: &str = "{query} fills a cached table[ from {source}] that is read {reads} times, but {recomputed_ratio:%} of \
                          the rows computed for it had been computed before: not all partitions stay in the cache; up to \
                          {lost_ms}, {lost_ratio:%} of the run time ({limit})";

/// What is wrong with a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrong {
    OnlyCounted,
    ReadOnce,
    Recomputed,
}

impl Judge for Caches {
    const FITS: &'static str = "cached tables are read again, or took little time";
    const NEEDS_ALL: bool = true;

    fn judge(&self, ground: &Ground<'_>) -> Vec<Judgement> {
        let tables = ground.cached_tables();
        let wrong: Vec<(Wrong, &CachedTable)> =
            tables.iter().filter_map(|table| Some((self.wrong(ground, table)?, table))).collect();
        let kinds = [Wrong::OnlyCounted, Wrong::ReadOnce, Wrong::Recomputed];
        let of_kind =
            |kind: Wrong| wrong.iter().filter(move |(wrong, _)| *wrong == kind).map(|(_, table)| *table);
        kinds
            .into_iter()
            .filter_map(|kind| self.judge_tables(ground, kind, &of_kind(kind).collect::<Vec<_>>()))
            .collect()
    }
}

impl Caches {
    fn wrong(&self, ground: &Ground<'_>, table: &CachedTable) -> Option<Wrong> {
        let (query, scan) = table.first;
        let query = ground.queries.get(query)?;
        match table.reads {
            // Without values of its own, a scan tells nothing.
            0 => None,
            1 if only_counts(query, scan) => Some(Wrong::OnlyCounted),
            1 => Some(Wrong::ReadOnce),
            _ => table
                .recomputed()
                .filter(|share| *share >= self.recomputed_share.get())
                .map(|_| Wrong::Recomputed),
        }
    }

    /// Caches with the same mistake are one finding.
    fn judge_tables(&self, ground: &Ground<'_>, wrong: Wrong, tables: &[&CachedTable]) -> Option<Judgement> {
        let mut time = TaskTime::default();
        let mut costs: Vec<(&CachedTable, Cost)> = Vec::new();
        for table in tables {
            let of_table = time_of(ground, wrong, table)?;
            costs.extend(ground.cost(&of_table).map(|cost| (*table, cost)));
            time.add_all(&of_table);
        }
        let (most, _) = costs.iter().rev().max_by_key(|(_, cost)| cost.wall)?;
        let cost = ground.cost(&time)?;
        let limits = Limits { share: &self.lost_share, time: &self.lost_time };
        let mut loss = limits.loss(cost.wall, ground.run_time)?;
        if wrong == Wrong::ReadOnce {
            loss.severity = loss.severity.min(self.read_once_at_most);
        }
        let query = ground.queries.get(most.first.0)?;
        let source = sources_below(query, most.first.1).into_iter().find(|scan| *scan != most.first.1);
        let source = source.and_then(|scan| query.operators.get(scan));
        let recomputed = most.recomputed().filter(|_| wrong == Wrong::Recomputed);
        let judged = loss
            .judgement(Some(&cost))
            .fact("tables_count", Measure::Count(tables.len() as u64))
            .fact("reads_count", Measure::Count(most.reads))
            .facts(recomputed.map(|share| ("recomputed_ratio", Measure::Ratio(Some(share)))));
        let words: [(_, &dyn std::fmt::Display); 4] = [
            ("source", &source.map(name_of_source).unwrap_or_default()),
            ("query", &name_with_others(query, costs.len().saturating_sub(1))),
            ("reads", &most.reads),
            ("limit", &loss.limit),
        ];
        let (template, advice) = words_of(wrong);
        Some(judged.message(template, &words).advice(|| vec![advice]))
    }
}

const fn words_of(wrong: Wrong) -> (&'static str, &'static str) {
    match wrong {
        Wrong::OnlyCounted => (
            ONLY_COUNTED,
            "remove cache() or persist() from data frames that only one query uses, and the count() that fills them",
        ),
        Wrong::ReadOnce => (
            READ_ONCE,
            "remove cache() or persist() from data frames that only one query uses: it takes memory and time for nothing",
        ),
        Wrong::Recomputed => (
            RECOMPUTED,
            "let the cache hold all partitions: select the columns and rows that later queries need before cache(), \
             unpersist() what is no longer read, use persist(MEMORY_AND_DISK) instead of MEMORY_ONLY, and keep executors \
             that have cached data (spark.dynamicAllocation.cachedExecutorIdleTimeout)",
        ),
    }
}

/// What the mistake may have cost.
fn time_of(ground: &Ground<'_>, wrong: Wrong, table: &CachedTable) -> Option<TaskTime> {
    let (at, scan) = table.first;
    let query = ground.queries.get(at)?;
    Some(match wrong {
        Wrong::OnlyCounted => ground.time_of_all(query, 0..query.operators.len()),
        Wrong::ReadOnce => ground.time_of_all(query, below(query, scan)),
        Wrong::Recomputed => {
            let filling = below(query, scan).skip(1);
            ground.time_of_all(query, filling).scaled(table.recomputed()?)
        }
    })
}

/// Whether a query only counts the rows of a scan: then filling the cache was all that it was for.
fn only_counts(query: &Query<'_>, scan: usize) -> bool {
    let mut place = query.operators.get(scan).and_then(|scan| scan.parent);
    let mut counts = false;
    while let Some(operator) = place.and_then(|at| query.operators.get(at)) {
        match operator.kind {
            OperatorKind::Pipeline
            | OperatorKind::Reference
            | OperatorKind::Project
            | OperatorKind::Transition
            | OperatorKind::Exchange => {}
            OperatorKind::Aggregate
                if operator.text.contains("keys=[], functions=[count(1)])")
                    || operator.text.contains("keys=[], functions=[partial_count(1)])") =>
            {
                counts = true;
            }
            _ => return false,
        }
        place = operator.parent;
    }
    counts
}
