//! `job-queue-limit`: tasks run almost as long as their queue allows (Dr. Elephant
//! `JobQueueLimitHeuristic`).

use std::collections::BTreeMap;

use super::{Role, rule, run_time, tasks, to_millis};
use crate::finding::{Judgement, Measure, Subject, Verdict};
use crate::heuristics::{Check, Rule, load};
use crate::model::conf::ConfKey;
use crate::model::spark::Facet;
use crate::model::{Application, Engine};
use crate::params::cutoffs::Descending;
use crate::params::quantity::{Duration, Quantity};
use crate::params::rule_params;
use crate::severity::Severity;
use crate::units::Millis;

rule_params! {
    /// Parameters of `job-queue-limit`.
    pub(super) struct QueueLimit / QueueLimitLayer {
        /// Whether only succeeded jobs are judged. If false, failed and killed jobs are judged by their
        /// succeeded tasks.
        only_succeeded_jobs: bool,
        /// Maximum run time of a task, for each queue that has a limit.
        limits: BTreeMap<String, Quantity<Duration>>,
        /// Time left before the limit.
        time_left: Descending<Duration>,
    }
}

pub(super) const RULE: Rule =
    rule!("job-queue-limit", "Job Queue Limit", QueueLimit, |layers| load(layers, Limit));

struct Limit(QueueLimit);

impl Check for Limit {
    fn check(&self, app: &Application) -> Verdict {
        let Self(params) = self;
        if app.engine != Engine::MapReduce || params.limits.is_empty() {
            return Verdict::NotApplicable;
        }
        // The requested queue. Schedulers log the chosen one with its parents (`root.default`).
        let queue = app.conf.text(ConfKey::Queue).or_else(|| app.queue.clone());
        let Some(queue) = queue else {
            return Verdict::NotEvaluated("the job history does not contain the job's queue".to_owned());
        };
        let Some(limit) = params.limits.get(&queue) else {
            return Verdict::Judged(without_limit(app, queue));
        };
        let groups = [Role::Map, Role::Reduce]
            .into_iter()
            .filter_map(|role| tasks(app, role.kind(), params.only_succeeded_jobs));
        let times: Vec<i64> =
            groups.flat_map(|group| group.winners().filter_map(|row| run_time(group, row))).collect();
        let Some(&longest) = times.iter().max() else {
            return Verdict::NotEvaluated("no task reports its start and end".to_owned());
        };
        let judge = |time: i64| params.time_left.severity(limit.get() - time as f64);
        let severity = judge(longest);
        let count = |level| times.iter().filter(|&&time| judge(time) == level).count() as u64;
        Verdict::Judged(Judgement {
            severity,
            subject: Subject::Application,
            tasks: app.task_count(),
            message: format!(
                "the longest task ran {} in queue {queue}, which allows {limit} ({}{} before the limit)",
                to_millis(longest),
                if severity == Severity::None { "harmless: " } else { "" },
                params.time_left.describe(severity),
            ),
            evidence: vec![
                ("queue_text", Measure::Text(queue.clone())),
                ("limit_ms", Measure::Time(Millis::from_f64(limit.get()).unwrap_or_default())),
                ("longest_task_ms", Measure::Time(to_millis(longest))),
                ("severe_tasks_count", Measure::Count(count(Severity::Severe))),
                ("critical_tasks_count", Measure::Count(count(Severity::Critical))),
            ],
            advice: if severity > Severity::None {
                vec![format!(
                    "run the job in a queue without this limit ({} {queue} → …), or split the work into shorter tasks",
                    app.conf.name_in_use(ConfKey::Queue)
                )]
            } else {
                Vec::new()
            },
        })
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }
}

fn without_limit(app: &Application, queue: String) -> Judgement {
    Judgement {
        severity: Severity::None,
        subject: Subject::Application,
        tasks: app.task_count(),
        message: format!("queue {queue} has no time limit"),
        evidence: vec![("queue_text", Measure::Text(queue))],
        advice: Vec::new(),
    }
}
