//! Queries as reports show them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::dynamic_pruning::{DynamicPruning, dynamic_pruning};
use crate::feeders::in_time_of;
use crate::ground::Ground;
use crate::query::{PlacedOperator, Query};
use crate::told::{Told, told};
use crate::wall::Wall;
use crate::words::{name_of_operator, name_of_query};
use elephant_base::state::State;
use elephant_base::units::{Bytes, Millis, Timestamp};
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{SqlCounter, StageAttempt};

/// How much of the queries a report has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extent {
    /// The most queries, those first that took longest.
    pub queries: usize,
    /// Whether all their operators are included, or only those that took most of their time.
    pub operators: bool,
}

/// A query of an application.
#[derive(Debug, Clone, PartialEq, State)]
pub struct QuerySummary {
    /// The id of the SQL execution.
    pub id: u64,
    /// That of the execution that the user started, if this one is a part of it.
    pub root: Option<u64>,
    /// "query 12 "daily import"".
    pub name: String,
    /// When it started.
    pub started_at: Option<Timestamp>,
    /// Its wall time; `None` if the log lacks its end, or that of a job.
    pub wall: Option<Wall>,
    /// Its part of the run time, from 0 to 1.
    pub share: Option<f64>,
    /// What is worth telling of it in one line.
    pub told: Vec<Told>,
    /// The error it ended with.
    pub error: Option<String>,
    /// The stage attempts that ran for it.
    pub stages: Vec<StageAttempt>,
    /// The time of their tasks in executors.
    pub task_time: Option<Millis>,
    /// The part of that time that the timings of its operators explain.
    pub explained: Option<Millis>,
    /// What they read from outside the application.
    pub input: Option<Bytes>,
    /// What they wrote outside the application.
    pub output: Option<Bytes>,
    /// What they wrote for other stages.
    pub shuffled: Option<Bytes>,
    /// What did not fit into memory.
    pub spilled: Option<Bytes>,
    /// Its operators, parents before children; those that adaptive execution replaced at the end.
    pub operators: Vec<OperatorSummary>,
}

/// An operator of a query.
#[derive(Debug, Clone, PartialEq, State)]
pub struct OperatorSummary {
    /// Its place among all operators of the query.
    pub place: u32,
    /// The place of the operator that takes its rows.
    pub parent: Option<u32>,
    /// The place of the exchange whose rows are used again, if the plan tells this operator a second time below it.
    pub repeats: Option<u32>,
    /// "`SortMergeJoin` on `k`".
    pub name: String,
    /// Its node with keys and expressions.
    pub text: String,
    /// Whether it is part of the last plan.
    pub is_last: bool,
    /// Whether it only wraps other operators, or stands for one.
    pub only_refers: bool,
    /// Whether it moves rows to other tasks.
    pub moves_rows: bool,
    /// The stage attempts in which it ran.
    pub stages: Vec<StageAttempt>,
    /// Its own time in tasks; `None` if no timing tells.
    pub time: Option<Millis>,
    /// The places of operators that feed it and whose time this contains, because no timing tells them apart.
    pub time_includes: Vec<u32>,
    /// The part of the time of all tasks of the query, from 0 to 1.
    pub share: Option<f64>,
    /// The rows that it passed on.
    pub rows: Option<u64>,
    /// The bytes that it read, sent or wrote.
    pub bytes: Option<Bytes>,
    /// The bytes that it spilled.
    pub spilled: Option<Bytes>,
    /// The joins that chose the partitions that it reads.
    pub pruned_by: Vec<PrunedBy>,
}

/// A join that chose partitions of a scan while the query ran ([`DynamicPruning`]).
#[derive(Debug, Clone, PartialEq, Eq, State)]
pub struct PrunedBy {
    /// The columns of partitions.
    pub columns: Vec<String>,
    /// The place of the join, if the plan names the columns in one.
    pub join: Option<u32>,
    /// Its name.
    pub name: Option<String>,
    /// The place of the operator that collects its keys, if the plan has it.
    pub subquery: Option<u32>,
}

/// How many operators a short summary has.
const FEW: usize = 3;

impl QuerySummary {
    /// A query about which nothing is known.
    #[doc(hidden)]
    #[must_use]
    pub fn blank(id: u64) -> Self {
        Self {
            id,
            root: None,
            name: format!("query {id}"),
            started_at: None,
            wall: None,
            share: None,
            told: Vec::new(),
            error: None,
            stages: Vec::new(),
            task_time: None,
            explained: None,
            input: None,
            output: None,
            shuffled: None,
            spilled: None,
            operators: Vec::new(),
        }
    }

    /// The same with only the operators that took most of the time of its tasks, those first that took longest.
    #[must_use]
    pub fn with_few_operators(mut self) -> Self {
        self.operators.retain(|operator| operator.time.is_some());
        self.operators.sort_by_key(|operator| (Reverse(operator.time), operator.place));
        self.operators.truncate(FEW);
        self
    }
}

impl OperatorSummary {
    /// Its name, for its own time: says if that contains the time of what feeds it.
    #[must_use]
    pub fn timed_name(&self) -> String {
        if self.time_includes.is_empty() {
            return self.name.clone();
        }
        format!("{} with what feeds it", self.name)
    }
}

#[cfg(test)]
impl OperatorSummary {
    /// An operator of the last plan about which nothing else is known.
    pub(crate) fn named(place: u32, name: &str) -> Self {
        Self {
            place,
            parent: None,
            repeats: None,
            name: name.to_owned(),
            text: String::new(),
            is_last: true,
            only_refers: false,
            moves_rows: false,
            stages: Vec::new(),
            time: None,
            time_includes: Vec::new(),
            share: None,
            rows: None,
            bytes: None,
            spilled: None,
            pruned_by: Vec::new(),
        }
    }
}

impl Ground<'_> {
    /// The queries that took longest, the longest first.
    #[must_use]
    pub fn summaries(&self, extent: Extent) -> Vec<QuerySummary> {
        let mut order: Vec<&Query<'_>> = self.queries.iter().collect();
        order.sort_by_key(|query| (Reverse(query.execution.duration()), query.execution.id));
        order.truncate(extent.queries);
        let own = self.own_times();
        order.into_iter().map(|query| self.summary(query, extent, &own)).collect()
    }

    fn own_times(&self) -> BTreeMap<(u64, usize), Millis> {
        let mut own: BTreeMap<(u64, usize), Millis> = BTreeMap::new();
        for part in self.work.values().flat_map(|work| &work.parts) {
            let time = own.entry((part.execution, part.operator)).or_default();
            *time = *time + part.time;
        }
        own
    }

    fn summary(
        &self,
        query: &Query<'_>,
        extent: Extent,
        own: &BTreeMap<(u64, usize), Millis>,
    ) -> QuerySummary {
        let execution = query.execution;
        let stages = self.all().stages(query);
        let sum = |counters: &[Counter]| {
            let groups = stages.iter().filter_map(|&stage| self.app.groups.get(self.stage(stage)?.group?));
            let sums = groups.map(|group| group.attempts.sum(counters));
            sums.flatten().reduce(u64::saturating_add)
        };
        let bytes = |counters: &[Counter]| sum(counters).map(Bytes::new);
        let ids = |places: &BTreeSet<u32>| places.iter().filter_map(|&it| Some(self.stage(it)?.id)).collect();
        let task_time = sum(&[Counter::ExecutorRunTime]).map(Millis::new);
        let operators: Vec<OperatorSummary> = query
            .operators
            .iter()
            .enumerate()
            .map(|(place, operator)| {
                let time = own.get(&(execution.id, place)).copied();
                self.operator((query, place), operator, (time, task_time))
            })
            .collect();
        let wall = self.all().wall(execution);
        let summary = QuerySummary {
            id: execution.id,
            root: execution.root,
            name: name_of_query(execution),
            started_at: execution.started_at,
            share: wall.map(|wall| wall.total.as_f64() / self.run_time.as_f64()),
            told: told(wall, task_time, &operators, execution.error.is_some(), stages.len()),
            wall,
            error: execution.error.clone(),
            task_time,
            explained: operators.iter().filter_map(|operator| operator.time).reduce(|sum, time| sum + time),
            input: bytes(&[Counter::InputBytes]),
            output: bytes(&[Counter::OutputBytes]),
            shuffled: bytes(&[Counter::ShuffleBytesWritten]),
            spilled: bytes(&[Counter::MemoryBytesSpilled]),
            stages: ids(&stages),
            operators,
        };
        if extent.operators { summary } else { summary.with_few_operators() }
    }

    /// An operator with its own time, in a query whose tasks took this time.
    fn operator(
        &self,
        (query, place): (&Query<'_>, usize),
        operator: &PlacedOperator<'_>,
        (time, all): (Option<Millis>, Option<Millis>),
    ) -> OperatorSummary {
        let sizes = [
            SqlCounter::FileBytesRead,
            SqlCounter::BytesWritten,
            SqlCounter::ShuffleBytesWritten,
            SqlCounter::DataSize,
            SqlCounter::PythonBytesSent,
        ];
        OperatorSummary {
            place: index(place),
            parent: operator.parent.and_then(|parent| u32::try_from(parent).ok()),
            repeats: operator.repeats.and_then(|original| u32::try_from(original).ok()),
            name: name_of_operator(operator),
            text: operator.text.to_owned(),
            is_last: operator.is_last,
            only_refers: operator.kind.only_refers(),
            moves_rows: operator.kind.moves_rows(),
            stages: operator.stages.iter().filter_map(|&stage| Some(self.stage(stage)?.id)).collect(),
            time,
            time_includes: time
                .map(|_| in_time_of(query, place))
                .unwrap_or_default()
                .into_iter()
                .map(index)
                .collect(),
            share: time
                .zip(all.filter(|all| *all > Millis::ZERO))
                .map(|(time, all)| time.as_f64() / all.as_f64()),
            rows: operator.total(SqlCounter::OutputRows),
            bytes: sizes.into_iter().find_map(|counter| operator.bytes(counter)),
            spilled: operator.bytes(SqlCounter::SpillSize).filter(|spilled| *spilled > Bytes::default()),
            pruned_by: dynamic_pruning(query, place)
                .into_iter()
                .map(|pruning| pruned_by(query, pruning))
                .collect(),
        }
    }
}

fn pruned_by(query: &Query<'_>, pruning: DynamicPruning) -> PrunedBy {
    PrunedBy {
        columns: pruning.columns,
        join: pruning.join.map(index),
        name: pruning.join.and_then(|join| query.operators.get(join)).map(name_of_operator),
        subquery: pruning.subquery.map(index),
    }
}

/// A plan has fewer operators than fit: the parser bounds them.
fn index(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
