//! A job of a trace with all its tasks, and its conversion to an application.

use std::sync::Arc;

use super::TraceFormat;
use super::attempts::{Attempt, Moment};
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::spark::StageAttempt;
use elephant_model::model::table::{Outcome, TaskGroup, TaskKind, TimePoint};
use elephant_model::model::{Application, Engine, Interner, Status};

/// A job of a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The trace.
    pub format: TraceFormat,
    /// Its id as in the trace.
    pub(crate) id: String,
    /// Its name, if the trace has names; traces obfuscate names.
    pub(crate) name: Option<String>,
    /// How many job names the trace has for `name`, if that is a logical name: a `MapReduce` program has one logical name,
    /// and each of its runs a job name of its own. `None` if unknown.
    pub job_names: Option<u64>,
    /// The user, likewise obfuscated.
    pub(crate) user: Option<String>,
    /// How it ended.
    pub(crate) status: Status,
    /// When it was submitted.
    pub(super) submitted: Option<Moment>,
    /// When it ended.
    pub(super) finished: Option<Moment>,
    /// The file that its first task is in.
    pub source: Arc<str>,
    /// Its tasks: all in one group, or those of each of Alibaba's "tasks".
    pub groups: Vec<Group>,
}

/// Tasks of a job that do the same work.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Its name in reports: "priority 9", "task M1, type 2".
    pub label: String,
    /// Its attempts, sorted by task and start, without duplicates.
    pub attempts: Vec<Attempt>,
}

impl Job {
    /// The kind of the group at this place.
    #[must_use]
    pub fn kind(place: usize) -> TaskKind {
        TaskKind::Stage(StageAttempt { stage: u32::try_from(place).unwrap_or(u32::MAX), attempt: 0 })
    }

    /// When an attempt started.
    #[must_use]
    pub fn started_at(&self, attempt: Attempt) -> Option<Timestamp> {
        self.format.timestamp(attempt.start())
    }

    /// The successful attempt of each task of a group, with its run time. Attempts with an unknown run time
    /// are left out.
    pub fn runs(group: &Group) -> impl Iterator<Item = (Attempt, Millis)> {
        let tasks = group.attempts.chunk_by(|one, other| one.task() == other.task());
        tasks.filter_map(|attempts| {
            let winner = attempts.iter().find(|attempt| attempt.outcome() == Outcome::Succeeded)?;
            Some((*winner, Millis::new(u64::from(winner.run_time()?))))
        })
    }

    /// The job without its tasks, for the filter.
    #[must_use]
    pub fn outline(&self) -> Application {
        let mut app = Application::new(Engine::MapReduce);
        app.id.clone_from(&self.id);
        app.name.clone_from(&self.name);
        app.user.clone_from(&self.user);
        app.status = self.status;
        app.complete = matches!(self.status, Status::Succeeded | Status::Failed | Status::Killed);
        app.submitted_at = self.format.timestamp(self.submitted);
        app.finished_at = self.format.timestamp(self.finished);
        app
    }

    /// The job as an application. Its engine is MapReduce, so that no data is expected that only Spark logs.
    #[must_use]
    pub fn application(&self, machines: &Interner) -> Application {
        let mut app = self.outline();
        for (place, group) in self.groups.iter().enumerate() {
            let table = self.table(Self::kind(place), group, machines, &mut app.strings);
            app.groups.push(table);
        }
        app
    }

    fn table(&self, kind: TaskKind, group: &Group, machines: &Interner, strings: &mut Interner) -> TaskGroup {
        let mut table = TaskGroup::new(kind);
        for attempts in group.attempts.chunk_by(|one, other| one.task() == other.task()) {
            let Some(first) = attempts.first() else { continue };
            let task = table.tasks.push(first.task());
            let Ok(task_row) = u32::try_from(task) else { break };
            let mut outcome = Outcome::Unfinished;
            for (number, attempt) in (0u32..).zip(attempts) {
                let row = table.attempts.push(task_row, number);
                let machine = attempt.machine().and_then(|machine| machines.get(machine));
                table.attempts.set_node(row, machine.and_then(|name| strings.intern(name)));
                table.attempts.set_outcome(row, attempt.outcome());
                let times = [(TimePoint::Start, attempt.start()), (TimePoint::Finish, attempt.finish())];
                for (point, moment) in times {
                    table.attempts.set_time(row, point, self.format.timestamp(moment));
                }
                if outcome != Outcome::Succeeded {
                    outcome = attempt.outcome();
                    if outcome == Outcome::Succeeded {
                        table.tasks.set_representative(task, Some(row));
                    }
                }
            }
            table.tasks.set_outcome(task, outcome);
        }
        table
    }
}
