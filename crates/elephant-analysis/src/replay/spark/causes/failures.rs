//! Without failures: attempts that failed do not run, nor do those that repeat finished work.

use std::collections::BTreeSet;

use crate::replay::spark::change::Change;
use crate::replay::spark::plan::{Plan, Stage};
use elephant_model::model::Application;

/// Leaves out the attempts that failed, those that were computed again after their output was lost, and tasks of repeated
/// stage attempts that had already succeeded.
pub(super) fn drop_failures(plan: &Plan, app: &Application, change: &mut Change) {
    let mut stages: Vec<&Stage> = plan.stages.iter().collect();
    stages.sort_by_key(|stage| stage.id);
    for attempts in stages.chunk_by(|a, b| a.id.stage == b.id.stage) {
        match attempts {
            [only] => drop_in_stage(plan, only, change),
            repeated => drop_in_repeated(plan, app, repeated, change),
        }
    }
}

fn drop_in_stage(plan: &Plan, stage: &Stage, change: &mut Change) {
    let mut task = None;
    let mut succeeded = false;
    for (place, attempt) in plan.attempt_places(&stage.tasks).zip(plan.attempts_of(&stage.tasks)) {
        if task.replace(attempt.task) != Some(attempt.task) {
            succeeded = false;
        }
        if attempt.failed() || (succeeded && !attempt.speculative) {
            change.drop_attempt(plan, place);
        }
        succeeded |= attempt.succeeded();
    }
}

/// The attempts of one stage, in their order: tasks are told apart by their numbers.
fn drop_in_repeated(plan: &Plan, app: &Application, stages: &[&Stage], change: &mut Change) {
    let mut finished: BTreeSet<u32> = BTreeSet::new();
    for stage in stages {
        let group = stage.group.and_then(|group| app.groups.get(group));
        for task in stage.tasks.clone() {
            let Some(range) = plan.tasks.get(task as usize).map(|task| task.attempts.clone()) else {
                continue;
            };
            let first = plan.attempts.get(range.start as usize);
            let number = first
                .zip(group)
                .and_then(|(first, group)| group.tasks.number(group.attempts.task(first.row as usize)?));
            let mut succeeded = number.is_some_and(|number| finished.contains(&number));
            for place in range {
                let Some(attempt) = plan.attempts.get(place as usize) else { continue };
                if attempt.failed() || (succeeded && !attempt.speculative) {
                    change.drop_attempt(plan, place);
                }
                succeeded |= attempt.succeeded();
            }
            finished.extend(number.filter(|_| succeeded));
        }
    }
}
