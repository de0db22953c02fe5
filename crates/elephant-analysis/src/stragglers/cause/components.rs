//! The parts of a task's time that logs measure.

use super::{Cause, Confidence};
use crate::stragglers::executions::Basis;
use elephant_base::state::State;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::Engine;
use elephant_model::model::counters::Counter;
use elephant_model::model::table::{Outcome, TaskGroup, TaskKind, TimePoint};

/// A part of a task's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, State)]
#[non_exhaustive]
pub enum Component {
    /// Garbage collection (`GC_TIME_MILLIS`, "JVM GC Time"). Spark counts the whole executor's collections
    /// during the task.
    Gc,
    /// Waiting for shuffle blocks (Spark, "Fetch Wait Time").
    FetchWait,
    /// Writing shuffle data (Spark, "Shuffle Write Time").
    ShuffleWrite,
    /// A reduce task copies map outputs, counted from the end of the last map task.
    ShuffleCopy,
    /// A reduce task waits for the last map task.
    MapWait,
    /// The last merge: of a map task's spills after the user's code, of a reduce task before it.
    Merge,
    /// From launch to end of a Spark task, minus the work of executor and driver for it.
    SchedulerDelay,
    /// Deserializing a Spark task, including class loading ("Executor Deserialize Time").
    Deserialize,
    /// The driver fetches a result that is too large to send with the status update (Spark, "Getting Result
    /// Time").
    ResultFetch,
}

impl Component {
    /// Every component; ties are reported in this order.
    pub const ALL: [Self; 9] = [
        Self::Gc,
        Self::FetchWait,
        Self::ShuffleWrite,
        Self::ShuffleCopy,
        Self::MapWait,
        Self::Merge,
        Self::SchedulerDelay,
        Self::Deserialize,
        Self::ResultFetch,
    ];

    /// The name in reports.
    #[must_use]
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Gc => "gc-time",
            Self::FetchWait => "fetch-wait-time",
            Self::ShuffleWrite => "shuffle-write-time",
            Self::ShuffleCopy => "shuffle-copy-time",
            Self::MapWait => "map-wait-time",
            Self::Merge => "merge-time",
            Self::SchedulerDelay => "scheduler-delay",
            Self::Deserialize => "deserialize-time",
            Self::ResultFetch => "result-fetch-time",
        }
    }

    /// The name for readers, as the subject of a sentence.
    #[must_use]
    pub(crate) const fn display_name(self) -> &'static str {
        match self {
            Self::Gc => "garbage collection",
            Self::FetchWait => "waiting for shuffle data",
            Self::ShuffleWrite => "writing shuffle data",
            Self::ShuffleCopy => "copying map outputs",
            Self::MapWait => "waiting for the last map task",
            Self::Merge => "merging spills",
            Self::SchedulerDelay => "scheduler delay",
            Self::Deserialize => "deserializing the task",
            Self::ResultFetch => "getting the result",
        }
    }

    /// The cause it is evidence for.
    #[must_use]
    pub(crate) const fn cause(self) -> Cause {
        match self {
            Self::Gc => Cause::Gc,
            Self::FetchWait | Self::ShuffleCopy | Self::ResultFetch => Cause::Network,
            Self::ShuffleWrite | Self::Merge => Cause::Disk,
            Self::MapWait | Self::SchedulerDelay => Cause::Scheduler,
            Self::Deserialize => Cause::ColdStart,
        }
    }

    /// How reliable the time is: measured directly, or the remainder between other times.
    #[must_use]
    pub(crate) const fn confidence(self) -> Confidence {
        match self {
            Self::SchedulerDelay | Self::ShuffleCopy => Confidence::Inferred,
            _ => Confidence::Measured,
        }
    }

    /// Whether it is disk or network time.
    pub(super) const fn is_io(self) -> bool {
        matches!(
            self,
            Self::FetchWait | Self::ShuffleWrite | Self::ShuffleCopy | Self::Merge | Self::ResultFetch
        )
    }
}

/// Times and counters of the attempts of a group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clocks<'a> {
    /// The group.
    pub group: &'a TaskGroup,
    /// The engine that ran it.
    pub engine: Engine,
    /// The clock that durations are read from; components outside of it are `None`.
    pub basis: Basis,
    /// Whether the collector works while tasks do, so that its time is not theirs.
    pub collects_concurrently: bool,
    /// When the job's last map succeeded.
    pub last_map: Option<Timestamp>,
}

impl Clocks<'_> {
    /// Seconds that a component took of an attempt; `None` if it is not logged, or not part of the attempt's
    /// duration.
    #[must_use]
    pub(crate) fn seconds(&self, component: Component, row: usize) -> Option<f64> {
        let span = match component {
            Component::Gc if self.collects_concurrently => None,
            Component::Gc => self.counter(row, Counter::GcTimeMillis),
            Component::FetchWait => self.spark(row, Counter::ShuffleFetchWaitTime),
            Component::ShuffleWrite => self.spark(row, Counter::ShuffleWriteTime),
            Component::ShuffleCopy => self.shuffle(row).map(|(_, copy)| copy),
            Component::MapWait => self.shuffle(row).map(|(wait, _)| wait),
            Component::Merge => self.merge(row),
            Component::SchedulerDelay => self.scheduler_delay(row),
            Component::Deserialize => self.outside_run(row, Counter::ExecutorDeserializeTime),
            Component::ResultFetch => self.result_fetch(row).filter(|_| self.basis == Basis::Wall),
        };
        span.map(seconds)
    }

    /// CPU time in seconds. For Spark this is the JVM thread's time; Python workers are not counted.
    #[must_use]
    pub(crate) fn cpu_seconds(&self, row: usize) -> Option<f64> {
        if self.engine == Engine::Spark {
            return self.spark(row, Counter::CpuMilliseconds).map(seconds);
        }
        self.counter(row, Counter::CpuMilliseconds).map(seconds)
    }

    /// Spark: bytes spilled to disk. MapReduce: spilled records per record that a map task wrote or a reduce
    /// task read. Tez: spilled records per record written.
    #[must_use]
    pub(crate) fn spill(&self, row: usize) -> Option<f64> {
        let attempts = &self.group.attempts;
        if attempts.outcome(row) != Outcome::Succeeded {
            return None;
        }
        let count = |counter| attempts.count(row, counter).map(|count| count as f64);
        let records = match self.group.kind {
            TaskKind::Stage(_) => return count(Counter::DiskBytesSpilled),
            TaskKind::Map | TaskKind::Vertex(_) => count(Counter::MapOutputRecords),
            TaskKind::Reduce => count(Counter::ReduceInputRecords),
            TaskKind::Setup | TaskKind::Cleanup => None,
        };
        let records = records.filter(|records| *records > 0.0)?;
        Some(count(Counter::SpilledRecords)? / records)
    }

    fn counter(&self, row: usize, counter: Counter) -> Option<Millis> {
        self.group.attempts.millis(row, counter)
    }

    /// A counter of a Spark task that succeeded. For a killed task Spark sets only run time and garbage
    /// collection (`Executor.collectAccumulatorsAndResetStatusOnFailure`); the other counters stay 0.
    fn spark(&self, row: usize, counter: Counter) -> Option<Millis> {
        let is_set = self.engine == Engine::Spark && self.group.attempts.outcome(row) == Outcome::Succeeded;
        self.counter(row, counter).filter(|_| is_set)
    }

    fn outside_run(&self, row: usize, counter: Counter) -> Option<Millis> {
        self.spark(row, counter).filter(|_| self.basis == Basis::Wall)
    }

    /// As Spark's web UI computes it: `max(0, wall − run − deserialize − serialize − getting result)`.
    fn scheduler_delay(&self, row: usize) -> Option<Millis> {
        let wall = self.group.attempts.run_time(row)?.get();
        let known = [
            self.outside_run(row, Counter::ExecutorRunTime)?,
            self.outside_run(row, Counter::ExecutorDeserializeTime)?,
            self.outside_run(row, Counter::ResultSerializationTime)?,
            self.result_fetch(row).unwrap_or_default(),
        ];
        let known: Millis = known.into_iter().sum();
        Some(Millis::new(wall.saturating_sub(known.get())))
    }

    /// `None` if the result came with the task's end.
    fn result_fetch(&self, row: usize) -> Option<Millis> {
        self.group.attempts.span(row, TimePoint::GettingResult, TimePoint::Finish)
    }

    /// How long a reduce task waited for map tasks, and how long it copied after they were done.
    fn shuffle(&self, row: usize) -> Option<(Millis, Millis)> {
        if self.group.kind != TaskKind::Reduce {
            return None;
        }
        let attempts = &self.group.attempts;
        let start = attempts.time(row, TimePoint::Start)?;
        let fetched = attempts.time(row, TimePoint::ShuffleFinish)?;
        let from = start.max(self.last_map?).min(fetched.max(start));
        Some((Millis::between(start, from)?, Millis::between(from, fetched)?))
    }

    fn merge(&self, row: usize) -> Option<Millis> {
        let attempts = &self.group.attempts;
        match self.group.kind {
            TaskKind::Map => attempts.span(row, TimePoint::MapFinish, TimePoint::Finish),
            TaskKind::Reduce => attempts.span(row, TimePoint::ShuffleFinish, TimePoint::SortFinish),
            TaskKind::Setup | TaskKind::Cleanup | TaskKind::Stage(_) | TaskKind::Vertex(_) => None,
        }
    }
}

fn seconds(span: Millis) -> f64 {
    span.as_f64() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::spark::StageAttempt;

    const fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    fn reduce() -> TaskGroup {
        let mut group = TaskGroup::new(TaskKind::Reduce);
        group.tasks.push(0);
        let row = group.attempts.push(0, 0);
        for (point, ms) in [
            (TimePoint::Start, 1000),
            (TimePoint::ShuffleFinish, 9000),
            (TimePoint::SortFinish, 9500),
            (TimePoint::Finish, 20_000),
        ] {
            group.attempts.set_time(row, point, Some(at(ms)));
        }
        group
    }

    #[test]
    fn a_reduce_task_waits_for_maps_and_then_copies() {
        let group = reduce();
        let clocks = |last_map| Clocks {
            group: &group,
            engine: Engine::MapReduce,
            basis: Basis::Wall,
            collects_concurrently: false,
            last_map,
        };
        let both = |last_map| {
            let clocks = clocks(last_map);
            (clocks.seconds(Component::MapWait, 0), clocks.seconds(Component::ShuffleCopy, 0))
        };
        assert_eq!(both(Some(at(6000))), (Some(5.0), Some(3.0)));
        assert_eq!(both(Some(at(500))), (Some(0.0), Some(8.0)));
        assert_eq!(both(Some(at(9900))), (Some(8.0), Some(0.0)));
        assert_eq!(both(None), (None, None));
        assert_eq!(clocks(None).seconds(Component::Merge, 0), Some(0.5));
        assert_eq!(clocks(None).seconds(Component::Gc, 0), None);
        assert_eq!(clocks(None).seconds(Component::SchedulerDelay, 0), None);
    }

    #[test]
    fn scheduler_delay_is_the_remaining_time() {
        let mut group = TaskGroup::new(TaskKind::Stage(StageAttempt { stage: 0, attempt: 0 }));
        group.tasks.push(0);
        let row = group.attempts.push(0, 0);
        group.attempts.set_outcome(row, Outcome::Succeeded);
        group.attempts.set_time(row, TimePoint::Start, Some(at(0)));
        group.attempts.set_time(row, TimePoint::Finish, Some(at(1000)));
        group.attempts.set_counter(row, Counter::ExecutorRunTime, Some(600));
        group.attempts.set_counter(row, Counter::ExecutorDeserializeTime, Some(100));
        let delay = |group: &TaskGroup, basis| {
            Clocks { group, engine: Engine::Spark, basis, collects_concurrently: false, last_map: None }
                .seconds(Component::SchedulerDelay, 0)
        };
        assert_eq!(delay(&group, Basis::Wall), None);
        group.attempts.set_counter(row, Counter::ResultSerializationTime, Some(0));
        assert_eq!(delay(&group, Basis::Wall), Some(0.3));
        assert_eq!(delay(&group, Basis::Run), None);
        group.attempts.set_time(row, TimePoint::GettingResult, Some(at(900)));
        assert_eq!(delay(&group, Basis::Wall), Some(0.2));
        // As Spark logs a killed task.
        group.attempts.set_outcome(row, Outcome::Killed);
        assert_eq!(delay(&group, Basis::Wall), None);
    }
}
