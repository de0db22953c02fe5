//! Where the task time of a stage went, by operator.
//!
//! Only timings that exclude each other are used: the duration of a generated pipeline contains those of the pipelines that
//! feed it (added up they give up to 1.88 times the time of the tasks). What no timing explains stays the rest of the
//! pipeline.

use std::collections::{BTreeMap, BTreeSet};

use crate::query::{PlacedOperator, Queries, Query, Value};
use elephant_base::units::Millis;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{SqlCounter, SqlExecution};

/// The task time of a stage, and what explains it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageWork {
    /// The time of its tasks in executors, over all attempts of tasks.
    pub total: Millis,
    /// The times of operators, in the order of executions and operators.
    pub parts: Vec<Part>,
    /// The rest: the total less all parts.
    pub rest: Millis,
}

/// The time of an operator in a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The id of the SQL execution.
    pub execution: u64,
    /// The operator, as an index into [`Query::operators`].
    pub operator: usize,
    /// Its own time.
    pub time: Millis,
}

/// Timings that do not contain each other.
const EXCLUSIVE: [SqlCounter; 8] = [
    SqlCounter::ScanTime,
    SqlCounter::SortTime,
    SqlCounter::ShuffleWriteTime,
    SqlCounter::FetchWaitTime,
    SqlCounter::StateUpdateTime,
    SqlCounter::StateRemoveTime,
    SqlCounter::StateCommitTime,
    SqlCounter::OwnTime,
];

/// Timings of Python workers. The first one contains the others.
const PYTHON: [SqlCounter; 3] =
    [SqlCounter::PythonTime, SqlCounter::PythonStartTime, SqlCounter::PythonInitTime];

/// Whether a timing tells the own time of an operator.
pub(crate) fn is_timed(operator: &PlacedOperator<'_>) -> bool {
    let timings = || EXCLUSIVE.iter().chain(&PYTHON).chain([&SqlCounter::AggregationTime]);
    operator.values.iter().any(|value| timings().any(|timing| value.counter == Some(*timing)))
}

/// Times of an operator by stage, in nanoseconds.
type ByStage = BTreeMap<u32, i128>;

impl Queries<'_> {
    /// The work of each stage in which one of these queries ran, by index into [`elephant_model::model::spark::Spark::stages`]. A stage whose
    /// task time is unknown is missing.
    #[must_use]
    pub fn work(&self, queries: &[Query<'_>]) -> BTreeMap<u32, StageWork> {
        let mut work: BTreeMap<u32, StageWork> = BTreeMap::new();
        // Queries that read one cached table share the operators that fill it.
        let mut known = BTreeSet::new();
        for query in queries {
            self.add_work(query, &mut work, &mut known);
        }
        for stage in work.values_mut() {
            stage.settle();
        }
        work
    }

    /// Adds the work of a query, without that of accumulators that are known from queries before it.
    fn add_work(&self, query: &Query<'_>, work: &mut BTreeMap<u32, StageWork>, known: &mut BTreeSet<u64>) {
        let SqlExecution { id, .. } = *query.execution;
        for operator in &query.operators {
            for &stage in &operator.stages {
                if let std::collections::btree_map::Entry::Vacant(entry) = work.entry(stage)
                    && let Some(total) = self.task_time(stage)
                {
                    entry.insert(StageWork { total, parts: Vec::new(), rest: Millis::ZERO });
                }
            }
        }
        for (place, times) in self.own_times(query, known).into_iter().enumerate() {
            for (stage, time) in times {
                let time = Millis::from_nanos(time);
                if let Some(stage) = work.get_mut(&stage).filter(|_| time > Millis::ZERO) {
                    stage.parts.push(Part { execution: id, operator: place, time });
                }
            }
        }
    }

    /// The time of a stage's tasks in executors.
    fn task_time(&self, stage: u32) -> Option<Millis> {
        let group = self.spark().stages.get(stage as usize)?.group?;
        let sum = self.app().groups.get(group)?.attempts.sum(&[Counter::ExecutorRunTime])?;
        Some(Millis::new(sum))
    }

    /// The own time of each operator, by stage.
    fn own_times(&self, query: &Query<'_>, known: &mut BTreeSet<u64>) -> Vec<ByStage> {
        let count = query.operators.len();
        let (mut own, mut fed): (Vec<ByStage>, Vec<ByStage>) =
            (vec![ByStage::new(); count], vec![ByStage::new(); count]);
        // Children come after their parents.
        for (place, operator) in query.operators.iter().enumerate().rev() {
            let below = fed.get_mut(place).map(std::mem::take).unwrap_or_default();
            let times = self.own_time(operator, &below);
            if let Some(parent) = operator.parent.and_then(|parent| fed.get_mut(parent)) {
                for (&stage, &time) in below.iter().chain(&times) {
                    *parent.entry(stage).or_default() += time;
                }
            }
            // An operator that the plan tells twice ran once, and so did one that a query before this one told.
            let is_known = |value: &Value<'_>| known.contains(&value.accumulator);
            let is_new = operator.values.is_empty() || !operator.values.iter().all(is_known);
            if let Some(own) = own.get_mut(place).filter(|_| is_new && operator.repeats.is_none()) {
                *own = times;
            }
        }
        let values = query.operators.iter().flat_map(|operator| &operator.values);
        known.extend(values.map(|value| value.accumulator));
        own
    }

    /// The own time of an operator in each stage, given the times of those that feed it.
    fn own_time(&self, operator: &PlacedOperator<'_>, fed: &ByStage) -> ByStage {
        let mut times = ByStage::new();
        for counter in EXCLUSIVE {
            self.add_time(operator, counter, &mut times);
        }
        let mut python = ByStage::new();
        self.add_time(operator, SqlCounter::PythonTime, &mut python);
        if python.is_empty() {
            self.add_time(operator, SqlCounter::PythonStartTime, &mut python);
            self.add_time(operator, SqlCounter::PythonInitTime, &mut python);
        }
        let mut aggregation = ByStage::new();
        self.add_time(operator, SqlCounter::AggregationTime, &mut aggregation);
        for (stage, time) in &mut aggregation {
            *time = (*time - fed.get(stage).copied().unwrap_or_default()).max(0);
        }
        for (stage, time) in python.into_iter().chain(aggregation) {
            *times.entry(stage).or_default() += time;
        }
        times
    }

    fn add_time(&self, operator: &PlacedOperator<'_>, counter: SqlCounter, times: &mut ByStage) {
        for value in operator.values.iter().filter(|value| value.counter == Some(counter)) {
            for (stage, added) in self.values().added(value.accumulator) {
                if let Some(time) = value.unit().nanos(added) {
                    *times.entry(stage).or_default() += time;
                }
            }
        }
    }
}

impl StageWork {
    /// Makes parts and rest add up to the total. Timings of tasks that ran side by side in one process, or of attempts whose
    /// time is unknown, may exceed it: they are scaled then.
    fn settle(&mut self) {
        let total = u128::from(self.total.get());
        let sum: u128 = self.parts.iter().map(|part| u128::from(part.time.get())).sum();
        if sum > total {
            for part in &mut self.parts {
                let scaled = u128::from(part.time.get()) * total / sum;
                part.time = Millis::new(u64::try_from(scaled).unwrap_or(u64::MAX));
            }
            self.parts.retain(|part| part.time > Millis::ZERO);
        }
        let explained: u64 = self.parts.iter().map(|part| part.time.get()).sum();
        self.rest = Millis::new(self.total.get().saturating_sub(explained));
    }
}
