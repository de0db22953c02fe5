//! What died in an application: the ids of failed attempts and of lost executors, by which logs name them.

use std::collections::BTreeSet;

use elephant_container_log::Chain;
use elephant_model::model::table::{Outcome, TaskGroup, TaskKind};
use elephant_model::model::{Application, Engine};

/// Ids beyond this number are not compared: logs name the first of them, too.
const MOST: usize = 100_000;

/// Which executor or task attempt wrote a part of a log.
#[derive(Debug, Clone, Copy)]
pub(super) struct OwnerIds<'l> {
    pub(super) executor: Option<&'l str>,
    pub(super) attempt: Option<&'l str>,
}

/// Failed attempts and lost executors.
#[derive(Debug, Default)]
pub(super) struct Dead {
    /// Ids of Spark's task attempts.
    task_ids: BTreeSet<u64>,
    /// `attempt_1_0001_m_000002_0`.
    attempts: BTreeSet<String>,
    executors: BTreeSet<String>,
}

impl Dead {
    pub(super) fn of(app: &Application) -> Self {
        let mut dead = Self::default();
        for group in &app.groups {
            for row in (0..group.attempts.len()).filter(|row| group.attempts.outcome(*row) == Outcome::Failed)
            {
                dead.add(app, group, row);
            }
        }
        let executors = app.spark.iter().flat_map(|spark| &spark.executors);
        dead.executors
            .extend(executors.filter(|executor| executor.was_lost()).map(|executor| executor.id.clone()));
        dead
    }

    fn add(&mut self, app: &Application, group: &TaskGroup, row: usize) {
        if app.engine == Engine::Spark {
            if let Some(id) = group.attempts.id(row).filter(|_| self.task_ids.len() < MOST) {
                self.task_ids.insert(id);
            }
            return;
        }
        let number = group.attempts.task(row).and_then(|task| group.tasks.number(task));
        let kind = match group.kind {
            TaskKind::Map => "m",
            TaskKind::Reduce => "r",
            _ => return,
        };
        let job = app.id.strip_prefix("job_").unwrap_or(&app.id);
        if let Some((task, attempt)) =
            number.zip(group.attempts.number(row)).filter(|_| self.attempts.len() < MOST)
        {
            self.attempts.insert(format!("attempt_{job}_{kind}_{task:06}_{attempt}"));
        }
    }

    /// What of these the chain is of, in words; `None` if it is of none.
    pub(super) fn name(&self, chain: &Chain, owner: OwnerIds<'_>) -> Option<String> {
        let named = chain.ids.attempts.iter().map(String::as_str).chain(owner.attempt);
        if let Some(id) = named.into_iter().find(|id| self.attempts.contains(*id)) {
            return Some(id.to_owned());
        }
        let executor = owner.executor.filter(|id| self.executors.contains(*id));
        let attempt = chain.ids.task_ids.iter().find(|id| self.task_ids.contains(*id));
        match (attempt, executor) {
            (Some(id), Some(executor)) => Some(format!("executor {executor}, task attempt {id}")),
            (Some(id), None) => Some(format!("task attempt {id}")),
            (None, Some(executor)) => Some(format!("executor {executor}")),
            (None, None) => {
                let named = chain.ids.executors.iter().find(|id| self.executors.contains(*id));
                named.map(|id| format!("executor {id}"))
            }
        }
    }
}
