//! The recorded attempts of a job.

use super::Kind;
use crate::replay::Micros;
use elephant_base::units::Timestamp;
use elephant_model::model::counters::Counter;
use elephant_model::model::table::{Outcome, TaskGroup, TimePoint};

/// What a reduce that succeeds does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ReduceWork {
    /// Fetches the outputs of all maps, if they have ended when it starts.
    pub(crate) shuffle: Micros,
    /// Fetches what remains after the last map, if it starts before that.
    pub(crate) tail: Micros,
    /// Sorts and reduces.
    pub(crate) rest: Micros,
}

impl ReduceWork {
    /// This much of it.
    pub(crate) fn times(self, share: f64) -> Self {
        let part = |span: Micros| Micros::from_f64(span.as_f64() * share);
        Self { shuffle: part(self.shuffle), tail: part(self.tail), rest: part(self.rest) }
    }
}

/// What an attempt does with its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// It runs for this long, whatever others do.
    Alone(Micros),
    /// It waits for the maps.
    Reduce(ReduceWork),
}

impl Work {
    /// The time without waiting for maps.
    pub(super) fn time(self) -> Micros {
        match self {
            Self::Alone(time) => time,
            Self::Reduce(work) => work.shuffle + work.rest,
        }
    }

    /// The same work in another time: all parts change alike.
    pub(super) fn lasting(self, time: Micros) -> Self {
        let (time, old) = (time.or_zero(), self.time());
        let Self::Reduce(work) = self else { return Self::Alone(time) };
        if old <= Micros::ZERO {
            return Self::Reduce(ReduceWork { rest: time, ..work });
        }
        let scale = time.as_f64() / old.as_f64();
        let part = |span: Micros| Micros::from_f64(span.as_f64() * scale);
        let shuffle = part(work.shuffle);
        Self::Reduce(ReduceWork { shuffle, tail: part(work.tail), rest: (time - shuffle).or_zero() })
    }
}

/// A recorded attempt. Times count from the job's submission.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt {
    pub(super) kind: Kind,
    /// The task's place in the plan.
    pub(super) task: usize,
    /// Its row in the group.
    pub(super) row: usize,
    pub(super) start: Micros,
    pub(super) end: Micros,
    /// When a reduce had fetched everything.
    pub(super) fetched: Option<Micros>,
    pub(super) outcome: Outcome,
    pub(super) is_copy: bool,
    /// It failed, or the cluster took its container away, so its work was done again.
    pub(super) is_failed: bool,
    /// Bytes that it read from the job's input, or from the maps.
    pub(super) bytes: Option<u64>,
    pub(super) records: Option<u64>,
    /// The time of its garbage collections.
    pub(super) collections: Option<Micros>,
    /// Bytes that it read from local disks: what it had spilled or merged there.
    pub(super) spilled: Option<u64>,
    /// How long a retry waited after the failure although there was a container; `None` if there was none.
    pub(super) delay: Option<Micros>,
    /// A reduce's work is split when the end of the last map is known.
    pub(super) work: Work,
}

impl Attempt {
    pub(super) const fn succeeded(&self) -> bool {
        matches!(self.outcome, Outcome::Succeeded)
    }

    /// The attempt in `row`; `None` without a start, or without a later end.
    pub(super) fn read(group: &TaskGroup, row: usize, kind: Kind, zero: Timestamp) -> Option<Self> {
        let attempts = &group.attempts;
        let at = |point| attempts.time(row, point).map(|time| Micros::between(zero, time));
        let (start, end) = (at(TimePoint::Start)?, at(TimePoint::Finish)?);
        if end < start {
            return None;
        }
        let (bytes, records): (&[Counter], _) = match kind {
            Kind::Map => (&Counter::INPUT_BYTES, Counter::MapInputRecords),
            Kind::Reduce => (&[Counter::ReduceShuffleBytes], Counter::ReduceInputRecords),
        };
        let fetched = at(TimePoint::ShuffleFinish).filter(|at| (start..=end).contains(at));
        Some(Self {
            kind,
            task: attempts.task(row)?,
            row,
            start,
            end,
            fetched: fetched.filter(|_| kind == Kind::Reduce),
            outcome: attempts.outcome(row),
            is_copy: attempts.is_speculative(row) == Some(true),
            is_failed: attempts.outcome(row) == Outcome::Failed,
            bytes: attempts.total(row, bytes),
            records: attempts.total(row, &[records]),
            collections: attempts
                .millis(row, Counter::GcTimeMillis)
                .map(|time| Micros::from_f64(time.as_f64() * 1000.0)),
            spilled: attempts.count(row, Counter::FileBytesRead),
            delay: None,
            work: Work::Alone(end - start),
        })
    }
}

/// A recorded task.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) kind: Kind,
    /// Its attempts by their place in the plan, in the order in which they started.
    pub(super) attempts: Vec<usize>,
    /// The attempt that succeeded first.
    pub(super) winner: Option<usize>,
    /// When that attempt ended, or else the last one.
    pub(super) end: Micros,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_reduce_change_alike() {
        let ms = Micros::from_millis;
        let work = Work::Reduce(ReduceWork { shuffle: ms(400), tail: ms(100), rest: ms(600) });
        let halved = Work::Reduce(ReduceWork { shuffle: ms(200), tail: ms(50), rest: ms(300) });
        assert_eq!(work.lasting(ms(500)), halved);
        assert_eq!(work.lasting(ms(-5)).time(), Micros::ZERO);
        assert_eq!(work.lasting(Micros::ZERO).lasting(ms(7)).time(), ms(7));
        assert_eq!(Work::Alone(ms(5)).lasting(ms(-1)), Work::Alone(Micros::ZERO));
    }
}
