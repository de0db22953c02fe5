//! Cached tables: which operators fill each of them, and which scans read it.
//!
//! All queries that use a cached table have the same plan below their scan of it, with the same accumulators
//! (`InMemoryRelation.cachedPlan`). So scans with a common accumulator below them read one table.

use std::collections::{BTreeMap, BTreeSet};

use crate::ground::Ground;
use crate::query::Query;
use crate::words::below;
use elephant_model::model::spark::{OperatorKind, SqlCounter, SqlExecution};

/// A cached table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedTable {
    /// The first of the costly queries that scans it, and its scan there, as indices into [`Ground::queries`] and
    /// [`Query::operators`].
    pub first: (usize, usize),
    /// How often stages scanned it, over all queries of the application.
    pub reads: u64,
    /// The rows that all tasks computed for it; `None` if the plan does not count them.
    pub computed_rows: Option<u64>,
    /// Its rows, from the scan that returned most; `None` if none returned all.
    pub rows: Option<u64>,
}

impl CachedTable {
    /// The share of the computed rows that had been computed before: their partitions were not in the cache any more, or
    /// never.
    #[must_use]
    pub fn recomputed(&self) -> Option<f64> {
        let (computed, rows) = self.computed_rows.zip(self.rows.filter(|rows| *rows > 0))?;
        Some(computed.saturating_sub(rows) as f64 / computed.max(1) as f64)
    }
}

/// A scan of a cached table.
struct Reading {
    reads: u64,
    computed: Option<u64>,
    rows: Option<u64>,
    accumulators: BTreeSet<u64>,
}

impl Reading {
    fn of(query: &Query<'_>, scan: usize) -> Option<Self> {
        let operator = query.operators.get(scan)?;
        let filling =
            query.operators.get(below(query, scan)).and_then(|scan| scan.get(1..)).unwrap_or_default();
        let values = filling.iter().flat_map(|operator| &operator.values);
        let accumulators: BTreeSet<u64> = values.map(|value| value.accumulator).collect();
        let own = operator.total(SqlCounter::OutputRows);
        Some(Self {
            reads: if operator.is_placed_by_value { operator.stages.len() as u64 } else { 0 },
            computed: computed_rows(query, scan),
            rows: own.filter(|_| !has_predicates(operator.text)),
            accumulators,
        })
        .filter(|reading| !reading.accumulators.is_empty())
    }
}

/// The rows that were computed for a cached table: those of the topmost operator that counts them, unless one above it may
/// drop or add some.
fn computed_rows(query: &Query<'_>, scan: usize) -> Option<u64> {
    let mut place = scan;
    loop {
        let mut children =
            query.operators.iter().enumerate().filter(|(_, other)| other.parent == Some(place));
        let (child, operator) = children.next().filter(|_| children.next().is_none())?;
        if let Some(rows) = operator.total(SqlCounter::OutputRows) {
            return Some(rows);
        }
        let keeps_all = matches!(
            operator.kind,
            OperatorKind::Pipeline
                | OperatorKind::Reference
                | OperatorKind::Transition
                | OperatorKind::Project
                | OperatorKind::Sort
                | OperatorKind::Window
                | OperatorKind::Exchange
        );
        place = Some(child).filter(|_| keeps_all)?;
    }
}

/// Whether a scan leaves out batches of rows by their statistics: "`InMemoryTableScan [id#1], [(id#1 > 5)]`".
fn has_predicates(text: &str) -> bool {
    crate::plan_text::lists(text).get(1).is_some_and(|predicates| !predicates.trim().is_empty())
}

impl Ground<'_> {
    /// The cached tables that costly queries scan, in the order of their first scans.
    #[must_use]
    pub fn cached_tables(&self) -> Vec<CachedTable> {
        let mut tables: Vec<CachedTable> = Vec::new();
        let mut by_accumulator: BTreeMap<u64, usize> = BTreeMap::new();
        for (at, query) in self.queries.iter().enumerate() {
            for scan in scans(query) {
                let Some(reading) = Reading::of(query, scan) else { continue };
                let known = reading.accumulators.iter().find_map(|id| by_accumulator.get(id).copied());
                let place = known.unwrap_or(tables.len());
                if known.is_none() {
                    tables.push(CachedTable { first: (at, scan), reads: 0, computed_rows: None, rows: None });
                }
                by_accumulator.extend(reading.accumulators.iter().map(|id| (*id, place)));
            }
        }
        if tables.is_empty() {
            return tables;
        }
        // Reading a cache may be so fast that the query is not costly.
        let using = self.spark.sql.iter().filter(|execution| uses_cache(execution));
        for query in using.map(|execution| self.all().query(execution)) {
            for reading in scans(&query).filter_map(|scan| Reading::of(&query, scan)) {
                let known = reading.accumulators.iter().find_map(|id| by_accumulator.get(id).copied());
                let Some(table) = known.and_then(|place| tables.get_mut(place)) else { continue };
                table.reads += reading.reads;
                table.rows = table.rows.max(reading.rows);
                table.computed_rows = table.computed_rows.max(reading.computed);
            }
        }
        tables
    }
}

/// The scans of cached tables of a query, without those that fill another cached table.
fn scans<'q>(query: &'q Query<'_>) -> impl Iterator<Item = usize> + 'q {
    let all = query.operators.iter().enumerate();
    all.filter(|(_, operator)| operator.is_last && operator.kind == OperatorKind::CachedScan)
        .map(|(place, _)| place)
}

fn uses_cache(execution: &SqlExecution) -> bool {
    execution.plan.operators.iter().any(|operator| operator.kind == OperatorKind::CachedScan)
}
