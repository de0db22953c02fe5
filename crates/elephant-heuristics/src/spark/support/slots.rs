//! How many task slots there were, and how much of them was idle, in a span of time.

use std::cell::OnceCell;

use super::memory;
use elephant_base::units::Timestamp;
use elephant_model::model::Application;
use elephant_model::model::spark::Spark;
use elephant_model::model::table::TimePoint;

/// The time of slots and of tasks over time.
pub(in crate::spark) struct Slots<'a> {
    app: &'a Application,
    /// The start, the end and the slots of each worker; `i64::MAX` if it has no end.
    workers: Vec<(i64, i64, u64)>,
    /// See [`busy`]. Most applications do not need it.
    busy: OnceCell<Vec<(i64, f64, i64)>>,
}

impl<'a> Slots<'a> {
    pub(in crate::spark) fn of(app: &'a Application, spark: &Spark) -> Self {
        let worker = |worker: &elephant_model::model::spark::Executor| {
            let from =
                worker.added_at.or(worker.totals.first_task_at).or(app.launched_at).or(app.submitted_at);
            let to = worker.removed_at.map_or(i64::MAX, Timestamp::as_millis);
            (from.map_or(i64::MIN, Timestamp::as_millis), to, memory::slots(app, worker))
        };
        Self { app, workers: spark.workers().map(worker).collect(), busy: OnceCell::new() }
    }

    /// The average number of slots; `None` for an empty span, or if there was no slot.
    pub(in crate::spark) fn within(&self, from: i64, to: i64) -> Option<f64> {
        let span = (to - from) as f64;
        let open = |&(start, end, slots): &(i64, i64, u64)| {
            (end.min(to) - start.max(from)).max(0) as f64 * slots as f64
        };
        let slots = self.workers.iter().map(open).sum::<f64>() / span;
        (span > 0.0 && slots > 0.0).then_some(slots)
    }

    /// How many of `slots` were idle on average.
    pub(in crate::spark) fn idle(&self, slots: f64, from: i64, to: i64) -> f64 {
        let taken = self.taken_until(to) - self.taken_until(from);
        (slots - taken / (to - from) as f64).max(0.0)
    }

    /// The time that all tasks had taken until a moment.
    fn taken_until(&self, moment: i64) -> f64 {
        let busy = self.busy.get_or_init(|| busy(self.app));
        let next = busy.partition_point(|(at, ..)| *at <= moment);
        let last = next.checked_sub(1).and_then(|last| busy.get(last));
        last.map_or(0.0, |&(at, taken, running)| ((moment - at) as f64).mul_add(running as f64, taken))
    }
}

/// For each launch or end of a task: its time, the time that tasks had taken until then, and the number of tasks that
/// run from then on.
fn busy(app: &Application) -> Vec<(i64, f64, i64)> {
    let (mut starts, mut ends): (Vec<i64>, Vec<i64>) = (Vec::new(), Vec::new());
    for attempts in app.groups.iter().map(|group| &group.attempts) {
        for row in 0..attempts.len() {
            if let (Some(start), Some(end)) = (attempts.time(row, TimePoint::Start), attempts.work_end(row)) {
                starts.push(start.as_millis());
                ends.push(end.as_millis());
            }
        }
    }
    // Two lists of numbers are sorted faster than one of events.
    starts.sort_unstable();
    ends.sort_unstable();
    let (mut taken, mut running, mut last) = (0.0, 0, i64::MIN);
    let after = merged(&starts, &ends).map(|(at, step)| {
        if running > 0 {
            taken += (at - last) as f64 * running as f64;
        }
        running += step;
        last = at;
        (at, taken, running)
    });
    after.collect()
}

/// Launches (1) and ends (−1) in the order of their times; at the same time, ends come first.
fn merged<'a>(starts: &'a [i64], ends: &'a [i64]) -> impl Iterator<Item = (i64, i64)> + 'a {
    let (mut starts, mut ends) = (starts.iter().peekable(), ends.iter().peekable());
    std::iter::from_fn(move || {
        if let Some(&end) = ends.next_if(|end| starts.peek().is_none_or(|start| *end <= start)) {
            return Some((end, -1));
        }
        starts.next().map(|&start| (start, 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::Engine;

    #[test]
    fn idle_slots_are_those_without_a_task() {
        // Two slots from 0 to 100, two more from 50 on. One task from 0 to 40, one from 20 to 60.
        let busy = vec![(0, 0.0, 1), (20, 20.0, 2), (40, 60.0, 1), (60, 80.0, 0)];
        let app = Application::new(Engine::Spark);
        let slots =
            Slots { app: &app, workers: vec![(0, 100, 2), (50, i64::MAX, 2)], busy: OnceCell::from(busy) };
        let within = |from, to| {
            let open = slots.within(from, to).unwrap();
            (open, slots.idle(open, from, to))
        };
        assert_eq!(within(0, 40), (2.0, 0.5));
        assert_eq!(within(20, 40), (2.0, 0.0));
        assert_eq!(within(50, 60), (4.0, 3.0));
        assert_eq!(within(0, 100), (3.0, 2.2));
        assert!(slots.within(5, 5).is_none() && slots.within(-10, -5).is_none());
    }
}
