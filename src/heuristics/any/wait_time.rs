//! `wait-time`: an application waited for resources more than it worked (seed 004, "Wait Time").

use super::{costs, rule, tasks};
use crate::finding::{Judgement, Measure, Subject, Verdict};
use crate::heuristics::wording::{decisive, grouped, percent};
use crate::heuristics::{Check, Rule, Shared, load, overlap, spark};
use crate::model::conf::ConfKey;
use crate::model::spark::Facet;
use crate::model::table::{TaskGroup, TaskKind, TimePoint};
use crate::model::{Application, Engine};
use crate::rules::cutoffs::Ascending;
use crate::rules::params::rule_params;
use crate::rules::quantity::{Duration, Ratio};
use crate::severity::Severity;
use crate::units::{Millis, Timestamp};

rule_params! {
    /// Parameters of `wait-time`.
    pub(super) struct Wait / WaitLayer {
        /// Time in which the application waited over its run time.
        wait_share: Ascending<Ratio>,
        /// Time in which the application waited.
        wait_time: Ascending<Duration>,
    }
}

pub(super) const RULE: Rule = rule!("wait-time", "Wait Time", Wait, |layers| load(layers, Waited));

struct Waited(Wait);

impl Check for Waited {
    fn check(&self, app: &Application) -> Verdict {
        self.check_among(app, &Shared::of(app))
    }

    fn check_among(&self, app: &Application, shared: &Shared<'_>) -> Verdict {
        let Self(params) = self;
        let Some(metrics) = shared.metrics() else {
            return Verdict::NotEvaluated(costs::NOT_MEASURED.to_owned());
        };
        let Some(run) = metrics.run_time else {
            return Verdict::NotEvaluated(costs::run_time_unknown(app));
        };
        let Some(wait) = metrics.wait_time else { return Verdict::NotEvaluated(costs::wait_unknown(app)) };
        if run == Millis::ZERO {
            return Verdict::NotApplicable;
        }
        // Maps and reduces may wait at the same time.
        let share = (wait.as_f64() / run.as_f64()).min(1.0);
        let by_share = params.wait_share.severity(share);
        let by_time = params.wait_time.severity(wait.as_f64());
        let severity = by_share.min(by_time);
        let level = severity.max(Severity::Low);
        let limits = [
            (by_share, params.wait_share.describe_in(level, percent)),
            (by_time, params.wait_time.describe(level)),
        ];
        let mut evidence = vec![
            ("wait_ms", Measure::Time(wait)),
            ("run_time_ms", Measure::Time(run)),
            ("wait_ratio", Measure::Ratio(Some(share))),
        ];
        // What it waited for takes a look at every attempt.
        let cause = (severity > Severity::None).then(|| Cause::of(app, wait));
        evidence.extend(cause.iter().flat_map(Cause::evidence));
        Verdict::Judged(Judgement {
            severity,
            subject: Subject::Application,
            tasks: tasks(app),
            message: format!(
                "{}, {}{} ({})",
                waited(wait, run),
                percent(share),
                cause.as_ref().map(Cause::told).unwrap_or_default(),
                decisive(severity, &limits),
            ),
            evidence,
            advice: cause.map(|cause| cause.advice(app)).unwrap_or_default(),
        })
    }

    fn rests_on(&self) -> &'static [Facet] {
        costs::OF_TIME
    }
}

/// Maps and reduces may wait at the same time, and together for longer than the job takes.
fn waited(wait: Millis, run: Millis) -> String {
    if wait > run {
        format!("maps and reduces together waited {wait} in the {run} that it took")
    } else {
        format!("waited {wait} of the {run} that it took")
    }
}

/// What an application waited for most of the time.
enum Cause {
    /// Its first task, or its first executor.
    First { engine: Engine, after: Millis },
    /// Containers: of one kind of tasks only so many ran at a time.
    Containers { kind: TaskKind, at_a_time: u64, tasks: u64 },
    /// Executors, while jobs ran, after the first had come.
    Executors,
    /// Tasks that started late although no others held their containers.
    LateTasks,
}

impl Cause {
    fn of(app: &Application, wait: Millis) -> Self {
        let engine = app.engine;
        let first = app.submitted_at.zip(first_arrival(app));
        let after = first.and_then(|(submitted, first)| Millis::between(submitted, first));
        if let Some(after) = after.filter(|after| 2 * after.get() >= wait.get()) {
            return Self::First { engine, after };
        }
        if engine == Engine::Spark {
            return Self::Executors;
        }
        let kinds = [TaskKind::Map, TaskKind::Reduce].into_iter().filter_map(|kind| app.group(kind));
        let waves = kinds.filter_map(|group| {
            let (at_a_time, tasks) = (most_at_a_time(group), group.tasks.len() as u64);
            (0 < at_a_time && at_a_time < tasks).then_some((group.kind, at_a_time, tasks))
        });
        // The kind that needs most rounds; of equals the first.
        let rounds = |(_, at_a_time, tasks): &(TaskKind, u64, u64)| *tasks as f64 / *at_a_time as f64;
        match waves.reduce(|a, b| if rounds(&b) > rounds(&a) { b } else { a }) {
            Some((kind, at_a_time, tasks)) => Self::Containers { kind, at_a_time, tasks },
            None => Self::LateTasks,
        }
    }

    /// To follow the measured wait.
    fn told(&self) -> String {
        match self {
            Self::First { engine: Engine::MapReduce, after } => {
                format!("; its first task started after {after}")
            }
            Self::First { engine: Engine::Spark, after } => {
                format!("; its first executor came after {after}")
            }
            Self::Containers { kind, at_a_time, tasks } => format!(
                "; at most {} of {} {}s ran at a time",
                grouped(i128::from(*at_a_time)),
                grouped(i128::from(*tasks)),
                kind.name()
            ),
            Self::Executors => "; no executor was there while jobs ran".to_owned(),
            Self::LateTasks => String::new(),
        }
    }

    fn evidence(&self) -> Vec<(&'static str, Measure)> {
        match self {
            Self::First { engine: Engine::MapReduce, after } => {
                vec![("first_task_after_ms", Measure::Time(*after))]
            }
            Self::First { engine: Engine::Spark, after } => {
                vec![("first_executor_after_ms", Measure::Time(*after))]
            }
            Self::Containers { kind, at_a_time, tasks } => vec![
                ("waiting_tasks_text", Measure::Text(format!("{}s", kind.name()))),
                ("at_a_time_count", Measure::Count(*at_a_time)),
                ("waiting_tasks_count", Measure::Count(*tasks)),
            ],
            Self::Executors | Self::LateTasks => Vec::new(),
        }
    }

    fn advice(&self, app: &Application) -> Vec<String> {
        let queue = match app.queue.as_deref() {
            Some(queue) => format!("queue {queue}"),
            None => "its queue".to_owned(),
        };
        let setting = ConfKey::Queue.name();
        match self {
            Self::First { engine: Engine::MapReduce, .. } => vec![format!(
                "{queue} had no room: submit the job to another one ({}) or at another hour",
                setting
            )],
            Self::Containers { kind, at_a_time, .. } => vec![format!(
                "{queue} gave it {} containers for {}s: give the queue a larger share of the cluster, or the job a \
                 queue with more room ({})",
                grouped(i128::from(*at_a_time)),
                kind.name(),
                setting
            )],
            Self::LateTasks => vec![format!(
                "look at what else ran in {queue} then: it had no room for tasks that could have started ({})",
                setting
            )],
            Self::First { engine: Engine::Spark, .. } => spark::waiting_advice(app, spark::Missing::First),
            Self::Executors => spark::waiting_advice(app, spark::Missing::Later),
        }
    }
}

/// When the first task started, or for Spark when the first executor came.
fn first_arrival(app: &Application) -> Option<Timestamp> {
    match &app.spark {
        Some(spark) => spark.executors.iter().filter_map(|executor| executor.added_at).min(),
        None => {
            let attempts = |group: &TaskGroup| {
                (0..group.attempts.len()).filter_map(|row| group.attempts.time(row, TimePoint::Start)).min()
            };
            app.groups.iter().filter_map(attempts).min()
        }
    }
}

/// How many attempts of a group ran at the same time, at most.
fn most_at_a_time(group: &TaskGroup) -> u64 {
    let attempts = &group.attempts;
    overlap::most_at_a_time((0..attempts.len()).filter_map(|row| {
        Some((attempts.time(row, TimePoint::Start)?, attempts.time(row, TimePoint::Finish)))
    }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)] // helpers of tests are not tests to clippy
mod tests {
    use super::*;
    use crate::finding::Finding;
    use crate::model::Status;
    use crate::model::table::Outcome;
    use crate::rules::RuleSet;

    const MINUTE: i64 = 60_000;

    fn moment(minutes: i64) -> Timestamp {
        Timestamp::from_millis(minutes * MINUTE)
    }

    /// Tasks that succeeded, each from one minute to another.
    fn group(kind: TaskKind, times: &[(i64, i64)]) -> TaskGroup {
        let mut group = TaskGroup::new(kind);
        for (number, &(start, finish)) in (0..).zip(times) {
            let task = group.tasks.push(number);
            let row = group.attempts.push(number, 0);
            group.attempts.set_outcome(row, Outcome::Succeeded);
            group.attempts.set_time(row, TimePoint::Start, Some(moment(start)));
            group.attempts.set_time(row, TimePoint::Finish, Some(moment(finish)));
            group.tasks.set_representative(task, Some(row));
        }
        group
    }

    fn job(groups: Vec<TaskGroup>, finished: i64) -> Application {
        let mut app = Application::new(Engine::MapReduce);
        app.status = Status::Succeeded;
        app.complete = true;
        app.queue = Some("etl".to_owned());
        app.submitted_at = Some(moment(0));
        app.finished_at = Some(moment(finished));
        app.groups = groups;
        app
    }

    fn found(app: &Application) -> Finding {
        let evaluation = RuleSet::built_in().unwrap().evaluate(app);
        evaluation.findings.into_iter().find(|finding| finding.rule == "wait-time").unwrap()
    }

    #[test]
    fn a_first_task_that_came_late() {
        let found = found(&job(vec![group(TaskKind::Map, &[(100, 110), (100, 120)])], 120));
        // The longest map could have been done after 20 minutes.
        assert_eq!(
            (found.severity, found.message.as_str()),
            (
                Severity::Moderate,
                "waited 1h 40m of the 2h that it took, 83.3 %; its first task started after 1h 40m (moderate from 30m)"
            )
        );
        assert_eq!(
            found.advice,
            [
                "queue etl had no room: submit the job to another one (mapreduce.job.queuename) or at another hour"
            ]
        );
    }

    #[test]
    fn rounds_of_tasks() {
        // Six rounds of two maps each.
        let maps: Vec<(i64, i64)> = (0..12).map(|map| (map / 2 * 10, map / 2 * 10 + 10)).collect();
        let reduces = group(TaskKind::Reduce, &[(10, 60)]);
        let found = found(&job(vec![group(TaskKind::Map, &maps), reduces], 60));
        assert_eq!(
            found.message,
            "waited 50m of the 1h that it took, 83.3 %; at most 2 of 12 maps ran at a time (moderate from 30m)"
        );
        let evidence =
            |key: &str| found.evidence.iter().find(|(name, _)| name == key).map(|(_, value)| value);
        assert_eq!(evidence("at_a_time_count"), Some(&Measure::Count(2)));
        assert_eq!(evidence("waiting_tasks_count"), Some(&Measure::Count(12)));
        assert!(found.advice[0].starts_with("queue etl gave it 2 containers for maps"), "{:?}", found.advice);
    }

    #[test]
    fn maps_and_reduces_may_wait_together_for_longer_than_the_job_takes() {
        // Reduces could start at five minutes, when the first map had ended.
        let maps = group(TaskKind::Map, &[(0, 5), (55, 60)]);
        let reduces = group(TaskKind::Reduce, &[(60, 65)]);
        let found = found(&job(vec![maps, reduces], 65));
        assert_eq!(
            found.message,
            "maps and reduces together waited 1h 50m in the 1h 5m that it took, 100 %; at most 1 of 2 maps ran at a \
             time (moderate from 30m)"
        );
    }

    #[test]
    fn a_job_that_starts_at_once_waits_for_nothing() {
        let found = found(&job(vec![group(TaskKind::Map, &[(0, 60), (0, 30)])], 60));
        assert_eq!((found.severity, found.advice.len()), (Severity::None, 0));
        assert_eq!(found.message, "waited 0 ms of the 1h that it took, 0 % (low from 30 %)");
    }

    #[test]
    fn what_is_unknown_is_told() {
        let reason = |app: &Application| {
            let evaluation = RuleSet::built_in().unwrap().evaluate(app);
            let own = evaluation.not_evaluated.into_iter().find(|missing| missing.rule == "wait-time");
            own.map(|missing| missing.reason).unwrap_or_default()
        };
        let mut without_submission = job(vec![group(TaskKind::Map, &[(0, 60)])], 60);
        without_submission.submitted_at = None;
        assert_eq!(
            reason(&without_submission),
            "the history does not tell when the application began or ended"
        );
        let mut untold = group(TaskKind::Reduce, &[(0, 60)]);
        untold.attempts.set_time(0, TimePoint::Start, None);
        let untold = job(vec![group(TaskKind::Map, &[(0, 60)]), untold], 60);
        assert_eq!(reason(&untold), "no reduce task reports its start and end");
    }
}
