//! Without failures: attempts that failed do not run, nor do those that repeat finished work.

use std::collections::BTreeSet;

use crate::model::Application;
use crate::replay::spark::change::Change;
use crate::replay::spark::plan::Plan;

/// Leaves out the attempts that failed, those that were computed again after their output was lost, and tasks of repeated
/// stage attempts that had already succeeded.
pub(super) fn drop_failures(plan: &Plan, app: &Application, change: &mut Change) {
    let mut finished: BTreeSet<(u32, u32)> = BTreeSet::new();
    let mut places: Vec<usize> = (0..plan.stages.len()).collect();
    places.sort_by_key(|&place| plan.stages.get(place).map(|stage| stage.id));
    for stage in places.into_iter().filter_map(|place| plan.stages.get(place)) {
        let group = stage.group.and_then(|group| app.groups.get(group));
        for task in stage.tasks.clone() {
            let Some(range) = plan.tasks.get(task as usize).map(|task| task.attempts.clone()) else {
                continue;
            };
            let first = plan.attempts.get(range.start as usize);
            let number = first
                .zip(group)
                .and_then(|(first, group)| group.tasks.number(group.attempts.task(first.row as usize)?));
            let id = number.map(|number| (stage.id.stage, number));
            let mut succeeded = id.is_some_and(|id| finished.contains(&id));
            for place in range {
                let Some(attempt) = plan.attempts.get(place as usize) else { continue };
                if attempt.failed || (succeeded && !attempt.speculative) {
                    change.drop_attempt(plan, place);
                }
                succeeded |= attempt.succeeded;
            }
            finished.extend(id.filter(|_| succeeded));
        }
    }
}
