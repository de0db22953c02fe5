//! How long tasks worked: reduce tasks that start before the last map task ends wait for it first.

use crate::mapreduce::waiting_for_maps;
use elephant_analysis::stragglers::executions::Execution;
use elephant_analysis::stragglers::group::GroupStragglers;
use elephant_model::model::Application;

/// Seconds that each task of a group took, without waiting for map tasks.
pub(in crate::any) fn working_times(app: &Application, view: &GroupStragglers<'_>) -> Vec<f64> {
    let waiting = waiting_for_maps(app, view.group);
    let time = |task: &Execution| (task.duration - waiting(task.attempt()) as f64 / 1000.0).max(0.0);
    view.executions.tasks.iter().map(time).collect()
}
