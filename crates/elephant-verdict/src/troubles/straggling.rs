//! Whether the tasks that straggle are the tasks that failed before.

use std::collections::BTreeSet;

use elephant_analysis::stragglers::executions::{Basis, Execution};
use elephant_analysis::stragglers::group::GroupStragglers;
use elephant_analysis::stragglers::labels::Labelling;
use elephant_model::diagnosis::taken_away;
use elephant_model::model::Application;
use elephant_model::model::table::{Outcome, TaskGroup, TaskKind};
use elephant_ruleset::settings::TroubleParams;

/// Tasks of one kind: stragglers, or others.
#[derive(Debug, Clone, Copy, Default)]
struct Tasks {
    all: f64,
    failed: f64,
}

impl Tasks {
    fn add(&mut self, amount: f64, has_failed: bool) {
        self.all += amount;
        self.failed += if has_failed { amount } else { 0.0 };
    }

    fn share(self) -> f64 {
        if self.all > 0.0 { self.failed / self.all } else { 0.0 }
    }
}

/// Whether most of the time that stragglers took beyond the usual is that of tasks with an attempt that failed, or that the
/// cluster took away.
pub(super) fn is_of_failures(app: &Application, params: &TroubleParams) -> bool {
    let (mut late, mut stragglers, mut others) = (Tasks::default(), Tasks::default(), Tasks::default());
    for view in GroupStragglers::of_application(app, Labelling::MEDIAN, Basis::Wall) {
        let failed = failed_tasks(app, view.group);
        let usual = view.labels.limit.map(|limit| limit.reference).unwrap_or_default();
        let is_late: BTreeSet<usize> = view.unexplained().map(Execution::task).collect();
        for task in &view.executions.tasks {
            let has_failed = is_repeated(view.group) || failed.contains(&task.task());
            if is_late.contains(&task.task()) {
                late.add(task.duration - usual, has_failed);
                stragglers.add(1.0, has_failed);
            } else {
                others.add(1.0, has_failed);
            }
        }
    }
    late.share() >= params.stragglers_of_failures.get()
        && stragglers.share() >= params.stragglers_fail_times.get() * others.share()
}

/// Whether a stage was repeated because output of its tasks was lost.
const fn is_repeated(group: &TaskGroup) -> bool {
    matches!(group.kind, TaskKind::Stage(stage) if stage.attempt > 0)
}

/// Tasks with an attempt that failed, or that the cluster took away.
fn failed_tasks(app: &Application, group: &TaskGroup) -> BTreeSet<usize> {
    let attempts = &group.attempts;
    let failed = (0..attempts.len()).filter(|row| attempts.outcome(*row) == Outcome::Failed);
    failed.chain(taken_away(app, group)).filter_map(|row| attempts.task(row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::troubles::tests::built_in;

    /// Twenty reduces that take 10 s, except those numbered here, which take a minute; and others that failed once.
    fn job(late: &[usize], failed: &[u32]) -> Application {
        let time = |task| if late.contains(&task) { 70 } else { 20 };
        let mut reduces =
            elephant_sample::tasks(TaskKind::Reduce, (0..20).map(|task| (10, Some(time(task)))));
        for task in failed {
            let row = reduces.attempts.push(*task, 1);
            reduces.attempts.set_outcome(row, Outcome::Failed);
        }
        elephant_sample::job(vec![reduces], &[])
    }

    #[test]
    fn stragglers_belong_to_failures_only_if_they_are_the_tasks_that_failed() {
        assert!(is_of_failures(&job(&[3, 4], &[3, 4]), &built_in()));
        assert!(is_of_failures(&job(&[3, 4], &[3]), &built_in()));
        // Others failed.
        assert!(!is_of_failures(&job(&[3, 4], &[5, 6, 7, 8]), &built_in()));
        assert!(!is_of_failures(&job(&[3, 4, 5], &[3, 6, 7, 8]), &built_in()));
        assert!(!is_of_failures(&job(&[3, 4], &[]), &built_in()));
        assert!(!is_of_failures(&job(&[], &[3]), &built_in()));
        // Half of all tasks failed, stragglers and others alike.
        assert!(!is_of_failures(&job(&[0, 1], &[0, 2, 4, 6, 8, 10, 12, 14, 16, 18]), &built_in()));
    }
}
