//! Values of a job history that are present but unreadable or impossible.

use super::HistoryBuilder;
use crate::event::{EventFields, EventPayload};
use crate::problem::{Position, Problems};
use crate::reading::{is_moment, truncate};
use elephant_model::model::counters::{Counter, CounterSet};
use elephant_model::model::table::{Attempts, MAX_COUNTER_VALUE};

impl HistoryBuilder {
    /// Warns about values of an event that cannot be read.
    pub(super) fn warn_unreadable(&mut self, at: Position, fields: &EventFields<'_>, payload: &EventPayload) {
        let times = [
            fields.submit_time,
            fields.launch_time,
            fields.start_time,
            fields.finish_time,
            fields.map_finish_time,
            fields.shuffle_finish_time,
            fields.sort_finish_time,
        ];
        if payload.unreadable.time || times.into_iter().flatten().any(|time| !is_moment(time)) {
            self.lost.events = true;
            self.problems.warn("bad-number", Some(at), || {
                "a time in an event is not a number of milliseconds between 1970 and 2199; it is unknown"
                    .into()
            });
        }
        if payload.unreadable.task_count {
            self.lost.numbers = true;
            self.problems.warn("impossible-task-count", Some(at), impossible_task_count);
        }
        for set in [&payload.counters, &payload.map_counters, &payload.reduce_counters] {
            if set.is_damaged() {
                self.lost.numbers = true;
                self.problems.warn("unreadable-counter", Some(at), || unreadable(set, fields));
            }
        }
    }
}

pub(super) fn impossible_task_count() -> String {
    "the job announces a task count that is not a number, or impossibly large; it is unknown".into()
}

/// The id of the task, attempt or job that an event is about.
fn subject<'f>(fields: &'f EventFields<'_>) -> &'f str {
    let ids = [&fields.attempt_id, &fields.task_id, &fields.job_id];
    ids.into_iter().find_map(|id| id.as_deref()).map_or("an event", |id| truncate(id, 80))
}

fn unreadable(set: &CounterSet, fields: &EventFields<'_>) -> String {
    let of = subject(fields);
    let unreadable = set.unreadable();
    let mut names = unreadable.iter().map(Counter::name);
    match (names.next(), names.next()) {
        (Some(name), None) => {
            format!("{name} of {of} is not a whole number; sums over it are unknown")
        }
        (Some(_), Some(_)) => {
            format!("counters of {of} cannot be read; sums over them are unknown")
        }
        (None, _) => format!("a user-defined counter of {of} is not a whole number; it is unknown"),
    }
}

/// Warns about counters of an attempt that are whole numbers but impossible values.
pub(super) fn warn_impossible(
    problems: &mut Problems,
    at: Position,
    attempts: &Attempts,
    row: usize,
    (fields, counters): (&EventFields<'_>, &CounterSet),
) {
    if attempts.unreadable(row).is_empty() {
        return;
    }
    let find = |wanted: fn(i64) -> bool| counters.iter().find(|&(_, value)| wanted(value));
    if let Some((counter, _)) = find(|value| value > MAX_COUNTER_VALUE) {
        problems.warn("impossible-counter", Some(at), || {
            let (name, of) = (counter.name(), subject(fields));
            format!("{name} of {of} is impossibly large; sums over it are unknown")
        });
    }
    if let Some((counter, _)) = find(|value| value < 0) {
        problems.warn("negative-counter", Some(at), || {
            let (name, of) = (counter.name(), subject(fields));
            format!("{name} of {of} is negative; sums over it are unknown")
        });
    }
}
