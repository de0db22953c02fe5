//! What to do about a wait.

use super::cause::Cause;
use crate::spark;
use elephant_catalogue::Advised;
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_rule::finding::Advice;
use elephant_rule::wording::{change, grouped, name_for};

impl Cause {
    pub(super) fn advice(&self, app: &Advised<'_>) -> Vec<Advice> {
        let queue = match app.queue.as_deref() {
            Some(queue) => format!("queue {queue}"),
            None => "its queue".to_owned(),
        };
        let setting = name_for(app, ConfKey::Queue);
        match self {
            Self::FirstExecutor { .. } | Self::LateExecutors { .. } => {
                spark::waiting_advice(app, spark::Missing::First)
            }
            Self::Executors => spark::waiting_advice(app, spark::Missing::Later),
            Self::FirstTask { kind, .. } => vec![
                Advice::new(format!(
                    "if {queue} had no free capacity for its {} tasks, which the history does not show: use another queue \
                     ({setting}), run off-peak, or add capacity",
                    kind.name()
                ))
                .conditional(),
            ],
            Self::Master { .. } => vec![
                Advice::new(format!(
                    "if {queue} had no free capacity for its application master, which the history does not show: use another \
                     queue ({setting}) or run off-peak; the queue also limits the resources of all application masters \
                     (yarn.scheduler.capacity.maximum-am-resource-percent)"
                ))
                .conditional(),
            ],
            Self::FailedAttempts { task, were_killed: true, .. } => vec![
                format!("find out why the cluster took the containers of {task} away (failed-attempts)").into(),
            ],
            Self::FailedAttempts { task, .. } => vec![
                format!("find out why the other attempts of {task} failed: more capacity would not help").into(),
            ],
            Self::Containers { by: Some((key, limit)), tasks, .. } => {
                let more = limit.saturating_mul(2).min(*tasks);
                vec![Advice::new("allow more concurrent tasks").set([change(app, *key, more)])]
            }
            Self::Containers { kind, at_a_time, by: None, .. } => {
                vec![larger_share((&queue, setting), *at_a_time, &format!("{} tasks", kind.name()))]
            }
            Self::OwnTasks { at_a_time, .. } => vec![larger_share((&queue, setting), *at_a_time, "tasks")],
            Self::Starved { .. } => vec![
                Advice::new(format!(
                    "if other applications held the containers of {queue}, which the history does not show: use another queue \
                     ({setting}), run off-peak, or give the queue a larger guaranteed share"
                ))
                .conditional(),
            ],
            Self::Restarted { .. } => vec![restart_advice(app)],
            Self::Uber => {
                vec![Advice::new("run its tasks in parallel").set([change(app, ConfKey::UberTask, false)])]
            }
            Self::LateTasks { kind } => {
                let kind = kind.name();
                vec![format!("check what else ran in {queue} when its {kind} tasks could have started").into()]
            }
        }
    }
}

/// Against many waves of tasks.
fn larger_share((queue, setting): (&str, &str), at_a_time: u64, tasks: &str) -> Advice {
    Advice::new(format!(
        "if {queue} had capacity for only {} of its {tasks}: give the queue a larger share of the cluster, or use a queue \
         with more capacity ({setting})",
        grouped(i128::from(at_a_time)),
    ))
    .conditional()
}

/// More capacity does not help a job whose application master dies.
fn restart_advice(app: &Application) -> Advice {
    let yarn = app.id.replacen("job_", "application_", 1);
    format!(
        "find out why the application master before the last one ended (yarn logs -applicationId {yarn}): its node may \
         have been lost, or its memory may have been too small (yarn.app.mapreduce.am.resource.mb); more capacity would not \
         help"
    )
    .into()
}
