//! Groups of tasks in words.

use elephant_model::model::Application;
use elephant_model::model::table::{TaskGroup, TaskKind};
use elephant_rule::finding::Subject;

/// The subject of findings about a group.
pub(in crate::any) const fn subject(kind: TaskKind) -> Subject {
    match kind {
        TaskKind::Stage(stage) => Subject::Stage(stage),
        TaskKind::Vertex(number) => Subject::Vertex(number),
        TaskKind::Map | TaskKind::Reduce | TaskKind::Setup | TaskKind::Cleanup => Subject::Tasks(kind.name()),
    }
}

/// "map 7", "task 7 of stage 3.0", "task 7 of vertex 3".
pub(in crate::any) fn task_name(group: &TaskGroup, task: usize) -> String {
    let number = group.tasks.number(task).map_or_else(|| "?".to_owned(), |number| number.to_string());
    match group.kind {
        TaskKind::Stage(stage) => format!("task {number} of stage {stage}"),
        TaskKind::Vertex(vertex) => format!("task {number} of vertex {vertex}"),
        kind => format!("{} {number}", kind.name()),
    }
}

/// The host of an attempt.
pub(in crate::any) fn host(app: &Application, group: &TaskGroup, row: usize) -> Option<String> {
    group.attempts.node(row).and_then(|node| app.strings.get(node)).map(str::to_owned)
}

/// The number of tasks in all groups.
pub(in crate::any) fn tasks(app: &Application) -> u64 {
    app.groups.iter().map(|group| group.tasks.len() as u64).sum()
}
