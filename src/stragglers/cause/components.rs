//! The parts of a task's time that a history measures.

use super::{Cause, Confidence};
use crate::model::Engine;
use crate::model::counters::Counter;
use crate::model::table::{Outcome, TaskGroup, TaskKind, TimePoint};
use crate::stragglers::executions::Basis;
use crate::units::{Millis, Timestamp};

/// A part of a task's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Component {
    /// Garbage collection (`GC_TIME_MILLIS`, "JVM GC Time"). Spark counts what the whole executor collected meanwhile.
    Gc,
    /// Waiting for shuffle blocks (Spark, "Fetch Wait Time").
    FetchWait,
    /// Writing shuffle data (Spark, "Shuffle Write Time").
    ShuffleWrite,
    /// A reduce's copying of map outputs, from when all maps were done.
    ShuffleCopy,
    /// A reduce's waiting for the last map, or for its own start to fetch.
    MapWait,
    /// The last merge: of a map's spills behind the user's code, of a reduce before it.
    Merge,
    /// From launch to end of a Spark task less what the executor and the driver did for it.
    SchedulerDelay,
    /// Deserializing a Spark task, loading its classes included ("Executor Deserialize Time").
    Deserialize,
    /// The driver's fetching of a result too large to send along (Spark, "Getting Result Time").
    ResultFetch,
}

impl Component {
    /// Every component; of equal ones the first is told first.
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
    pub const fn name(self) -> &'static str {
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

    /// What people read.
    #[must_use]
    pub const fn display_name(self) -> &'static str {
        match self {
            Self::Gc => "garbage collection",
            Self::FetchWait => "waiting for shuffle data",
            Self::ShuffleWrite => "writing shuffle data",
            Self::ShuffleCopy => "copying map outputs",
            Self::MapWait => "waiting for the last map",
            Self::Merge => "merging spills",
            Self::SchedulerDelay => "the scheduler's delay",
            Self::Deserialize => "deserializing the task",
            Self::ResultFetch => "the driver's fetching of the result",
        }
    }

    /// The cause that it speaks for.
    #[must_use]
    pub const fn cause(self) -> Cause {
        match self {
            Self::Gc => Cause::Gc,
            Self::FetchWait | Self::ShuffleCopy | Self::ResultFetch => Cause::Network,
            Self::ShuffleWrite | Self::Merge => Cause::Disk,
            Self::MapWait | Self::SchedulerDelay => Cause::Scheduler,
            Self::Deserialize => Cause::ColdStart,
        }
    }

    /// How sure the time is: what is measured as such, or what is left between other times.
    #[must_use]
    pub const fn confidence(self) -> Confidence {
        match self {
            Self::SchedulerDelay | Self::ShuffleCopy => Confidence::Inferred,
            _ => Confidence::Measured,
        }
    }

    /// Whether it is time on disks or the network.
    pub(super) const fn is_io(self) -> bool {
        matches!(
            self,
            Self::FetchWait | Self::ShuffleWrite | Self::ShuffleCopy | Self::Merge | Self::ResultFetch
        )
    }
}

/// What is measured of the attempts of a group.
#[derive(Debug, Clone, Copy)]
pub struct Clocks<'a> {
    /// The group.
    pub group: &'a TaskGroup,
    /// What ran it.
    pub engine: Engine,
    /// The clock that durations are read from: components outside of it are none.
    pub basis: Basis,
    /// When the job's last map succeeded.
    pub last_map: Option<Timestamp>,
}

impl Clocks<'_> {
    /// Seconds that a component took of an attempt; `None` where the history does not tell, or the component is no part
    /// of the attempt's duration.
    #[must_use]
    pub fn seconds(&self, component: Component, row: usize) -> Option<f64> {
        let span = match component {
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

    /// CPU time in seconds. Of Spark it is the JVM thread's: Python workers are not counted.
    #[must_use]
    pub fn cpu_seconds(&self, row: usize) -> Option<f64> {
        if self.engine == Engine::Spark {
            return self.spark(row, Counter::CpuMilliseconds).map(seconds);
        }
        self.counter(row, Counter::CpuMilliseconds).map(seconds)
    }

    /// Spark: bytes spilled to disk. MapReduce: records spilled for each record that a map wrote or a reduce read.
    #[must_use]
    pub fn spill(&self, row: usize) -> Option<f64> {
        let attempts = &self.group.attempts;
        if attempts.outcome(row) != Outcome::Succeeded {
            return None;
        }
        let count = |counter| attempts.count(row, counter).map(|count| count as f64);
        let records = match self.group.kind {
            TaskKind::Stage(_) => return count(Counter::DiskBytesSpilled),
            TaskKind::Map => count(Counter::MapOutputRecords),
            TaskKind::Reduce => count(Counter::ReduceInputRecords),
            TaskKind::Setup | TaskKind::Cleanup => None,
        };
        let records = records.filter(|records| *records > 0.0)?;
        Some(count(Counter::SpilledRecords)? / records)
    }

    fn counter(&self, row: usize, counter: Counter) -> Option<Millis> {
        self.group.attempts.millis(row, counter)
    }

    /// A counter of a Spark task that ended by itself: of one that was killed Spark sets only run time and garbage
    /// collection (`Executor.collectAccumulatorsAndResetStatusOnFailure`), the others stay 0.
    fn spark(&self, row: usize, counter: Counter) -> Option<Millis> {
        let told = self.engine == Engine::Spark && self.group.attempts.outcome(row) == Outcome::Succeeded;
        self.counter(row, counter).filter(|_| told)
    }

    fn outside_run(&self, row: usize, counter: Counter) -> Option<Millis> {
        self.spark(row, counter).filter(|_| self.basis == Basis::Wall)
    }

    /// As Spark's own interface has it: `max(0, wall − run − deserialize − serialize − getting result)`.
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

    /// A result that came along with the task's end has no such moment.
    fn result_fetch(&self, row: usize) -> Option<Millis> {
        self.group.attempts.span(row, TimePoint::GettingResult, TimePoint::Finish)
    }

    /// How long a reduce waited for maps, and how long it copied from when they were done.
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
            TaskKind::Setup | TaskKind::Cleanup | TaskKind::Stage(_) => None,
        }
    }
}

fn seconds(span: Millis) -> f64 {
    span.as_f64() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::spark::StageAttempt;

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
    fn a_reduce_waits_for_maps_and_then_copies() {
        let group = reduce();
        let clocks =
            |last_map| Clocks { group: &group, engine: Engine::MapReduce, basis: Basis::Wall, last_map };
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
    fn the_schedulers_delay_is_what_is_left() {
        let mut group = TaskGroup::new(TaskKind::Stage(StageAttempt { stage: 0, attempt: 0 }));
        group.tasks.push(0);
        let row = group.attempts.push(0, 0);
        group.attempts.set_outcome(row, Outcome::Succeeded);
        group.attempts.set_time(row, TimePoint::Start, Some(at(0)));
        group.attempts.set_time(row, TimePoint::Finish, Some(at(1000)));
        group.attempts.set_counter(row, Counter::ExecutorRunTime, Some(600));
        group.attempts.set_counter(row, Counter::ExecutorDeserializeTime, Some(100));
        let delay = |group: &TaskGroup, basis| {
            Clocks { group, engine: Engine::Spark, basis, last_map: None }
                .seconds(Component::SchedulerDelay, 0)
        };
        assert_eq!(delay(&group, Basis::Wall), None);
        group.attempts.set_counter(row, Counter::ResultSerializationTime, Some(0));
        assert_eq!(delay(&group, Basis::Wall), Some(0.3));
        assert_eq!(delay(&group, Basis::Run), None);
        group.attempts.set_time(row, TimePoint::GettingResult, Some(at(900)));
        assert_eq!(delay(&group, Basis::Wall), Some(0.2));
        // What Spark writes for a task that was killed.
        group.attempts.set_outcome(row, Outcome::Killed);
        assert_eq!(delay(&group, Basis::Wall), None);
    }
}
