//! What answers tell about a job, a task and an attempt. Source: the classes of `org.apache.hadoop.mapreduce.v2.app.webapp.dao`
//! and `…hs.webapp.dao`, and `AppInfo` of the resource manager.

use serde_json::Value;

use crate::json_value::{text, whole};
use elephant_model::model::counters::CounterSet;

/// A job, or what the resource manager tells of its application.
#[derive(Debug, Default)]
pub(super) struct JobFacts {
    pub(super) name: Option<String>,
    pub(super) user: Option<String>,
    pub(super) queue: Option<String>,
    pub(super) state: Option<State>,
    pub(super) submit: Option<i64>,
    pub(super) start: Option<i64>,
    pub(super) finish: Option<i64>,
    pub(super) maps: Option<i64>,
    pub(super) reduces: Option<i64>,
    pub(super) finished_maps: Option<i64>,
    pub(super) finished_reduces: Option<i64>,
    pub(super) uberized: Option<bool>,
    pub(super) diagnostics: Option<String>,
}

/// How something ended, or that it did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Succeeded,
    Failed,
    Killed,
    Running,
}

impl State {
    fn of(value: &Value, key: &str) -> Option<Self> {
        Some(match value.get(key)?.as_str()? {
            "SUCCEEDED" => Self::Succeeded,
            "FAILED" | "ERROR" => Self::Failed,
            "KILLED" => Self::Killed,
            "" | "UNDEFINED" => return None,
            _ => Self::Running,
        })
    }

    /// As histories write it; `None` if it did not end.
    pub(super) const fn ended(self) -> Option<&'static str> {
        match self {
            Self::Succeeded => Some("SUCCEEDED"),
            Self::Failed => Some("FAILED"),
            Self::Killed => Some("KILLED"),
            Self::Running => None,
        }
    }
}

/// A moment; 0 stands for one that is not known or has not come.
fn moment(value: &Value, key: &str) -> Option<i64> {
    whole(value.get(key)?).filter(|time| *time > 0)
}

fn number(value: &Value, key: &str) -> Option<i64> {
    whole(value.get(key)?).filter(|number| *number >= 0)
}

impl JobFacts {
    /// `JobInfo`
    pub(super) fn of_job(job: &Value) -> Self {
        Self {
            name: text(job, "name"),
            user: text(job, "user"),
            queue: text(job, "queue"),
            state: State::of(job, "state"),
            submit: moment(job, "submitTime"),
            start: moment(job, "startTime"),
            finish: moment(job, "finishTime"),
            maps: number(job, "mapsTotal"),
            reduces: number(job, "reducesTotal"),
            finished_maps: number(job, "mapsCompleted"),
            finished_reduces: number(job, "reducesCompleted"),
            uberized: job.get("uberized").and_then(Value::as_bool),
            diagnostics: text(job, "diagnostics"),
        }
    }

    /// `AppInfo`. An application that ran may have failed, or have been killed, before it could say so.
    pub(super) fn of_app(app: &Value) -> Self {
        let is_over = matches!(State::of(app, "state"), Some(State::Failed | State::Killed))
            || app.get("state").and_then(Value::as_str) == Some("FINISHED");
        let last = State::of(app, "finalStatus").or_else(|| State::of(app, "state"));
        Self {
            name: text(app, "name"),
            user: text(app, "user"),
            queue: text(app, "queue"),
            state: if is_over { last } else { Some(State::Running) },
            submit: moment(app, "startedTime"),
            finish: moment(app, "finishedTime").filter(|_| is_over),
            diagnostics: text(app, "diagnostics"),
            ..Self::default()
        }
    }

    /// Adds what other answers tell: what is known stays, except that an end follows a beginning.
    pub(super) fn complete(&mut self, other: Self) {
        fn take<T>(own: &mut Option<T>, other: Option<T>) {
            if own.is_none() {
                *own = other;
            }
        }
        if self.state.is_none_or(|state| state == State::Running) {
            self.state = other.state.or(self.state);
            self.finished_maps = other.finished_maps.or(self.finished_maps);
            self.finished_reduces = other.finished_reduces.or(self.finished_reduces);
        }
        take(&mut self.name, other.name);
        take(&mut self.user, other.user);
        take(&mut self.queue, other.queue);
        take(&mut self.submit, other.submit);
        take(&mut self.start, other.start);
        take(&mut self.finish, other.finish);
        take(&mut self.maps, other.maps);
        take(&mut self.reduces, other.reduces);
        take(&mut self.uberized, other.uberized);
        take(&mut self.diagnostics, other.diagnostics);
    }
}

/// A task.
#[derive(Debug, Default)]
pub(super) struct TaskFacts {
    pub(super) is_told: bool,
    pub(super) state: Option<State>,
    pub(super) start: Option<i64>,
    pub(super) finish: Option<i64>,
    pub(super) successful: Option<String>,
    pub(super) counters: Option<CounterSet>,
}

impl TaskFacts {
    /// Adds `TaskInfo`.
    pub(super) fn add(&mut self, task: &Value) {
        self.is_told = true;
        self.state = State::of(task, "state").or(self.state);
        self.start = moment(task, "startTime").or(self.start);
        self.finish = moment(task, "finishTime").or(self.finish);
        self.successful = text(task, "successfulAttempt").or(self.successful.take());
    }
}

/// An attempt.
#[derive(Debug, Default)]
pub(super) struct AttemptFacts {
    pub(super) is_told: bool,
    pub(super) state: Option<State>,
    pub(super) start: Option<i64>,
    pub(super) finish: Option<i64>,
    pub(super) shuffled: Option<i64>,
    pub(super) merged: Option<i64>,
    pub(super) host: Option<String>,
    pub(super) rack: Option<String>,
    pub(super) diagnostics: Option<String>,
    pub(super) counters: Option<CounterSet>,
}

impl AttemptFacts {
    /// Adds `TaskAttemptInfo`.
    pub(super) fn add(&mut self, attempt: &Value) {
        self.is_told = true;
        self.state = State::of(attempt, "state").or(self.state);
        self.start = moment(attempt, "startTime").or(self.start);
        self.finish = moment(attempt, "finishTime").or(self.finish);
        self.shuffled = moment(attempt, "shuffleFinishTime").or(self.shuffled);
        self.merged = moment(attempt, "mergeFinishTime").or(self.merged);
        self.host = text(attempt, "nodeHttpAddress").or(self.host.take());
        self.rack = text(attempt, "rack").or(self.rack.take());
        self.diagnostics = text(attempt, "diagnostics").or(self.diagnostics.take());
    }
}
