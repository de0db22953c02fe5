//! `job-queue-limit`: tasks run almost as long as their queue allows (Dr. Elephant
//! `JobQueueLimitHeuristic`).

use std::collections::BTreeMap;

use super::support::counters::{run_time, to_millis};
use super::support::role::Role;
use super::support::tasks::tasks;
use crate::declare::mapreduce as rule;
use elephant_base::severity::Severity;
use elephant_base::units::Millis;
use elephant_catalogue::{Check, Rule, load};
use elephant_model::model::conf::ConfKey;
use elephant_model::model::spark::Facet;
use elephant_model::model::{Application, Engine};
use elephant_rule::finding::{Judgement, Measure, Subject, Verdict};
use elephant_rule::params::cutoffs::Descending;
use elephant_rule::params::quantity::{Duration, Quantity};
use elephant_rule::params::rule_params;

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

pub(super) const RULE: Rule = rule!(DrElephant { version: "master" }, "job-queue-limit", "Job Queue Limit", tells Cluster, QueueLimit, |layers, _| load(
    layers, Limit
));

/// The message of a finding.
const MESSAGE: &str = "the longest task ran {longest_task_ms} in queue {queue_text}, which allows {allowed} \
    ({harmless}{time_left} before the limit)";

/// The message if the queue has no limit.
const NO_LIMIT: &str = "queue {queue_text} has no time limit";

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
        let harmless = if severity == Severity::None { "not reached: " } else { "" };
        let time_left = params.time_left.describe(severity);
        Judgement::of(Subject::Application, severity)
            .tasks(app.task_count())
            .fact("queue_text", Measure::Text(queue.clone()))
            .fact("limit_ms", Measure::Time(Millis::from_f64(limit.get()).unwrap_or_default()))
            .fact("longest_task_ms", Measure::Time(to_millis(longest)))
            .fact("severe_tasks_count", Measure::Count(count(Severity::Severe)))
            .fact("critical_tasks_count", Measure::Count(count(Severity::Critical)))
            .message(MESSAGE, &[("allowed", &limit), ("harmless", &harmless), ("time_left", &time_left)])
            .advice(|| {
                let key = app.conf.name_in_use(ConfKey::Queue);
                vec![format!(
                    "run the job in a queue without this limit ({key} {queue} → …), or split the work into \
                     shorter tasks"
                )]
            })
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }
}

fn without_limit(app: &Application, queue: String) -> Judgement {
    Judgement::of(Subject::Application, Severity::None)
        .tasks(app.task_count())
        .fact("queue_text", Measure::Text(queue))
        .message(NO_LIMIT, &[])
}
