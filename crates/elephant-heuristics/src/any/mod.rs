//! The rules of any engine, one file per heuristic, and their shared functions.

mod causes;
mod costs;
mod failed_attempts;
mod slow_nodes;
mod speculation_settings;
mod speculation_waste;
mod straggler_detection;
mod straggler_dos_index;
mod straggler_impact;
mod unfinished;
mod wait_time;
mod wasted_resources;
mod working_times;

use super::Rule;
use elephant_model::model::Application;
use elephant_model::model::table::{TaskGroup, TaskKind};
use elephant_rule::finding::Subject;

/// Every rule of any engine, in the order of the documentation.
pub(super) const RULES: &[Rule] = &[
    straggler_dos_index::RULE,
    straggler_impact::RULE,
    straggler_detection::RULE,
    speculation_waste::RULE,
    failed_attempts::RULE,
    wasted_resources::RULE,
    wait_time::RULE,
    unfinished::RULE,
];

macro_rules! rule {
    ($($fact:tt)+) => {
        $crate::rule!("any", $($fact)+)
    };
}
use rule;

/// The subject of findings about a group.
const fn subject(kind: TaskKind) -> Subject {
    match kind {
        TaskKind::Stage(stage) => Subject::Stage(stage),
        TaskKind::Map | TaskKind::Reduce | TaskKind::Setup | TaskKind::Cleanup => Subject::Tasks(kind.name()),
    }
}

/// "map 7", "task 7 of stage 3.0".
fn task_name(group: &TaskGroup, task: usize) -> String {
    let number = group.tasks.number(task).map_or_else(|| "?".to_owned(), |number| number.to_string());
    match group.kind {
        TaskKind::Stage(stage) => format!("task {number} of stage {stage}"),
        kind => format!("{} {number}", kind.name()),
    }
}

/// The host of an attempt.
fn host(app: &Application, group: &TaskGroup, row: usize) -> Option<String> {
    group.attempts.node(row).and_then(|node| app.strings.get(node)).map(str::to_owned)
}

/// The number of tasks in all groups.
fn tasks(app: &Application) -> u64 {
    app.groups.iter().map(|group| group.tasks.len() as u64).sum()
}
