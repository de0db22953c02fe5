//! Queries as reports show them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::counter::SqlCounter;
use crate::ground::Ground;
use crate::query::{PlacedOperator, Query};
use crate::wall::Wall;
use crate::words::{name_of_operator, name_of_query};
use elephant_base::state::State;
use elephant_base::units::{Bytes, Millis, Timestamp};
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::StageAttempt;

/// How much of the queries a report has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extent {
    /// The most queries, those first that took longest.
    pub queries: usize,
    /// Whether all their operators are included, or only those that took most of their time.
    pub operators: bool,
}

/// A query of an application.
#[derive(Debug, Clone, PartialEq, Eq, State)]
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
    /// The error it ended with.
    pub error: Option<String>,
    /// The stage attempts that ran for it.
    pub stages: Vec<StageAttempt>,
    /// The time of their tasks in executors.
    pub task_time: Option<Millis>,
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
#[derive(Debug, Clone, PartialEq, Eq, State)]
pub struct OperatorSummary {
    /// Its place among all operators of the query.
    pub place: u32,
    /// The place of the operator that takes its rows.
    pub parent: Option<u32>,
    /// "`SortMergeJoin` on `k`".
    pub name: String,
    /// Its node with keys and expressions.
    pub text: String,
    /// Whether it is part of the last plan.
    pub is_last: bool,
    /// The stage attempts in which it ran.
    pub stages: Vec<StageAttempt>,
    /// Its own time in tasks; `None` if no timing tells.
    pub time: Option<Millis>,
    /// The rows that it passed on.
    pub rows: Option<u64>,
    /// The bytes that it read, sent or wrote.
    pub bytes: Option<Bytes>,
    /// The bytes that it spilled.
    pub spilled: Option<Bytes>,
}

/// How many operators a short summary has.
const FEW: usize = 3;

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
        let stages = self.stages_of(query);
        let sum = |counters: &[Counter]| {
            let groups = stages.iter().filter_map(|&stage| self.app.groups.get(self.stage(stage)?.group?));
            let sums = groups.map(|group| group.attempts.sum(counters));
            sums.flatten().reduce(u64::saturating_add)
        };
        let bytes = |counters: &[Counter]| sum(counters).map(Bytes::new);
        let ids = |places: &BTreeSet<u32>| places.iter().filter_map(|&it| Some(self.stage(it)?.id)).collect();
        let mut operators: Vec<OperatorSummary> = (0_u32..)
            .zip(&query.operators)
            .map(|(place, operator)| {
                let time = own.get(&(execution.id, place as usize)).copied();
                self.operator(place, operator, time)
            })
            .collect();
        if !extent.operators {
            operators.retain(|operator| operator.time.is_some());
            operators.sort_by_key(|operator| (Reverse(operator.time), operator.place));
            operators.truncate(FEW);
        }
        QuerySummary {
            id: execution.id,
            root: execution.root,
            name: name_of_query(execution),
            started_at: execution.started_at,
            wall: self.all().wall(execution),
            error: execution.error.clone(),
            task_time: sum(&[Counter::ExecutorRunTime]).map(Millis::new),
            input: bytes(&[Counter::InputBytes]),
            output: bytes(&[Counter::OutputBytes]),
            shuffled: bytes(&[Counter::ShuffleBytesWritten]),
            spilled: bytes(&[Counter::MemoryBytesSpilled]),
            stages: ids(&stages),
            operators,
        }
    }

    fn operator(&self, place: u32, operator: &PlacedOperator<'_>, time: Option<Millis>) -> OperatorSummary {
        let sizes = [
            SqlCounter::FileBytesRead,
            SqlCounter::BytesWritten,
            SqlCounter::ShuffleBytesWritten,
            SqlCounter::DataSize,
            SqlCounter::PythonBytesSent,
        ];
        OperatorSummary {
            place,
            parent: operator.parent.and_then(|parent| u32::try_from(parent).ok()),
            name: name_of_operator(operator),
            text: operator.text.to_owned(),
            is_last: operator.is_last,
            stages: operator.stages.iter().filter_map(|&stage| Some(self.stage(stage)?.id)).collect(),
            time,
            rows: operator.total(SqlCounter::OutputRows),
            bytes: sizes.into_iter().find_map(|counter| operator.bytes(counter)),
            spilled: operator.bytes(SqlCounter::SpillSize).filter(|spilled| *spilled > Bytes::default()),
        }
    }

    /// The stages of a query: those of its jobs, and those in which its operators ran.
    fn stages_of(&self, query: &Query<'_>) -> BTreeSet<u32> {
        let of_operators = query.operators.iter().flat_map(|operator| operator.stages.iter().copied());
        let id = Some(query.execution.id);
        let of_jobs = (0_u32..)
            .zip(&self.spark.stages)
            .filter(|(_, stage)| self.spark.job_of(stage).is_some_and(|job| job.sql_execution == id));
        of_operators.chain(of_jobs.map(|(place, _)| place)).collect()
    }
}
