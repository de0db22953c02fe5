//! Other numbers of tasks in a stage.

use super::work::{Work, span};
use crate::replay::spark::change::Change;
use crate::replay::spark::plan::{Plan, Unknown};
use crate::replay::{MAX_TASKS, Micros, merged, spread};
use elephant_model::model::Application;

/// The overhead of a task, however little data it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Overhead {
    /// The least that it may be: the time outside of the run time. Fewer tasks save at least this, and most of what a
    /// straight line through the times over the data says, if one fits well.
    Least,
    /// The most that it may be: the time of a task without data, by that line. More tasks take it in addition, or the time
    /// outside of the run time if no line fits well.
    Most,
}

/// Another number of tasks for a stage attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Partitions {
    /// Its place in [`Plan::stages`].
    pub stage: u32,
    /// Into how many tasks its work is divided.
    pub tasks: u32,
    /// What a task costs on its own.
    pub overhead: Overhead,
}

/// Splits the work of a stage attempt evenly into more tasks, or merges it into fewer.
///
/// # Errors
/// If there would be too many tasks, or if there would be fewer tasks and the overhead of each is unknown.
pub(super) fn split(
    plan: &Plan,
    app: &Application,
    partitions: Partitions,
    change: &mut Change,
) -> Result<(), Unknown> {
    let Partitions { stage, tasks, overhead } = partitions;
    if tasks > MAX_TASKS {
        return Err(Unknown::TooManyTasks);
    }
    let work = Work::of(plan, app, stage, change).filter(|_| tasks > 0).ok_or(Unknown::NoTasks)?;
    let fewer = (tasks as usize) < work.done.len();
    let overhead = match (overhead, work.fixed_cost()) {
        (Overhead::Most, Some(cost)) => cost.likely.max(work.overhead),
        (Overhead::Least, Some(cost)) if fewer => cost.least.max(work.overhead),
        // Where tasks mostly do nothing but start, their data have no visible effect: all of their time may be overhead.
        (Overhead::Most, None) if fewer && work.is_mostly_overhead() => work.median,
        (Overhead::Most, None) if fewer => return Err(Unknown::NoFit),
        _ => work.overhead,
    };
    let mut parts = if fewer {
        let works: Vec<f64> = work.done.iter().map(|done| (done.time - overhead).max(0.0)).collect();
        merged(&works, tasks as usize)
    } else {
        // Time that the data do not explain, such as that of a slow host, is not shorter with less data.
        let works: Vec<(f64, f64)> = work
            .done
            .iter()
            .map(|done| {
                let usual = work.usual_of_slow(done).unwrap_or(done.time);
                ((usual - overhead).max(0.0), done.time - usual)
            })
            .collect();
        spread(&works, tasks as usize)
    };
    // Another number of tasks does not prevent failures, so tasks in the same place of the order keep what they took.
    for (number, done) in work.done.iter().enumerate() {
        if let Some(part) = parts.get_mut(number * tasks as usize / work.done.len()) {
            *part += failed_before(plan, done.place, change).as_f64();
        }
    }
    change.tasks.insert(stage, parts.into_iter().map(|part| span(overhead + part)).collect());
    Ok(())
}

/// How long the attempts of a task took that had not succeeded when the attempt in `place` was launched.
fn failed_before(plan: &Plan, place: u32, change: &Change) -> Micros {
    let mut failed = Micros::ZERO;
    let Some(done) = plan.attempts.get(place as usize).filter(|attempt| !attempt.only) else { return failed };
    let Some(task) = plan.tasks.get(done.task as usize) else { return failed };
    for before in task.attempts.start..place {
        let Some(attempt) = plan.attempts.get(before as usize) else { continue };
        if attempt.succeeded() {
            // What follows repeats it, because its output was lost.
            failed = Micros::ZERO;
        } else if !attempt.speculative && attempt.finish <= done.launch && change.keeps(before, attempt) {
            failed += change.time(before, attempt);
        }
    }
    failed
}
