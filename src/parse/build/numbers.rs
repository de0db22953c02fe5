//! Numbers of a history that are there and cannot be read, or cannot be.

use super::HistoryBuilder;
use crate::model::counters::{Counter, CounterSet};
use crate::model::table::{Attempts, MOST_OF_A_COUNTER};
use crate::parse::event::{EventFields, EventPayload};
use crate::parse::problem::{Position, Problems};
use crate::parse::reading::{cut, is_moment};

impl HistoryBuilder {
    /// Tells what an event has and nobody can read.
    pub(super) fn note_unread(&mut self, at: Position, fields: &EventFields<'_>, payload: &EventPayload) {
        let times = [
            fields.submit_time,
            fields.launch_time,
            fields.start_time,
            fields.finish_time,
            fields.map_finish_time,
            fields.shuffle_finish_time,
            fields.sort_finish_time,
        ];
        if payload.unread.time || times.into_iter().flatten().any(|time| !is_moment(time)) {
            self.lost.events = true;
            self.problems.warn("bad-number", Some(at), || {
                "a time of an event is no number of milliseconds from 1970 to 9999; it is unknown".into()
            });
        }
        if payload.unread.task_count {
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
    "the job announces a number of tasks that is none, or that no job can have; it is unknown".into()
}

/// The id of what an event is about.
fn subject<'f>(fields: &'f EventFields<'_>) -> &'f str {
    let ids = [&fields.attempt_id, &fields.task_id, &fields.job_id];
    ids.into_iter().find_map(|id| id.as_deref()).map_or("an event", |id| cut(id, 80))
}

fn unreadable(set: &CounterSet, fields: &EventFields<'_>) -> String {
    let of = subject(fields);
    let unread = set.unread();
    let mut names = unread.iter().map(Counter::name);
    match (names.next(), names.next()) {
        (Some(name), None) => {
            format!("{name} of {of} is there and is no whole number; sums over it are unknown")
        }
        (Some(_), Some(_)) => {
            format!("counters of {of} are there and cannot be read; sums over them are unknown")
        }
        (None, _) => format!("a counter of a user's own in {of} is no whole number; it is unknown"),
    }
}

/// Tells of counters of an attempt that are whole numbers and that none can count.
pub(super) fn note_impossible(
    problems: &mut Problems,
    at: Position,
    attempts: &Attempts,
    row: usize,
    (fields, counters): (&EventFields<'_>, &CounterSet),
) {
    if attempts.unread(row).is_empty() {
        return;
    }
    let find = |wanted: fn(i64) -> bool| counters.iter().find(|&(_, value)| wanted(value));
    if let Some((counter, _)) = find(|value| value > MOST_OF_A_COUNTER) {
        problems.warn("impossible-counter", Some(at), || {
            let (name, of) = (counter.name(), subject(fields));
            format!("{name} of {of} is larger than any can be; sums over it are unknown")
        });
    }
    if let Some((counter, _)) = find(|value| value < 0) {
        problems.warn("negative-counter", Some(at), || {
            let (name, of) = (counter.name(), subject(fields));
            format!("{name} of {of} is negative; sums over it are unknown")
        });
    }
}
