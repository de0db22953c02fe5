//! The slots that tasks ran on: one for each task that an executor runs at once.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use rustc_hash::FxHashMap;

use super::plan::{Attempt, Clock, Step, Window, to_u32};
use crate::replay::Micros;
use elephant_model::model::spark::{Executor, Placement, Spark};
use elephant_model::model::{Application, Symbol};

/// The windows of all executors, by their start. Sets [`Attempt::early`].
pub(super) fn windows(
    app: &Application,
    spark: &Spark,
    clock: Clock,
    attempts: &mut [Attempt],
) -> Vec<Window> {
    let mut by_executor: FxHashMap<Option<Symbol>, Vec<usize>> = FxHashMap::default();
    for (place, attempt) in attempts.iter().enumerate() {
        by_executor.entry(attempt.executor).or_default().push(place);
    }
    let mut by_executor: Vec<_> = by_executor.into_iter().collect();
    by_executor.sort_by_key(|(symbol, _)| *symbol);
    let placement = Placement::of(app);
    let mut windows = Vec::new();
    let mut used: BTreeSet<&str> = BTreeSet::new();
    for (symbol, mut places) in by_executor {
        places.sort_by_key(|&place| attempts.get(place).map(|attempt| (attempt.launch, place)));
        let name = symbol.and_then(|symbol| app.strings.get(symbol)).unwrap_or_default();
        let announced = executors(spark, name);
        let slots = announced.iter().find_map(|executor| placement.slots(executor));
        match slots {
            Some(slots) => {
                give_slots_back(slots, &places, attempts);
                windows.extend(announced_windows(announced, slots, clock, &places, attempts));
                used.insert(name);
            }
            None => windows.extend(unannounced_window(&places, attempts)),
        }
    }
    let end = attempts.iter().map(|attempt| attempt.finish).max().unwrap_or_default();
    let idle = spark.executors.iter().filter(|executor| !used.contains(executor.id.as_str()));
    windows.extend(idle.filter_map(|executor| {
        let from = clock.at(executor.added_at?);
        let to = executor.removed_at.map(|at| clock.at(at));
        (from <= end).then_some(Window { from, to, slots: placement.slots(executor)? })
    }));
    windows.sort_by_key(|window| (window.from, window.to, window.slots));
    windows
}

/// The executors with this id, or the driver in local mode.
fn executors<'a>(spark: &'a Spark, name: &str) -> &'a [Executor] {
    let found = spark.executors_with_id(name);
    let is_driver = found.is_empty() && spark.executors.is_empty() && spark.driver.totals.tasks > 0;
    if is_driver { std::slice::from_ref(&spark.driver) } else { found }
}

/// Windows of executors that have the same id, one after the other. Tasks may be launched a little before the log
/// announces their executor.
fn announced_windows(
    announced: &[Executor],
    slots: u32,
    clock: Clock,
    places: &[usize],
    attempts: &[Attempt],
) -> Vec<Window> {
    let launch =
        |place: Option<&usize>| place.and_then(|&place| attempts.get(place)).map(|attempt| attempt.launch);
    let (first, last) = (launch(places.first()), launch(places.last()));
    let count = announced.len();
    let window = |(at, executor): (usize, &Executor)| {
        let added = executor.added_at.map(|added| clock.at(added));
        let removed = executor.removed_at.map(|removed| clock.at(removed));
        let from = if at == 0 { added.into_iter().chain(first).min() } else { added };
        let to = if at + 1 == count {
            removed.map(|removed| removed.max(last.unwrap_or(removed)))
        } else {
            removed
        };
        Some(Window { from: from?, to, slots })
    };
    announced.iter().enumerate().filter_map(window).collect()
}

/// The window of an executor that the log does not announce: from its first launch, with as many slots as tasks ran at
/// once.
fn unannounced_window(places: &[usize], attempts: &[Attempt]) -> Option<Window> {
    let mut ends: BinaryHeap<Reverse<Micros>> = BinaryHeap::new();
    let (mut from, mut slots) = (None, 0);
    for attempt in places.iter().filter_map(|&place| attempts.get(place)) {
        from.get_or_insert(attempt.launch);
        while ends.peek().is_some_and(|end| end.0 <= attempt.launch) {
            ends.pop();
        }
        ends.push(Reverse(attempt.gives_back()));
        slots = slots.max(ends.len());
    }
    Some(Window { from: from?, to: None, slots: u32::try_from(slots).unwrap_or(u32::MAX) })
}

/// Where a launch exceeds the executor's slots, the running task nearest to its end has already given its slot back.
fn give_slots_back(slots: u32, places: &[usize], attempts: &mut [Attempt]) {
    let mut running: BinaryHeap<Reverse<(Micros, usize)>> = BinaryHeap::new();
    for &place in places {
        let Some(attempt) = attempts.get(place) else { continue };
        let (launch, end) = (attempt.launch, attempt.gives_back());
        while running.peek().is_some_and(|first| first.0.0 <= launch) {
            running.pop();
        }
        if running.len() >= slots as usize
            && let Some(Reverse((_, nearest))) = running.pop()
            && let Some(attempt) = attempts.get_mut(nearest)
        {
            attempt.early = attempt.finish - launch;
        }
        running.push(Reverse((end, place)));
    }
}

/// When a slot was free in the recorded run.
#[derive(Debug)]
pub(super) struct FreeSlots {
    /// Spans of time, in order; the end of a span does not belong to it.
    spans: Vec<(Micros, Micros)>,
}

impl FreeSlots {
    pub(super) fn of(windows: &[Window], attempts: &[Attempt]) -> Self {
        let mut steps: Vec<(Micros, i64)> = Vec::with_capacity(2 * windows.len());
        for window in windows {
            let slots = i64::from(window.slots);
            steps.push((window.from, slots));
            steps.extend(window.to.map(|to| (to, -slots)));
        }
        steps.sort_unstable();
        let sorted = |time: fn(&Attempt) -> Micros| {
            let mut times: Vec<Micros> = attempts.iter().map(time).collect();
            times.sort_unstable();
            times.into_iter().peekable()
        };
        let (mut launches, mut finishes) = (sorted(|attempt| attempt.launch), sorted(Attempt::gives_back));
        let mut steps = steps.into_iter().peekable();
        let (mut free, mut spans, mut free_from) = (0, Vec::new(), None);
        loop {
            let next_step = steps.peek().map(|(at, _)| *at);
            let next = [next_step, launches.peek().copied(), finishes.peek().copied()];
            let Some(now) = next.into_iter().flatten().min() else { break };
            while let Some((_, step)) = steps.next_if(|(at, _)| *at == now) {
                free += step;
            }
            while launches.next_if_eq(&now).is_some() {
                free -= 1;
            }
            while finishes.next_if_eq(&now).is_some() {
                free += 1;
            }
            if free > 0 {
                free_from.get_or_insert(now);
            } else if let Some(from) = free_from.take() {
                spans.push((from, now));
            }
        }
        spans.extend(free_from.map(|from| (from, Micros::MAX)));
        Self { spans }
    }

    /// The first time from `at` on at which a slot is free; `at` if there is none.
    pub(super) fn first_from(&self, at: Micros) -> Micros {
        let next = self.spans.partition_point(|(_, to)| *to <= at);
        self.spans.get(next).map_or(at, |(from, _)| at.max(*from))
    }
}

/// The changes of the number of slots. Executors are removed some time after a stage attempt was submitted; with dynamic
/// allocation they are also added then. `submissions` are those of the stage attempts, in order; after `end` nothing
/// changes.
pub(super) fn steps(windows: &[Window], submissions: &[Micros], dynamic: bool, end: Micros) -> Vec<Step> {
    let step = |at: Micros, slots: i32, follows: bool| {
        let after =
            submissions.partition_point(|&submitted| submitted <= at).checked_sub(1).filter(|_| follows);
        let from = after.and_then(|after| submissions.get(after)).copied().unwrap_or_default();
        Step { after: after.map(to_u32), time: at - from, slots }
    };
    let mut steps = Vec::with_capacity(2 * windows.len());
    for window in windows {
        let slots = i32::try_from(window.slots).unwrap_or(i32::MAX);
        steps.push(step(window.from, slots, dynamic));
        steps.extend(window.to.filter(|&to| to < end).map(|to| step(to, -slots, true)));
    }
    steps.sort_unstable();
    steps
}

/// When another number of slots would open: the first ones as recorded, further ones with the median executor. None of
/// them closes.
pub(super) fn openings(windows: &[Window], slots: u32) -> Vec<(Micros, i32)> {
    let mut left = slots;
    let mut openings = Vec::new();
    for window in windows {
        let opened = window.slots.min(left);
        left -= opened;
        openings.push((window.from, i32::try_from(opened).unwrap_or(i32::MAX)));
    }
    let median = windows.get(windows.len() / 2).map_or(Micros::ZERO, |window| window.from);
    openings.push((median, i32::try_from(left).unwrap_or(i32::MAX)));
    openings.retain(|(_, opened)| *opened > 0);
    openings
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::table::Outcome;
    use proptest::prelude::*;

    fn attempt((launch, time): (i64, i64)) -> Attempt {
        let ms = Micros::from_millis;
        Attempt {
            stage: 0,
            task: 0,
            row: 0,
            launch: ms(launch),
            finish: ms(launch + time),
            early: Micros::ZERO,
            executor: None,
            speculative: false,
            outcome: Outcome::Succeeded,
            only: true,
        }
    }

    proptest! {
        #[test]
        fn the_first_free_slot_is_that_of_a_count_at_each_time(
            lives in prop::collection::vec((0..20i64, prop::option::of(0..20i64), 1..3u32), 0..4),
            tasks in prop::collection::vec((0..20i64, 0..8i64), 0..12),
            at in 0..25i64,
        ) {
            let ms = Micros::from_millis;
            let window = |&(from, life, slots): &(i64, Option<i64>, u32)| {
                Window { from: ms(from), to: life.map(|life| ms(from + life)), slots }
            };
            let windows: Vec<Window> = lives.iter().map(window).collect();
            let attempts: Vec<Attempt> = tasks.iter().copied().map(attempt).collect();
            let free = |now: i64| {
                let held = lives.iter().filter(|(from, life, _)| {
                    *from <= now && life.is_none_or(|life| from + life > now)
                });
                let busy = tasks.iter().filter(|(launch, time)| *launch <= now && launch + time > now);
                held.map(|(_, _, slots)| *slots as usize).sum::<usize>() > busy.count()
            };
            // Nothing changes after this.
            let first = (at..60).find(|now| free(*now)).unwrap_or(at);
            prop_assert_eq!(FreeSlots::of(&windows, &attempts).first_from(ms(at)), ms(first));
        }
    }
}
