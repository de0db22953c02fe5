//! Without speculative copies.

use crate::replay::spark::change::Change;
use crate::replay::spark::plan::Plan;

/// Leaves out copies of tasks whose originals succeeded.
pub(super) fn drop_losing(plan: &Plan, change: &mut Change) {
    for task in &plan.tasks {
        let attempts =
            || task.attempts.clone().filter_map(|place| Some((place, plan.attempts.get(place as usize)?)));
        if attempts().any(|(_, attempt)| attempt.succeeded() && !attempt.speculative) {
            for (place, _) in attempts().filter(|(_, attempt)| attempt.speculative && !attempt.succeeded()) {
                change.drop_attempt(plan, place);
            }
        }
    }
}
