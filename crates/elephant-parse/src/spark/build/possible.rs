//! Times outside the life of their application, stage or executor, which are unknown.
//!
//! The driver takes all of them from its own clock. One wrong time must not decide for the others: if most of the log
//! contradicts a time, that one is wrong.

use super::{Builder, Outside, StageRecord};
use crate::reading::latest_believed;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::conf::ConfKey;
use elephant_model::model::spark::StageStatus;
use elephant_model::model::table::TimePoint;

/// Tolerance between times that the driver takes one after the other.
pub(super) const TOLERANCE: Millis = Millis::from_secs(1);
/// Tolerance after the application's end: the driver still records the ends of tasks and executors.
pub(super) const AFTER_THE_END: Millis = Millis::from_secs(60);
/// The same for tasks: in a short application, a minute would be much.
const LEAST_AFTER_THE_END: Millis = Millis::from_secs(5);
/// How long an executor may take from its registration to that of its block manager.
const UNTIL_REGISTERED: Millis = Millis::from_secs(10 * 60);

/// The span between two times, whichever is first.
pub(super) fn apart(one: Timestamp, other: Timestamp) -> Millis {
    Millis::between(one, other).or_else(|| Millis::between(other, one)).unwrap_or_default()
}

/// Whether `at` is later than `limit` by more than `tolerance`; false if either is unknown.
pub(super) fn later(at: Option<Timestamp>, limit: Option<Timestamp>, tolerance: Millis) -> bool {
    at.zip(limit).is_some_and(|(at, limit)| at > limit + tolerance)
}

/// How long after the application's end a task may start or end.
fn after_the_end(start: Option<Timestamp>, end: Option<Timestamp>) -> Millis {
    let life = start.zip(end).and_then(|(start, end)| Millis::between(start, end));
    let tenth = life.map_or(AFTER_THE_END, |life| Millis::new(life.get() / 10));
    tenth.clamp(LEAST_AFTER_THE_END, AFTER_THE_END)
}

/// Whether a time lies between these two, as far as they are known.
pub(super) fn is_within(at: Timestamp, (from, to): (Option<Timestamp>, Option<Timestamp>)) -> bool {
    !later(from, Some(at), TOLERANCE) && !later(Some(at), to, TOLERANCE)
}

/// Forgets a time and counts it, if it is wrong.
fn forget(time: &mut Option<Timestamp>, is_wrong: bool, count: &mut u64) {
    if is_wrong {
        *time = None;
        *count += 1;
    }
}

impl Builder {
    /// Forgets times of the application, its jobs, stages and tasks that cannot be right. Outcomes must be known.
    pub(super) fn forget_impossible_times(&mut self) {
        self.forget_times_of_application();
        self.find_last_event();
        let (start, end) =
            (self.app.submitted_at, self.app.finished_at.or_else(|| latest_believed(self.moments())));
        let outside = |at: Option<Timestamp>| later(start, at, TOLERANCE) || later(at, end, TOLERANCE);
        for job in &mut self.jobs {
            for time in [&mut job.submitted_at, &mut job.completed_at] {
                let is_wrong = outside(*time);
                forget(time, is_wrong, &mut self.seen.outside.jobs);
            }
        }
        for record in &mut self.stages {
            for time in [&mut record.stage.submitted_at, &mut record.stage.completed_at] {
                let is_wrong = outside(*time);
                forget(time, is_wrong, &mut self.seen.outside.stages);
            }
            self.seen.after_the_end += record.forget_ends_after((start, end));
            record.forget_launches_outside((start, end), &mut self.seen.outside);
            record.forget_times_outside_stage(&mut self.seen.outside);
        }
    }

    /// Forgets times and peaks of executors that cannot be right. Their tasks must be known.
    pub(super) fn forget_impossible_executors(&mut self) {
        self.forget_impossible_cores();
        let end = self.app.finished_at.or_else(|| latest_believed(self.moments()));
        let start = self.app.submitted_at;
        let heap = |key| self.app.conf.text(key).and_then(|_| self.app.conf.spark_memory(key));
        let (executor_heap, driver_heap) = (heap(ConfKey::ExecutorMemory), heap(ConfKey::DriverMemory));
        for (place, executor) in self.executors.iter_mut().enumerate() {
            let added = executor.added_at;
            let registered = self.registered.get(&place).copied();
            let is_wrong = later(start, added, AFTER_THE_END)
                || later(added, end, AFTER_THE_END)
                || later(added, executor.totals.first_task_at, TOLERANCE)
                || added.zip(registered).is_some_and(|(one, other)| apart(one, other) > UNTIL_REGISTERED);
            forget(&mut executor.added_at, is_wrong, &mut self.seen.outside.executors);
            let removed = executor.removed_at;
            let is_wrong = later(removed, end, AFTER_THE_END)
                || later(executor.totals.last_task_at, removed, AFTER_THE_END)
                || later(executor.added_at, removed, TOLERANCE);
            forget(&mut executor.removed_at, is_wrong, &mut self.seen.outside.executors);
            let is_default = executor.resource_profile.unwrap_or_default() == 0 && !executor.is_driver();
            let heap = if executor.is_driver() { driver_heap } else { executor_heap.filter(|_| is_default) };
            executor.forget_peaks_beyond(heap);
        }
    }
}

impl StageRecord {
    /// Forgets ends after the application's, and returns their number.
    fn forget_ends_after(&mut self, (start, end): (Option<Timestamp>, Option<Timestamp>)) -> u64 {
        let tolerance = after_the_end(start, end);
        if !later(self.last_end(), end, tolerance) {
            return 0;
        }
        self.forget(TimePoint::Finish, |finished| later(Some(finished), end, tolerance))
    }

    fn forget_launches_outside(
        &mut self,
        (start, end): (Option<Timestamp>, Option<Timestamp>),
        outside: &mut Outside,
    ) {
        let tolerance = after_the_end(start, end);
        if later(start, self.first_launch(), TOLERANCE) || later(self.last_launch(), end, tolerance) {
            outside.tasks += self.forget(TimePoint::Start, |launched| {
                later(start, Some(launched), TOLERANCE) || later(Some(launched), end, tolerance)
            });
        }
    }

    /// Tasks are launched after their stage was submitted. The stage completes after all its tasks have; copies may end
    /// later, and so may tasks of a stage that was tried again.
    fn forget_times_outside_stage(&mut self, outside: &mut Outside) {
        let attempts = &self.group.attempts;
        let submitted = self.stage.submitted_at;
        if later(submitted, self.first_launch(), TOLERANCE) {
            let early = (0..attempts.len())
                .filter(|&row| later(submitted, attempts.time(row, TimePoint::Start), TOLERANCE))
                .collect();
            self.forget_smaller(TimePoint::Start, early, outside);
        }
        let attempts = &self.group.attempts;
        let is_first = self.stage.id.attempt == 0 && self.stage.status == StageStatus::Complete;
        let completed = self.stage.completed_at.filter(|_| is_first);
        if later(self.last_end(), completed, TOLERANCE) {
            let tasks = &self.group.tasks;
            let late = (0..tasks.len())
                .filter_map(|task| tasks.representative(task))
                .filter(|&row| later(attempts.time(row, TimePoint::Finish), completed, TOLERANCE))
                .collect();
            self.forget_smaller(TimePoint::Finish, late, outside);
        }
    }

    /// Forgets the times of these rows, or that of the stage if most rows contradict it.
    fn forget_smaller(&mut self, point: TimePoint, rows: Vec<usize>, outside: &mut Outside) {
        let count = self.group.attempts.len();
        if 2 * rows.len() > count {
            outside.stages += 1;
            match point {
                TimePoint::Start => self.stage.submitted_at = None,
                _ => self.stage.completed_at = None,
            }
        }
        // Either the one task or its stage may be wrong.
        if 2 * rows.len() <= count || count == 1 {
            outside.tasks += rows.len() as u64;
            for row in rows {
                self.group.attempts.set_time(row, point, None);
            }
        }
    }

    /// Forgets the times of a kind that are wrong, and returns their number.
    fn forget(&mut self, point: TimePoint, is_wrong: impl Fn(Timestamp) -> bool) -> u64 {
        let attempts = &mut self.group.attempts;
        let mut count = 0;
        for row in 0..attempts.len() {
            if attempts.time(row, point).is_some_and(&is_wrong) {
                attempts.set_time(row, point, None);
                count += 1;
            }
        }
        count
    }
}
