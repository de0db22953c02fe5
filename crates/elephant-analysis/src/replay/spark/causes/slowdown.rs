//! Without long garbage collection, without spilling, and without waiting for shuffle data: tasks take less time.

use std::cell::LazyCell;
use std::ops::Range;

use super::Scope;
use crate::replay::spark::change::Change;
use crate::replay::spark::plan::{Attempt, Plan, Unknown, to_u32};
use crate::replay::{DISK_SPEED, Micros, PerMille, beyond_limit, spill_time};
use elephant_model::model::Application;
use elephant_model::model::counters::Counter;
use elephant_model::model::table::Attempts;

/// Garbage collection takes at most `limit` of the run time of each task.
///
/// # Errors
/// If no task in the scope reports its collections.
pub(super) fn limit_collections(
    plan: &Plan,
    app: &Application,
    scope: &Scope,
    limit: PerMille,
    change: &mut Change,
) -> Result<(), Unknown> {
    let saved = |rows: &Attempts, attempt: &Attempt| {
        let span = |counter| {
            let time = rows.millis(attempt.row as usize, counter)?;
            Some(Micros::from_f64(time.as_f64() * 1000.0))
        };
        let run_time = span(Counter::ExecutorRunTime).unwrap_or_else(|| attempt.time());
        Some(beyond_limit(run_time, span(Counter::GcTimeMillis)?, limit))
    };
    shorten(plan, app, scope, change, saved).then_some(()).ok_or(Unknown::NoCollections)
}

/// No task spills.
///
/// # Errors
/// If no task in the scope reports how much it spilled.
pub(super) fn keep_in_memory(
    plan: &Plan,
    app: &Application,
    scope: &Scope,
    change: &mut Change,
) -> Result<(), Unknown> {
    let speed = LazyCell::new(|| write_speed(app).unwrap_or(DISK_SPEED).min(DISK_SPEED));
    let saved = |rows: &Attempts, attempt: &Attempt| {
        let bytes = rows.count(attempt.row as usize, Counter::DiskBytesSpilled)?;
        Some(if bytes == 0 { Micros::ZERO } else { spill_time(attempt.time(), bytes, *speed) })
    };
    shorten(plan, app, scope, change, saved).then_some(()).ok_or(Unknown::NoSpill)
}

/// No task waits for shuffle data.
///
/// # Errors
/// If no task in the scope reports how long it waited.
pub(super) fn fetch_at_once(
    plan: &Plan,
    app: &Application,
    scope: &Scope,
    change: &mut Change,
) -> Result<(), Unknown> {
    let saved = |rows: &Attempts, attempt: &Attempt| {
        let wait = rows.millis(attempt.row as usize, Counter::ShuffleFetchWaitTime)?;
        Some(Micros::from_f64(wait.as_f64() * 1000.0).min(attempt.time()))
    };
    shorten(plan, app, scope, change, saved).then_some(()).ok_or(Unknown::NoFetchWait)
}

/// Tasks need not do this share of their work.
///
/// # Errors
/// If no task in the scope ended.
pub(super) fn do_less(
    plan: &Plan,
    app: &Application,
    scope: &Scope,
    share: PerMille,
    change: &mut Change,
) -> Result<(), Unknown> {
    let saved = |rows: &Attempts, attempt: &Attempt| {
        let run_time = rows.millis(attempt.row as usize, Counter::ExecutorRunTime);
        let work = run_time.map_or_else(|| attempt.time(), |time| Micros::from_f64(time.as_f64() * 1000.0));
        Some(share.of(work.min(attempt.time())))
    };
    shorten(plan, app, scope, change, saved).then_some(()).ok_or(Unknown::NoTasks)
}

/// Shortens the attempts in the scope that ended by themselves. Returns whether anything is known of any of them.
fn shorten(
    plan: &Plan,
    app: &Application,
    scope: &Scope,
    change: &mut Change,
    saved: impl Fn(&Attempts, &Attempt) -> Option<Micros>,
) -> bool {
    let mut known = false;
    for (place, stage) in plan.stages.iter().enumerate() {
        let wanted = scope.as_ref().is_none_or(|scope| scope.contains(&to_u32(place)));
        let group = stage.group.and_then(|group| app.groups.get(group));
        let Some(rows) = group.filter(|_| wanted).map(|group| &group.attempts) else { continue };
        let places: Range<u32> = plan.attempt_places(&stage.tasks);
        for (place, attempt) in places.zip(plan.attempts_of(&stage.tasks)) {
            let counts = (attempt.succeeded() || attempt.failed()) && change.keeps(place, attempt);
            let Some(saved) = counts.then(|| saved(rows, attempt)).flatten() else { continue };
            known = true;
            if saved > Micros::ZERO {
                let left = (change.time(place, attempt) - saved).or_zero();
                change.set_time(plan, place, left);
            }
        }
    }
    known
}

/// How fast tasks wrote shuffle data to the disk, in bytes per second; `None` if they wrote none.
fn write_speed(app: &Application) -> Option<f64> {
    let of = |counter| {
        app.groups.iter().filter_map(|group| group.attempts.sum(&[counter])).reduce(u64::saturating_add)
    };
    let bytes = of(Counter::ShuffleBytesWritten).filter(|bytes| *bytes > 0)?;
    let millis = of(Counter::ShuffleWriteTime).filter(|millis| *millis > 0)?;
    Some(bytes as f64 / millis as f64 * 1000.0)
}
