//! The same work without a trouble: each cause changes a part of the recording.

use std::collections::BTreeMap;

use super::attempts::{ReduceWork, Task, Work};
use super::overhead::{FAR, Sample};
use super::{Change, Kind, Plan, Unknown};
use crate::replay::{MAX_TASKS, Micros, PerMille, as_uneven, merged, spread};
use elephant_base::units::Bytes;
use elephant_model::model::table::{Outcome, TaskKind};

/// The part of a task's time that a smaller number of tasks saves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StartUp {
    /// The time between attempts on a slot: a lower bound. If map tasks clearly show their fixed cost, the least that it may
    /// be in addition.
    Container,
    /// In addition, the intercept of a fit of time on bytes: an upper bound. If map tasks clearly show their fixed cost, the
    /// most that it may be. If the times do not grow with the bytes, the usual maximum for the start of a JVM.
    Intercept,
    /// In addition, this time of each task.
    Known(Micros),
}

/// What a change removes or sets. Causes apply in the order of the variants, whatever the order they are given in.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub enum Cause {
    /// Failed attempts do not happen.
    FailedAttempts(Kind),
    /// Speculative copies that lost are not started.
    LosingCopies(Kind),
    /// No speculative copies are started. Killed originals end where they were killed, so what the job takes is a lower
    /// bound.
    Speculation(Kind),
    /// Garbage collection takes at most this share of the time of each task.
    Collections(Kind, PerMille),
    /// Nothing is read from local disks that was written there for lack of memory.
    Spill(Kind),
    /// Tasks that are slower than their input explains take the time that the input explains.
    Stragglers(Kind),
    /// Work is levelled between tasks whose input explains their time and the others.
    Skew(Kind),
    /// Another number of tasks does the same work.
    Tasks(Kind, usize, StartUp),
    /// As many maps as splits of this size.
    SplitSize(Bytes, StartUp),
    /// The share of maps that must have ended before reduces start.
    SlowStart(f64),
}

impl Cause {
    const fn order(self) -> u8 {
        match self {
            Self::FailedAttempts(_) => 0,
            Self::LosingCopies(_) | Self::Speculation(_) => 1,
            Self::Collections(..) => 2,
            Self::Spill(_) => 3,
            Self::Stragglers(_) => 4,
            Self::Skew(_) => 5,
            Self::Tasks(..) => 6,
            Self::SplitSize(..) => 7,
            Self::SlowStart(_) => 8,
        }
    }
}

impl Plan {
    /// A change that shortens attempts by these times, given by the kind of their group and their row in it.
    #[must_use]
    pub fn shortened(&self, cuts: &BTreeMap<(TaskKind, usize), Micros>) -> Change {
        let mut change = Change::default();
        for (place, attempt) in self.attempts.iter().enumerate() {
            if let Some(&less) = cuts.get(&(attempt.kind.group(), attempt.row)) {
                change.set_time(place, (attempt.work.time() - less).or_zero());
            }
        }
        change
    }

    /// The change without these causes.
    pub fn without(&self, causes: &[Cause]) -> Result<Change, Unknown> {
        let mut sorted = causes.to_vec();
        sorted.sort_by_key(|cause| cause.order());
        let mut change = Change::default();
        for cause in sorted {
            self.apply(cause, &mut change)?;
        }
        Ok(change)
    }

    /// Adds one cause to a change.
    pub(crate) fn apply(&self, cause: Cause, change: &mut Change) -> Result<(), Unknown> {
        match cause {
            Cause::FailedAttempts(kind) => self.drop_failed(kind, change),
            Cause::LosingCopies(kind) => self.drop_losing_copies(kind, change),
            Cause::Speculation(kind) => {
                let mut of_kind = self.attempts.iter().filter(|attempt| attempt.kind == kind);
                *change.without_speculation.get_mut(kind) = of_kind.any(|attempt| attempt.is_copy);
            }
            Cause::Collections(kind, limit) => self.limit_collections(kind, limit, change)?,
            Cause::Spill(kind) => self.keep_in_memory(kind, change)?,
            Cause::Stragglers(kind) => self.speed_up_stragglers(kind, change)?,
            Cause::Skew(kind) => {
                // Later tasks get longer, which costs more than it saves if the large tasks did not hold up the job.
                let levelled = self.level(kind, change)?;
                if let Some(levelled) = levelled
                    && self.replay(&levelled).wall < self.replay(change).wall
                {
                    *change = levelled;
                }
            }
            Cause::Tasks(kind, count, start_up) => self.spread(kind, count, start_up, change)?,
            Cause::SplitSize(size, start_up) => {
                let maps = self.maps_of_splits(size)?;
                self.spread(Kind::Map, maps, start_up, change)?;
            }
            Cause::SlowStart(share) => {
                if !(0.0..=1.0).contains(&share) {
                    return Err(Unknown::BadValue);
                }
                change.slow_start = Some(share);
            }
        }
        Ok(())
    }

    /// The maps of the job if its input is split into parts of this size. Small files lead to more.
    pub(crate) fn maps_of_splits(&self, size: Bytes) -> Result<usize, Unknown> {
        let total = self.sample(Kind::Map, &Change::default())?.total_bytes().ok_or(Unknown::NoInput)?;
        let size = Some(size.get()).filter(|size| *size > 0).ok_or(Unknown::BadValue)?;
        let maps = total.div_ceil(size);
        usize::try_from(maps).ok().filter(|_| maps <= u64::from(MAX_TASKS)).ok_or(Unknown::TooManyTasks)
    }

    /// The part of each task's time that does not depend on its input, if the times grow with the input.
    pub fn start_up(&self, kind: Kind) -> Option<Micros> {
        self.sample(kind, &Change::default()).ok()?.intercept().map(Micros::from_f64)
    }

    /// What a map task costs whatever it reads, if `count` of them do the work and the recorded ones clearly show it.
    #[must_use]
    pub fn fixed_cost_of_maps(&self, count: usize) -> Option<Micros> {
        let cost = self.sample(Kind::Map, &Change::default()).ok()?.fixed_cost(count)?;
        Some(Micros::from_f64(cost.likely))
    }

    /// The winners of a kind with their times in the change.
    fn sample(&self, kind: Kind, change: &Change) -> Result<Sample, Unknown> {
        Sample::of(self, kind, |place, attempt| change.time(place).unwrap_or_else(|| attempt.work.time()))
    }

    fn drop_failed(&self, kind: Kind, change: &mut Change) {
        let failed = self.attempts.iter().enumerate().filter(|(_, attempt)| {
            let has_winner = self.tasks.get(attempt.task).is_some_and(|task| task.winner.is_some());
            attempt.kind == kind && attempt.is_failed && has_winner
        });
        change.dropped.extend(failed.map(|(place, _)| place));
    }

    fn drop_losing_copies(&self, kind: Kind, change: &mut Change) {
        let lost = self.attempts.iter().enumerate().filter(|(_, attempt)| {
            let winner = self.tasks.get(attempt.task).and_then(|task| self.attempts.get(task.winner?));
            let original_won = winner.is_some_and(|winner| !winner.is_copy);
            attempt.kind == kind && attempt.is_copy && !attempt.succeeded() && original_won
        });
        change.dropped.extend(lost.map(|(place, _)| place));
    }

    /// A straggler takes more than the median, and more than its input explains, both by far. So does an original
    /// that a speculative copy has overtaken.
    ///
    /// Spark's replay leaves out the first task of each core, which warms up the JVM. In MapReduce every task has
    /// a JVM of its own, so the median contains that.
    fn speed_up_stragglers(&self, kind: Kind, change: &mut Change) -> Result<(), Unknown> {
        let sample = self.sample(kind, change)?;
        for ((&place, &time), expected) in
            sample.places.iter().zip(&sample.times).zip(sample.at_least_median())
        {
            let is_far = |time: f64| time > FAR * expected;
            let expected_time = Micros::from_f64(expected);
            if is_far(time) {
                change.set_time(place, expected_time);
            }
            let overtaken = self.overtaken(place).filter(|(_, time)| is_far(time.as_f64()));
            if let Some((original, _)) = overtaken {
                change.set_time(original, expected_time);
            }
        }
        Ok(())
    }

    /// The original that was killed because the copy in `place` succeeded, and how long it had worked.
    fn overtaken(&self, place: usize) -> Option<(usize, Micros)> {
        let copy = self.attempts.get(place).filter(|attempt| attempt.is_copy)?;
        let others = self.tasks.get(copy.task)?.attempts.iter();
        let others = others.filter_map(|&at| Some((at, self.attempts.get(at)?)));
        let mut killed = others.filter(|(_, other)| {
            !other.is_copy
                && other.outcome == Outcome::Killed
                && other.start <= copy.start
                && copy.start < other.end
        });
        let (original, attempt) = killed.next()?;
        let last_map = self.last_map.filter(|_| copy.kind == Kind::Reduce).unwrap_or(attempt.start);
        Some((original, (attempt.end - attempt.start.max(last_map)).or_zero()))
    }

    /// The excess over the mean of tasks whose bytes or records explain their time goes to tasks below the mean.
    /// `None` if there are no such tasks.
    fn level(&self, kind: Kind, change: &Change) -> Result<Option<Change>, Unknown> {
        let mut levelled = change.clone();
        let sample = self.sample(kind, change)?;
        let explanations: Vec<Vec<f64>> =
            [sample.by_bytes(), sample.by_records()].into_iter().flatten().collect();
        if explanations.is_empty() {
            return Err(Unknown::NoInput);
        }
        let (middle, mean) = (sample.median(), sample.mean());
        let is_explained = |at: usize| {
            explanations.iter().any(|expected| expected.get(at).is_some_and(|time| *time > FAR * middle))
        };
        let is_large = |at: usize, time: f64| time > FAR * middle && time > mean && is_explained(at);
        let mut excess = 0.0;
        let mut room = 0.0;
        for (at, &time) in sample.times.iter().enumerate() {
            excess += if is_large(at, time) { time - mean } else { 0.0 };
            room += (mean - time).max(0.0);
        }
        if excess <= 0.0 || room <= 0.0 {
            return Ok(None);
        }
        let share = (excess / room).min(1.0);
        for (at, (&place, &time)) in sample.places.iter().zip(&sample.times).enumerate() {
            if is_large(at, time) {
                levelled.set_time(place, Micros::from_f64(mean));
            } else if time < mean {
                levelled.set_time(place, Micros::from_f64((mean - time).mul_add(share, time)));
            }
        }
        Ok(Some(levelled))
    }

    /// The attempts of a kind that did not succeed before their tasks did, by the numbers of those of `count` new tasks
    /// that are in the same place of the order. Another number of tasks does not prevent failures, so it must not save
    /// what they took.
    fn repeated(&self, kind: Kind, count: usize, change: &Change) -> BTreeMap<usize, Vec<usize>> {
        let tasks = self.tasks.iter().filter(|task| task.kind == kind && !task.attempts.is_empty());
        let tasks: Vec<&Task> = tasks.collect();
        let mut repeated: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, task) in tasks.iter().enumerate() {
            let winner = task.winner.and_then(|place| Some((place, self.attempts.get(place)?)));
            let is_repeated = |place: &usize| {
                let Some(attempt) = self.attempts.get(*place) else { return false };
                // What ran beside a copy that succeeded did not delay it.
                let is_before = winner.is_none_or(|(at, winner)| {
                    *place < at && (!winner.is_copy || attempt.end <= winner.start)
                });
                is_before && !attempt.succeeded() && !attempt.is_copy && !change.dropped.contains(place)
            };
            let mut places = task.attempts.iter().copied().filter(is_repeated).peekable();
            if places.peek().is_some() {
                repeated.entry(number * count / tasks.len()).or_default().extend(places);
            }
        }
        repeated
    }

    /// The work of all tasks, spread evenly over `count` tasks. The attempts that did not succeed stay as they are.
    fn spread(
        &self,
        kind: Kind,
        count: usize,
        start_up: StartUp,
        change: &mut Change,
    ) -> Result<(), Unknown> {
        if count == 0 {
            return Err(Unknown::BadValue);
        }
        if count > MAX_TASKS as usize {
            return Err(Unknown::TooManyTasks);
        }
        let sample = self.sample(kind, change)?;
        let fewer = count < sample.times.len();
        if !fewer {
            *change.room.get_mut(kind) = self.room.for_tasks(kind, count)?;
        }
        *change.repeated.get_mut(kind) = self.repeated(kind, count, change);
        let fixed = if fewer && kind == Kind::Map { sample.fixed_cost(count) } else { None };
        let each = match (start_up, fixed) {
            (StartUp::Known(time), _) => time.as_f64(),
            (StartUp::Container, Some(fixed)) => fixed.least,
            (StartUp::Intercept, Some(fixed)) => fixed.most,
            (StartUp::Container, None) => 0.0,
            // The overhead of each task, which fewer tasks would save.
            (StartUp::Intercept, None) => {
                let usual = || if fewer { sample.usual_start_up() } else { 0.0 };
                sample.intercept().unwrap_or_else(usual)
            }
        };
        if kind == Kind::Map {
            let parts = if fewer {
                let works: Vec<f64> = sample.times.iter().map(|time| (time - each).max(0.0)).collect();
                merged(&works, count)
            } else {
                // Time that the input does not explain, such as that of a slow host, is not shorter with less input.
                let usual = sample.usual();
                let times = usual.iter().zip(&sample.times);
                let works: Vec<(f64, f64)> =
                    times.map(|(usual, time)| ((usual - each).max(0.0), time - usual)).collect();
                spread(&works, count)
            };
            change.maps = Some(parts.into_iter().map(|part| Micros::from_f64(each + part)).collect());
            return Ok(());
        }
        change.reduces = Some(self.spread_reduces(&sample, count, each, change));
        Ok(())
    }

    /// The work of all reduces, spread over `count` of them with an overhead of `each`. More reduces are as uneven as the
    /// recorded ones were: hashing does not split the records of a key. Fewer are even.
    fn spread_reduces(&self, sample: &Sample, count: usize, each: f64, change: &Change) -> Vec<ReduceWork> {
        let part = |sum: f64| sum / count as f64;
        let tasks = sample.times.len() as f64;
        // With more reduces, one of them keeps the time by which a reduce was slowed down, as for maps.
        let more = count >= sample.times.len();
        let slowed = sample.usual().into_iter().zip(&sample.times);
        let mut slowed: Vec<f64> =
            slowed.map(|(usual, time)| if more { time - usual } else { 0.0 }).collect();
        let mut sums = (0.0, 0.0, 0.0);
        let mut sizes = Vec::with_capacity(sample.times.len());
        for (&place, slowed) in sample.places.iter().zip(&mut slowed) {
            let Some(attempt) = self.attempts.get(place) else { continue };
            let work = change.time(place).map_or(attempt.work, |time| attempt.work.lasting(time));
            let (rest, shuffle) = match work {
                Work::Alone(time) => (time, 0.0),
                Work::Reduce(work) => {
                    sums.0 += work.shuffle.as_f64();
                    sums.1 += work.tail.as_f64();
                    (work.rest, work.shuffle.as_f64())
                }
            };
            // A slow shuffle waits for maps or the network, which all reduces share.
            *slowed = slowed.min(rest.as_f64());
            sums.2 += rest.as_f64() - *slowed;
            sizes.push(if more { shuffle + rest.as_f64() - *slowed } else { 1.0 });
        }
        // The JVM starts before the shuffle, so its start does not delay a reduce that starts before the last map ends.
        let shuffle = (each + part((sums.0 - each * tasks).max(0.0))).min(each + part(sums.0));
        let work = ReduceWork {
            shuffle: Micros::from_f64(shuffle),
            tail: Micros::from_f64(part(sums.1).min(shuffle)),
            rest: Micros::from_f64(part(sums.2 - (each * tasks - sums.0).max(0.0)).max(0.0)),
        };
        let shares = as_uneven(&sizes, count);
        let mut reduces: Vec<ReduceWork> = shares.into_iter().map(|share| work.times(share)).collect();
        for (at, slowed) in slowed.iter().enumerate() {
            if let Some(reduce) = reduces.get_mut(at * count / sample.times.len().max(1)) {
                reduce.rest += Micros::from_f64(*slowed);
            }
        }
        reduces
    }
}
