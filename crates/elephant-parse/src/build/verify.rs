//! Cross-checks values that a job history logs twice, and derives values that it leaves out.
//!
//! A history repeats itself: the end of a task repeats the counters and the end of its attempt, and the end
//! of the job sums up the counters of all tasks. If two records of a value differ, the value is unknown and
//! the report says so.

use super::Clocks;
use super::life::{MACHINES_APART, WAIT_FOR_KILLS};
use crate::problem::{Position, Problems};
use elephant_base::units::Timestamp;
use elephant_model::model::counters::{Counter, CounterSet};
use elephant_model::model::table::{Outcome, TaskGroup, TaskKind, TimePoint};
use elephant_model::model::{Application, Status};

/// Counters that are snapshots of a gauge, so job totals do not sum them.
const GAUGES: [Counter; 2] = [Counter::PeakPhysicalMemoryBytes, Counter::PeakVirtualMemoryBytes];

/// Compares the end of a task with that of its successful attempt. If they differ, the end is unknown.
pub(super) fn times_disagree(
    problems: &mut Problems,
    at: Position,
    group: &mut TaskGroup,
    attempt: usize,
    finish: Option<Timestamp>,
    clocks: Clocks,
) -> bool {
    let Some(own) = group.attempts.time(attempt, TimePoint::Finish) else {
        group.attempts.set_time(attempt, TimePoint::Finish, finish);
        return false;
    };
    let differ = finish.is_some_and(|task| match clocks {
        Clocks::Master => task != own,
        // The job tracker hears of the end later: after 3 minutes in recorded histories.
        Clocks::Trackers => own > task + MACHINES_APART || task > own + WAIT_FOR_KILLS,
    });
    if differ {
        group.attempts.set_time(attempt, TimePoint::Finish, None);
        problems.warn("times-disagree", Some(at), || {
            "a task and its attempt have different end times; the end of the attempt is unknown".into()
        });
    }
    differ
}

/// Compares the counters of a task with those of its successful attempt.
pub(super) fn reconcile_counters(
    problems: &mut Problems,
    at: Position,
    group: &mut TaskGroup,
    attempt: usize,
    counters: &CounterSet,
) {
    let unreadable = group.attempts.unreadable(attempt);
    // If only one of the two has a readable value, the attempt's is used.
    for (counter, value) in counters.iter().filter(|&(counter, _)| !unreadable.has(counter)) {
        match group.attempts.counter(attempt, counter) {
            None => group.attempts.set_counter(attempt, counter, Some(value)),
            Some(own) if own == value => {}
            Some(_) => {
                group.attempts.set_counter(attempt, counter, None);
                group.attempts.mark_unreadable(attempt, counter);
                problems.warn("counters-disagree", Some(at), || {
                    format!(
                        "a task and its attempt have different values of {}; it is unknown for this task",
                        counter.name()
                    )
                });
            }
        }
    }
}

/// Chooses the representative attempt of tasks for which no event did: the last that succeeded, else the
/// last.
pub(crate) fn choose_representatives(group: &mut TaskGroup) {
    let mut last: Vec<Option<usize>> = vec![None; group.tasks.len()];
    for row in 0..group.attempts.len() {
        let Some(task) = group.attempts.task(row) else { continue };
        let Some(slot) = last.get_mut(task) else { continue };
        let won_before = slot.is_some_and(|before| group.attempts.outcome(before) == Outcome::Succeeded);
        if !won_before || group.attempts.outcome(row) == Outcome::Succeeded {
            *slot = Some(row);
        }
    }
    for (task, attempt) in last.into_iter().enumerate() {
        if group.tasks.representative(task).is_none() {
            group.tasks.set_representative(task, attempt);
        }
    }
}

/// Marks attempts as speculative that were launched while an earlier attempt of their task was running, if
/// the history has no `avataar` (before Hadoop 2).
pub(crate) fn mark_speculation(group: &mut TaskGroup) {
    let open = |row: &usize| group.attempts.is_speculative(*row).is_none();
    let mut rows: Vec<usize> = (0..group.attempts.len()).collect();
    if !rows.iter().any(open) {
        return;
    }
    let start_of = |row: usize| group.attempts.time(row, TimePoint::Start);
    rows.sort_unstable_by_key(|&row| (group.attempts.task(row), start_of(row), row));
    let mut marks = Vec::new();
    let mut task = None;
    // The latest end among the task's earlier attempts; `None` once one of them is unknown.
    let mut busy_until: Option<Option<Timestamp>> = None;
    for row in rows {
        if group.attempts.task(row) != task {
            task = group.attempts.task(row);
            busy_until = None;
        }
        if group.attempts.is_speculative(row).is_none() {
            marks.push((
                row,
                match (busy_until, start_of(row)) {
                    (None, _) => Some(false),
                    (Some(Some(until)), Some(start)) => Some(start < until),
                    _ => None,
                },
            ));
        }
        let finish = group.attempts.time(row, TimePoint::Finish);
        busy_until = Some(match busy_until {
            None => finish,
            Some(until) => until.zip(finish).map(|(a, b)| a.max(b)),
        });
    }
    for (row, speculative) in marks {
        group.attempts.set_speculative(row, speculative);
    }
}

/// Checks the whole application: announced tasks, and the job's own sums.
pub(super) fn check(app: &mut Application, problems: &mut Problems) {
    check_announced(app, problems);
    check_totals(app, problems);
    check_run_times(app, problems);
}

/// A successful job must show every task it announced.
fn check_announced(app: &mut Application, problems: &mut Problems) {
    if app.status != Status::Succeeded {
        return;
    }
    let shown = |kind| app.group(kind).map_or(0, |group| group.tasks.len() as u64);
    let expected = [(TaskKind::Map, app.announced.maps), (TaskKind::Reduce, app.announced.reduces)];
    let mut missing = false;
    for (kind, announced) in expected {
        let Some(announced) = announced else { continue };
        let shown = shown(kind);
        let open = app.group(kind).map_or(0, |group| group.count_tasks(Outcome::Unfinished));
        if open > 0 {
            missing = true;
            problems.warn("tasks-unfinished", None, || {
                format!("the job succeeded, but {open} of its {} tasks have no end", kind.name())
            });
        }
        if shown < announced {
            missing = true;
            problems.warn("tasks-missing", None, || {
                let kind = kind.name();
                format!("the job announced {announced} {kind} tasks, but the job history has {shown}")
            });
        }
    }
    app.events_missing |= missing;
    app.complete &= !missing;
}

/// The job's counters are the sums over its successful tasks.
fn check_totals(app: &Application, problems: &mut Problems) {
    if app.status != Status::Succeeded || app.events_missing {
        return;
    }
    let sets = [(TaskKind::Map, &app.counters.map), (TaskKind::Reduce, &app.counters.reduce)];
    for (kind, totals) in sets {
        let (Some(group), Some(totals)) = (app.group(kind), totals) else { continue };
        let unreadable = group.attempts.any_unreadable();
        let summed = |counter: &Counter| !GAUGES.contains(counter) && !unreadable.has(*counter);
        for (counter, total) in totals.iter().filter(|(counter, _)| summed(counter)) {
            let sum: i128 =
                group.winners().filter_map(|row| group.attempts.counter(row, counter)).map(i128::from).sum();
            if sum != i128::from(total) {
                problems.warn("totals-disagree", None, || disagreement(kind, counter, sum, total));
            }
        }
    }
}

/// The job sums the milliseconds of its attempts (`MILLIS_MAPS`, `MILLIS_REDUCES`). Versions differ in
/// whether they include attempts that were killed after another attempt won, so the value lies between two
/// sums.
fn check_run_times(app: &Application, problems: &mut Problems) {
    if app.status != Status::Succeeded || app.events_missing {
        return;
    }
    for (kind, name) in [(TaskKind::Map, "MILLIS_MAPS"), (TaskKind::Reduce, "MILLIS_REDUCES")] {
        let total = job_counter(app, name);
        let (Some(group), Some(total)) = (app.group(kind), total.filter(|&total| total > 0)) else {
            continue;
        };
        let sum = |with_killed: bool| -> i128 {
            (0..group.attempts.len())
                .filter(|&row| with_killed || group.attempts.outcome(row) != Outcome::Killed)
                .filter_map(|row| group.attempts.run_time(row))
                .map(|time| i128::from(time.get()))
                .sum()
        };
        let (least, most) = (sum(false), sum(true));
        if !(least..=most).contains(&i128::from(total)) {
            problems.warn("times-disagree", None, || {
                format!(
                    "the {} attempts ran {most} ms in total, but the job reports {total} in {name}; the times of \
                     some attempts may be wrong",
                    kind.name()
                )
            });
        }
    }
}

/// A counter of the job itself (`JobCounter`).
pub(super) fn job_counter(app: &Application, name: &str) -> Option<u64> {
    let name = app.strings.find(name)?;
    let counter = app.counters.total.as_ref()?.others.iter().find(|other| other.name == name)?;
    u64::try_from(counter.value).ok()
}

fn disagreement(kind: TaskKind, counter: Counter, sum: i128, total: i64) -> String {
    format!(
        "the {} tasks' {} add up to {sum}, but the job reports {total}; the values of some tasks may be wrong",
        kind.name(),
        counter.name()
    )
}
