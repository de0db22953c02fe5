//! `wait-time`: an application waited for resources more than it worked (seed 004, "Wait Time").

mod cause;

use super::{costs, rule, tasks};
use crate::finding::{Judgement, Measure, Subject, Verdict};
use crate::heuristics::wording::{decisive, percent};
use crate::heuristics::{Check, NOT_MEASURED, Rule, Shared, load};
use crate::model::Application;
use crate::model::spark::Facet;
use crate::params::cutoffs::Ascending;
use crate::params::quantity::{Duration, Ratio};
use crate::params::rule_params;
use crate::severity::Severity;
use crate::units::Millis;
use cause::Cause;

rule_params! {
    /// Parameters of `wait-time`.
    pub(super) struct Wait / WaitLayer {
        /// Time in which the application waited over its run time.
        wait_share: Ascending<Ratio>,
        /// Time in which the application waited.
        wait_time: Ascending<Duration>,
    }
}

pub(super) const RULE: Rule = rule!(Own, "wait-time", "Wait Time", Wait, |layers| load(layers, Waited));

/// What a finding says.
const MESSAGE: &str = "{waited}, {wait_ratio:%}{cause} ({limit})";

struct Waited(Wait);

impl Check for Waited {
    fn check(&self, app: &Application) -> Verdict {
        self.check_among(app, &Shared::of(app))
    }

    fn check_among(&self, app: &Application, shared: &Shared<'_>) -> Verdict {
        let Self(params) = self;
        let Some(metrics) = shared.metrics() else {
            return Verdict::NotEvaluated(NOT_MEASURED.to_owned());
        };
        let Some(run) = metrics.run_time else {
            return Verdict::NotEvaluated(costs::run_time_unknown(app));
        };
        let Some(wait) = metrics.wait_time else { return Verdict::NotEvaluated(costs::wait_unknown(app)) };
        if run == Millis::ZERO {
            return Verdict::NotApplicable;
        }
        // Tasks may wait beside each other.
        let share = (wait.as_f64() / run.as_f64()).min(1.0);
        let by_share = params.wait_share.severity(share);
        let by_time = params.wait_time.severity(wait.as_f64());
        // Where both limits are off, nothing is still no wait.
        let severity = if wait == Millis::ZERO { Severity::None } else { by_share.min(by_time) };
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
        let cause = (severity > Severity::None).then(|| Cause::of(app, metrics, wait));
        evidence.extend(cause.iter().flat_map(Cause::evidence));
        Judgement::of(Subject::Application, severity)
            .tasks(tasks(app))
            .facts(evidence)
            .message(
                MESSAGE,
                &[
                    ("waited", &waited(wait, run)),
                    ("cause", &cause.as_ref().map(Cause::told).unwrap_or_default()),
                    ("limit", &decisive(severity, &limits)),
                ],
            )
            .advice(|| cause.map(|cause| cause.advice(app)).unwrap_or_default())
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        costs::OF_TIME
    }
}

/// Tasks may wait beside each other, and together for longer than the job takes.
fn waited(wait: Millis, run: Millis) -> String {
    if wait > run {
        format!("tasks together waited {wait} in the {run} that it took")
    } else {
        format!("waited {wait} of the {run} that it took")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)] // helpers of tests are not tests to clippy
mod tests {
    use super::*;
    use crate::finding::Finding;
    use crate::model::conf::Property;
    use crate::model::table::{Outcome, TaskGroup, TaskKind, TimePoint};
    use crate::model::{Engine, MasterAttempt, Status};
    use crate::rules::{RuleFile, RuleSet};
    use crate::units::Timestamp;

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
                "waited 1h 40m of the 2h that it took, 83.3 %; its first map started 1h 40m after it could \
                 (moderate from 30m)"
            )
        );
        assert_eq!(
            found.advice,
            [
                "queue etl had no room for its maps: submit the job to another one (mapreduce.job.queuename) or at \
                 another hour"
            ]
        );
    }

    #[test]
    fn the_kind_that_waited_most_is_the_one_that_is_told() {
        // Two rounds of maps, and a reduce that starts an hour after the first map has ended.
        let maps = group(TaskKind::Map, &[(0, 5), (0, 5), (5, 10), (5, 10)]);
        let found = found(&job(vec![maps, group(TaskKind::Reduce, &[(65, 70)])], 70));
        assert!(found.message.contains("; its first reduce started 1h after it could"), "{}", found.message);
    }

    #[test]
    fn attempts_that_came_to_nothing_are_no_lack_of_room() {
        let mut maps = group(TaskKind::Map, &[(0, 10), (0, 10), (120, 130)]);
        for (number, (start, finish)) in (1..).zip([(0, 60), (60, 120)]) {
            let row = maps.attempts.push(2, number);
            maps.attempts.set_outcome(row, Outcome::Failed);
            maps.attempts.set_time(row, TimePoint::Start, Some(moment(start)));
            maps.attempts.set_time(row, TimePoint::Finish, Some(moment(finish)));
        }
        let found = found(&job(vec![maps], 130));
        assert!(
            found.message.contains("; map 2 ended last, after 2 attempts that failed in 2h"),
            "{}",
            found.message
        );
        assert!(found.advice[0].starts_with("find out what the other attempts of map 2 died of"));
    }

    #[test]
    fn attempts_that_were_killed_are_no_failures() {
        // Killed for others after a minute, and two hours without room.
        let mut maps = group(TaskKind::Map, &[(0, 10), (0, 10), (120, 130)]);
        let row = maps.attempts.push(2, 1);
        maps.attempts.set_outcome(row, Outcome::Killed);
        maps.attempts.set_time(row, TimePoint::Start, Some(moment(0)));
        maps.attempts.set_time(row, TimePoint::Finish, Some(moment(1)));
        let found = found(&job(vec![maps], 130));
        assert!(found.message.contains("; maps started late"), "{}", found.message);
    }

    #[test]
    fn a_master_that_came_late() {
        let mut job = job(vec![group(TaskKind::Map, &[(100, 120)])], 120);
        job.masters.push(MasterAttempt { started_at: Some(moment(90)), node: None });
        let found = found(&job);
        assert!(found.message.contains("; its master started after 1h 30m"), "{}", found.message);
        assert!(found.advice[0].starts_with("queue etl had no room for its master"), "{:?}", found.advice);
    }

    #[test]
    fn settings_of_the_job_itself_come_before_its_queue() {
        let rounds: Vec<(i64, i64)> = (0..6).map(|map| (map * 20, map * 20 + 20)).collect();
        let mut limited = job(vec![group(TaskKind::Map, &rounds)], 120);
        let property = Property { value: "1".to_owned(), is_final: false };
        limited.conf.insert("mapreduce.job.running.map.limit".to_owned(), property);
        assert_eq!(
            found(&limited).advice,
            ["let more of them run at a time: mapreduce.job.running.map.limit 1 → 2"]
        );
        let mut uber = job(vec![group(TaskKind::Map, &rounds)], 120);
        uber.uberized = Some(true);
        let found = found(&uber);
        assert!(
            found.message.contains("; its tasks ran one after another in its master"),
            "{}",
            found.message
        );
        assert_eq!(
            found.advice,
            ["let its tasks run beside each other: mapreduce.job.ubertask.enable → false"]
        );
    }

    #[test]
    fn where_both_limits_are_off_nothing_is_still_no_wait() {
        let text = "rule: wait-time\nwait_share: off\nwait_time: off\n".to_owned();
        let rules = RuleSet::with_files(&[RuleFile { name: "off.yaml".to_owned(), text }]).unwrap();
        let severity = |app: &Application| {
            let findings = rules.evaluate(app).findings;
            findings.into_iter().find(|finding| finding.rule == "wait-time").map(|finding| finding.severity)
        };
        assert_eq!(severity(&job(vec![group(TaskKind::Map, &[(0, 60)])], 60)), Some(Severity::None));
        assert_eq!(severity(&job(vec![group(TaskKind::Map, &[(1, 60)])], 60)), Some(Severity::Critical));
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
        assert!(found.advice[0].starts_with("queue etl had room for 2 of its maps"), "{:?}", found.advice);
    }

    #[test]
    fn tasks_may_wait_together_for_longer_than_the_job_takes() {
        // Reduces could start at five minutes, when the first map had ended.
        let maps = group(TaskKind::Map, &[(0, 5), (55, 60)]);
        let reduces = group(TaskKind::Reduce, &[(60, 65)]);
        let found = found(&job(vec![maps, reduces], 65));
        assert_eq!(
            found.message,
            "tasks together waited 1h 50m in the 1h 5m that it took, 100 %; at most 1 of 2 maps ran at a \
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
