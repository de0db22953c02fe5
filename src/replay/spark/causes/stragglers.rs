//! Without stragglers: a task takes as long as others with as much data.

use super::work::{Work, span};
use crate::model::Application;
use crate::replay::spark::change::Change;
use crate::replay::spark::plan::Plan;

/// A straggler takes more than this multiple of the median, and of what its data explain.
const SLOWER: f64 = 1.5;

/// And more than this beyond it, in microseconds. The driver looks for tasks to copy this often
/// (`spark.speculation.interval`), so nothing shorter can be mended.
const BEYOND: f64 = 100_000.0;

/// Stragglers of a stage attempt take the expected time. The first tasks on an executor do not count: they warm up.
pub(super) fn to_expected(plan: &Plan, app: &Application, stage: u32, change: &mut Change) {
    let Some(work) = Work::of(plan, app, stage, change) else { return };
    for done in &work.done {
        let expected = work.expected(done);
        let usual = expected.max(work.median);
        if done.time > SLOWER * usual && done.time > usual + BEYOND && !done.warms_up {
            change.set_time(plan, done.place, span(usual));
        }
    }
}
