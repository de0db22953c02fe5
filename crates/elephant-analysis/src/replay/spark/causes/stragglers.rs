//! Without stragglers: a task takes as long as others with as much data.

use super::done::SLOWER;
use super::work::{Work, has_longer, span};
use crate::replay::spark::change::Change;
use crate::replay::spark::plan::Plan;
use elephant_model::model::Application;

/// Stragglers of a stage attempt take the expected time. The first tasks on an executor warm up, so they are stragglers only
/// among each other.
pub(super) fn to_expected(plan: &Plan, app: &Application, stage: u32, change: &mut Change) {
    if !has_longer(plan, stage, change, SLOWER) {
        return;
    }
    let Some(work) = Work::of(plan, app, stage, change) else { return };
    for done in &work.done {
        if let Some(usual) = work.usual_of_straggler(done) {
            change.set_time(plan, done.place, span(usual));
        }
    }
}
