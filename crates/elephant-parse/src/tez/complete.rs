//! Whether the records of a DAG tell all of it: lists of the timeline server are cut, by default at 100 entities.

use crate::problem::Problems;
use elephant_model::model::table::{Outcome, TaskGroup, TaskKind};
use elephant_model::model::tez::Vertex;
use elephant_model::model::{Application, Status};

/// Whether nothing is missing; reports what is. `is_told` says whether there is a record of the DAG itself.
pub(super) fn check(app: &Application, is_told: bool, problems: &mut Problems) -> bool {
    let mut complete = true;
    let mut lacks = |code, message: &dyn Fn() -> String| {
        complete = false;
        problems.warn(code, None, message);
    };
    if !is_told {
        lacks("dag-missing", &|| {
            format!(
                "there are records of parts of {}, but none of the DAG itself (TEZ_DAG_ID); its end is unknown",
                app.id
            )
        });
    } else if app.finished_at.is_none() || !has_ended(app.status) {
        lacks("no-end", &|| {
            format!("{} has no end: it was running, or its last records are missing", app.id)
        });
    }
    let vertices = app.tez.as_ref().map(|tez| tez.vertices.as_slice()).unwrap_or_default();
    if vertices.is_empty() {
        lacks("vertices-missing", &|| {
            format!("there are no records of the vertices of {} (TEZ_VERTEX_ID)", app.id)
        });
    }
    for vertex in vertices {
        if let Some(why) = what_is_missing(app, vertex) {
            lacks("tasks-missing", &|| {
                format!(
                    "{why} of {}; a list of the timeline server may have been cut: ask for it with a larger limit",
                    app.id
                )
            });
        }
    }
    if app.status != Status::Succeeded && launched(app).is_some_and(|launched| launched > attempts(app)) {
        lacks("tasks-missing", &|| {
            format!(
                "{} launched {} tasks, but there are records of {} attempts (TEZ_TASK_ATTEMPT_ID)",
                app.id,
                launched(app).unwrap_or_default(),
                attempts(app)
            )
        });
    }
    complete
}

const fn has_ended(status: Status) -> bool {
    matches!(status, Status::Succeeded | Status::Failed | Status::Killed)
}

/// What the records of a vertex lack, if all of its tasks ran.
fn what_is_missing(app: &Application, vertex: &Vertex) -> Option<String> {
    let group = app.group(TaskKind::Vertex(vertex.number));
    if app.status != Status::Succeeded {
        return None;
    }
    let title = vertex.title();
    let Some(announced) = vertex.announced else {
        return Some(format!("the number of tasks of {title} is missing"));
    };
    let shown = group.map_or(0, |group| group.tasks.len() as u64);
    if shown < announced {
        return Some(format!("{title} has {announced} tasks, but there are records of {shown}"));
    }
    let timed = group
        .map_or(0, |group| group.winners().filter(|row| group.attempts.run_time(*row).is_some()).count());
    if (timed as u64) < announced {
        return Some(format!(
            "{title} has {announced} tasks, but there are records of {timed} successful attempts"
        ));
    }
    None
}

/// How many attempts the DAG launched, by its own counter.
fn launched(app: &Application) -> Option<u64> {
    let name = app.strings.find("TOTAL_LAUNCHED_TASKS")?;
    let counter = app.counters.total.as_ref()?.others.iter().find(|other| other.name == name)?;
    u64::try_from(counter.value).ok()
}

/// How many attempts ran, or ended without ever starting.
fn attempts(app: &Application) -> u64 {
    let ran = |group: &TaskGroup| {
        let rows = 0..group.attempts.len();
        rows.filter(|row| group.attempts.outcome(*row) != Outcome::Unfinished).count() as u64
    };
    app.groups.iter().map(ran).sum()
}
