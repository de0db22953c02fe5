//! The tasks that a rule judges, and the reasons if there is nothing to judge.

use super::role::Role;
use elephant_model::model::table::{TaskGroup, TaskKind};
use elephant_model::model::{Application, Engine, Status};
use elephant_rule::finding::Verdict;

/// The tasks to judge; `None` if the rule does not apply: another engine, no such tasks, or a job that did
/// not succeed although only succeeded jobs are judged.
pub(in crate::mapreduce) fn tasks(
    app: &Application,
    kind: TaskKind,
    only_succeeded_jobs: bool,
) -> Option<&TaskGroup> {
    if app.engine != Engine::MapReduce || (only_succeeded_jobs && app.status != Status::Succeeded) {
        return None;
    }
    app.group(kind).filter(|group| !group.tasks.is_empty())
}

/// The verdict if [`tasks`] is `None`: not applicable, unless the tasks may be beyond a limit.
pub(in crate::mapreduce) fn without_tasks(
    app: &Application,
    kind: TaskKind,
    only_succeeded_jobs: bool,
) -> Verdict {
    if app.engine != Engine::MapReduce || (only_succeeded_jobs && app.status != Status::Succeeded) {
        return Verdict::NotApplicable;
    }
    let announced = if kind == TaskKind::Reduce { app.announced.reduces } else { app.announced.maps };
    match app.limit {
        Some(limit) if announced != Some(0) => Verdict::NotEvaluated(limit.to_string()),
        _ => Verdict::NotApplicable,
    }
}

/// The reason if no task has the data that a rule needs.
pub(in crate::mapreduce) fn no_task_reports(role: Role, group: &TaskGroup, what: &str) -> String {
    if group.winners().next().is_none() {
        format!("no {} task ended successfully", role.kind().name())
    } else {
        format!("no {} task reports {what}", role.kind().name())
    }
}

/// Why the wait time of tasks is unknown, if the history is complete.
pub(crate) fn no_times(app: &Application) -> String {
    let without_times = |role: Role| {
        let group = app.group(role.kind()).filter(|group| !group.tasks.is_empty())?;
        let is_timed = group.winners().any(|row| group.attempts.run_time(row).is_some());
        (!is_timed).then(|| no_task_reports(role, group, "its start and end"))
    };
    let reason = [Role::Map, Role::Reduce].into_iter().find_map(without_times);
    reason.unwrap_or_else(|| "the job history does not contain the submission time".to_owned())
}
