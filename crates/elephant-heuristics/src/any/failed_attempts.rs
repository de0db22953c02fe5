//! `failed-attempts`: task time spent on failed attempts.

mod again;
mod cost;
mod delay;

use std::sync::Arc;

use cost::Cost;
use delay::Delay;

use super::support::groups::tasks;
use crate::declare::any as rule;
use crate::mapreduce::remedies_of_failures;
use crate::shown::NAMES;
use crate::spark::{Root, against_kinds, in_words, look_at};
use elephant_analysis::root_cause::Roots;
use elephant_base::severity::Severity;
use elephant_base::units::Millis;
use elephant_catalogue::{AdviceParams, Advised, Check, Rule, load_advised};
use elephant_model::diagnosis::FailureKind;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::spark::Facet;
use elephant_model::model::{Application, Engine, Status};
use elephant_rule::finding::{Advice, Failure, Judgement, Measure, Phrase, Subject, Verdict, Word, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio};
use elephant_rule::params::rule_params;
use elephant_rule::wording::{by_hadoop, change, decisive, percent, plural};

rule_params! {
    /// Parameters of `failed-attempts`.
    pub(super) struct Failures / FailuresLayer {
        /// Time of failed attempts / time of all attempts.
        failed_share: Ascending<Ratio>,
        /// Time of failed attempts. Small jobs lose little, however large the share.
        failed_time: Ascending<Duration>,
        /// MapReduce: map or reduce tasks with a failed attempt / all tasks of that kind, from several_tasks on. Where
        /// many tasks fail, the next run may fail, however little time they lost.
        failed_tasks: Ascending<Ratio>,
        /// MapReduce: attempts that failed because their heap or container was too small, however little time they lost.
        /// More data would make more of them fail.
        out_of_memory: Ascending<Count>,
        /// Time in which only failed attempts ran / time in which tasks ran. The application waited for them. MapReduce:
        /// also the time that a replay of the job saves without them / its run time.
        lost_share: Ascending<Ratio>,
        /// The same time. Short applications lose little, however large the share.
        lost_time: Ascending<Duration>,
        /// MapReduce: (attempts launched - tasks) / tasks, of the map or the reduce tasks, whatever they took and however
        /// they ended. Copies count, too.
        launched_again: Ascending<Ratio>,
        /// failed_tasks counts from this number of failed tasks on: with fewer, their share says little.
        several_tasks: Quantity<Count>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "failed-attempts", "Failed Attempts", tells Failures, Failures, |layers, advice| load_advised(
        layers, advice, Failed
    ))
    .measured_by("failed_ratio", Worse::Higher);

/// The message of a finding.
const MESSAGE: &str = "{lost} of {attempts} {ended} and took {failed_time_ms}, {failed_ratio:%} of \
    {all} task time[ ({limit})][; {of_tasks}][; {of_memory}][; {again}][; {delay}][; {on_host}][; root cause: {root}]";

/// The host of most failures.
const ON_HOST: &str = "{count} of them on {host}";

struct Failed(Failures, Arc<AdviceParams>);

/// The share of tasks that failed.
const OF_TASKS: &str = "{failed} {kind} tasks failed at least once, {share} ({limit})";

impl Failures {
    /// The severity by the share of tasks that failed, and its phrase if that severity is higher than `other`. Few failures
    /// of short tasks, by `by_time`, do no harm.
    fn of_tasks(&self, cost: &Cost, other: Severity, by_time: Severity) -> (Severity, Phrase) {
        let Some(most) = cost.most_failed else { return Default::default() };
        let severity = self.failed_tasks.severity(most.share).min(by_time);
        if severity <= other {
            return Default::default();
        }
        let limit = self.failed_tasks.describe_in(severity, percent);
        let (share, kind) = (percent(most.share), most.kind.name());
        let words: [Word<'_>; 4] =
            [("failed", &most.failed), ("kind", &kind), ("share", &share), ("limit", &limit)];
        (severity, Phrase::new(OF_TASKS, &words))
    }
}

/// The attempts that failed for lack of memory.
const OF_MEMORY: &str = "{count} of them for lack of memory ({limit})";

impl Failures {
    /// The limit that decides, of the share of time lost and the time lost, which give these severities.
    fn limit_of_work(&self, severity: Severity, (by_share, by_time): (Severity, Severity)) -> String {
        let level = severity.max(Severity::Low);
        let limits = [
            (by_share, self.failed_share.describe_in(level, percent)),
            (by_time, self.failed_time.describe(level)),
        ];
        decisive(severity, &limits)
    }

    /// The severity by the attempts of MapReduce and Tez that failed for lack of memory, and its phrase if that severity is higher
    /// than `other`.
    fn of_memory(&self, app: &Application, cost: &Cost, other: Severity) -> (Severity, Phrase) {
        let failed = match app.engine {
            Engine::MapReduce | Engine::Tez => cost.roots.count(FailureKind::is_lack_of_memory),
            Engine::Spark => 0,
        };
        let severity = self.out_of_memory.severity(failed as f64);
        if severity <= other {
            return Default::default();
        }
        let limit = self.out_of_memory.describe(severity);
        (severity, Phrase::new(OF_MEMORY, &[("count", &failed), ("limit", &limit)]))
    }
}

impl Check for Failed {
    fn check(&self, app: &Application) -> Verdict {
        let app = &Advised { app, advice: &self.1 };
        let Self(params, _) = self;
        let cost = Cost::of(app, params.several_tasks.get());
        if cost.attempts == 0 {
            return Verdict::NotApplicable;
        }
        if cost.all_time == Millis::ZERO {
            return Verdict::NotEvaluated("no attempt has a run time".to_owned());
        }
        let share = cost.time.as_f64() / cost.all_time.as_f64();
        let by_share = params.failed_share.severity(share);
        let by_time = params.failed_time.severity(cost.time.as_f64());
        let by_work = by_share.min(by_time);
        let (by_tasks, of_tasks) = params.of_tasks(&cost, by_work, by_time);
        let by_work = by_work.max(by_tasks);
        let delay = Delay::of(app, params, &cost);
        let (by_wait, delayed) = params.wait(&delay, by_work);
        let (by_memory, of_memory) = params.of_memory(app, &cost, by_work.max(by_wait));
        let (by_launches, again) = params.launched(app, by_work.max(by_wait).max(by_memory));
        let by_others = by_wait.max(by_memory).max(by_launches);
        let severity = by_work.max(by_others);
        // Only the condition that decides has its limit.
        let is_told = by_work < by_others || by_tasks > by_share.min(by_time);
        let limit = if is_told { String::new() } else { params.limit_of_work(by_work, (by_share, by_time)) };
        let mut evidence = cost.evidence(share);
        evidence.extend(delay.evidence());
        let (failure, root) = root(app, &cost.roots).unzip();
        let root = root.unwrap_or_default();
        let failure = failure.map(|failure| cost.failure_of(app, failure));
        let kind = failure.as_ref().map(|failure| failure.kind);
        let on_host = on_host(app, &cost, &mut evidence);
        Judgement::of(Subject::Application, severity)
            .tasks(tasks(app))
            .facts(evidence)
            .failed_by(failure)
            .message(
                MESSAGE,
                &[
                    ("lost", &cost.lost),
                    ("ended", &cost.ended()),
                    ("attempts", &plural(cost.attempts, "attempt")),
                    ("all", &if cost.any_open { "the known" } else { "all" }),
                    ("limit", &limit),
                    ("of_tasks", &of_tasks),
                    ("of_memory", &of_memory),
                    ("again", &again),
                    ("delay", &delayed),
                    ("on_host", &on_host),
                    ("root", &root),
                ],
            )
            .advice(|| advice(app, &cost, kind))
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }
}

/// The host of most failures, in words and as evidence; no words if no host stands out.
fn on_host(app: &Application, cost: &Cost, evidence: &mut Vec<(&'static str, Measure)>) -> Phrase {
    let Some((host, failures)) = cost.hosts.worst(app) else { return Phrase::default() };
    evidence.push(("worst_host_text", Measure::Text(host.to_owned())));
    evidence.push(("worst_host_failed_count", Measure::Count(failures)));
    Phrase::new(ON_HOST, &[("count", &failures), ("host", &host)])
}

/// The root cause, and its phrase for the message.
fn root(app: &Application, roots: &Roots) -> Option<(Failure, Phrase)> {
    if let Some(spark) = app.spark.as_deref() {
        let root = Root::of_attempts(app, spark, roots.clone())?;
        let words = in_words(app, &root);
        let words = if words.to_string().is_empty() { causes(roots) } else { words };
        return Some((root.failure, words));
    }
    let failure = roots.first()?.failure.clone();
    Some((failure, causes(roots)))
}

/// The most frequent causes, each with its number of tasks.
fn causes(roots: &Roots) -> Phrase {
    let causes = roots.roots.iter().take(NAMES).filter_map(|root| {
        let Failure { kind, message, .. } = &root.failure;
        let cause = message.clone().or_else(|| kind.because())?;
        let tasks = plural(root.tasks, "task");
        Some(Phrase::new(CAUSE, &[("tasks", &tasks), ("cause", &cause)]))
    });
    Phrase::list(", ", causes)
}

/// A cause, and the number of tasks with attempts that failed because of it.
const CAUSE: &str = "{tasks} with \"{cause}\"";

fn advice(app: &Advised<'_>, cost: &Cost, kind: Option<FailureKind>) -> Vec<Advice> {
    let mut advice = Vec::new();
    // What to do about a host is said below.
    let kind = kind.filter(|kind| *kind != FailureKind::BadNode);
    if cost.denied > cost.failed() {
        advice.push(of_denied(app));
    } else if let Some((spark, kind)) = app.spark.as_deref().zip(kind) {
        advice.extend(against_kinds(app, spark, [kind], app.status != Status::Failed));
    }
    if cost.lost == 0 {
        return vec![again::ADVICE.into()];
    }
    if let Some((host, failures)) = cost.hosts.worst(app) {
        let exclude = match app.engine {
            Engine::Spark => change(app, ConfKey::ExcludeOnFailure, "true"),
            Engine::MapReduce => change(app, ConfKey::MaxFailuresPerTracker, 1),
            Engine::Tez => change(app, ConfKey::TezFailuresPerNode, 1),
        };
        let all = cost.failed();
        if app.engine == Engine::Spark && failures == all {
            // The same words as other rules, so that a trouble says them once.
            advice.push(look_at(&plural(all, "failure"), "happened", host));
            advice.push(Advice::new("let Spark exclude places where tasks fail").set([exclude]));
        } else {
            let what = format!(
                "{failures} of {all} failures happened on {host}: check its disks, memory and logs, and exclude it"
            );
            advice.push(Advice::new(what).set([exclude]));
        }
    }
    if 2 * cost.with_executor > cost.lost {
        advice.push(
            "most of the work was lost together with executors: find out why they were lost before you make tasks smaller or \
             retry more often"
                .into(),
        );
    }
    if app.engine == Engine::MapReduce {
        for root in cost.roots.roots.iter().take(NAMES) {
            let text = root.text.and_then(|text| app.strings.get(text)).unwrap_or_default();
            for line in remedies_of_failures(app, &root.failure, text) {
                if !advice.contains(&line) {
                    advice.push(line);
                }
            }
        }
    }
    let told_by = match app.engine {
        Engine::Spark if advice.is_empty() => {
            "; spark-stages-with-failed-tasks gives the causes and remedies"
        }
        Engine::Spark | Engine::MapReduce | Engine::Tez => "",
    };
    // Attempts that the cluster killed do not count as failures of their tasks, and say nothing about their input.
    if cost.failed() > 0 || advice.is_empty() {
        let times = limit_of_failures(app, cost);
        advice.push(format!("attempts that fail late cost most, so check their input first; each task may fail {times}{told_by}").into());
    }
    advice
}

/// What to do if most attempts whose work was lost were not allowed to commit it.
fn of_denied(app: &Application) -> Advice {
    if app.conf.flag(ConfKey::Speculation) == Some(true) {
        return Advice::new(
            "do not start copies of tasks that write: only one attempt may commit, and each that is denied runs again",
        )
        .set([change(app, ConfKey::Speculation, "false")]);
    }
    "an attempt that was allowed to commit did not end: look for executors that were lost or hung while they committed, and at \
     the storage that they write to"
        .into()
}

/// "4 times (spark.task.maxFailures)".
fn limit_of_failures(app: &Application, cost: &Cost) -> String {
    let setting = match app.engine {
        Engine::Spark => "spark.task.maxFailures",
        Engine::Tez => "tez.am.task.max.failed.attempts",
        Engine::MapReduce if 2 * cost.reduces > cost.lost => {
            by_hadoop(app, "mapreduce.reduce.maxattempts", "mapred.reduce.max.attempts")
        }
        Engine::MapReduce => by_hadoop(app, "mapreduce.map.maxattempts", "mapred.map.max.attempts"),
    };
    let times = app.conf.raw(setting).unwrap_or_else(|| "4".to_owned());
    format!("{times} times ({setting})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::units::Timestamp;
    use elephant_model::model::spark::StageAttempt;
    use elephant_model::model::table::{EndReason, Outcome, TaskGroup, TaskKind, TimePoint};
    use elephant_rule::finding::Finding;

    /// Nine tasks of a minute, and one that failed after this time at this message.
    fn app(failed: i64) -> (Application, StageAttempt) {
        let mut app = elephant_sample::app(&[("spark.master", "yarn")]);
        let mut attempts = vec![(Outcome::Succeeded, 60_000); 9];
        attempts.push((Outcome::Failed, failed));
        let stage = elephant_sample::stage(&mut app, 0, &attempts);
        let text = app
            .strings
            .intern("java.net.SocketTimeoutException: Read timed out\n\tat a.B.c(B.scala:1)")
            .unwrap();
        app.groups[0].attempts.set_diagnostics(9, text);
        (app, stage)
    }

    fn found(app: &Application) -> Finding {
        elephant_sample::evaluate(app, RULE.id, false).findings.remove(0)
    }

    /// Nine tasks of a minute, of which the first `denied` had to run again because they were not allowed to commit.
    fn denied(denied: usize, settings: &[(&str, &str)]) -> Finding {
        let mut app = elephant_sample::app(settings);
        let mut attempts = vec![(Outcome::Succeeded, 120_000); 9];
        attempts.extend(vec![(Outcome::Killed, 60_000); denied]);
        elephant_sample::stage(&mut app, 0, &attempts);
        let group = &mut app.groups[0];
        let mut again = TaskGroup::new(group.kind);
        for task in 0..9 {
            again.tasks.push(task);
        }
        for row in 0..9 + denied {
            let at = again.attempts.push(u32::try_from(row % 9).unwrap(), 0);
            let (from, to) = if row < 9 { (60_000, 120_000) } else { (0, 60_000) };
            again.attempts.set_time(at, TimePoint::Start, Some(Timestamp::from_millis(from)));
            again.attempts.set_time(at, TimePoint::Finish, Some(Timestamp::from_millis(to)));
            again.attempts.set_outcome(at, group.attempts.outcome(row));
            if row >= 9 {
                again.attempts.set_end_reason(at, Some(EndReason::CommitDenied));
            } else {
                again.tasks.set_representative(row, Some(at));
            }
        }
        *group = again;
        let found = elephant_sample::evaluate(&app, RULE.id, false).findings;
        found.into_iter().next().unwrap()
    }

    #[test]
    fn a_job_whose_tasks_ran_out_of_memory_is_noted_however_little_they_took() {
        let message = |text: &str, dr_elephant| {
            let mut group = elephant_sample::tasks(TaskKind::Map, (0..100).map(|_| (0, Some(600))));
            let row = group.attempts.push(7, 1);
            group.attempts.set_outcome(row, Outcome::Failed);
            group.attempts.set_time(row, TimePoint::Start, Some(Timestamp::from_millis(0)));
            group.attempts.set_time(row, TimePoint::Finish, Some(Timestamp::from_millis(30_000)));
            let mut app = elephant_sample::job(vec![group], &[]);
            let text = app.strings.intern(text).unwrap();
            app.groups[0].attempts.set_diagnostics(row, text);
            let found = elephant_sample::evaluate(&app, RULE.id, dr_elephant).findings.into_iter().next();
            found.map(|found| (found.severity, found.message))
        };
        let (severity, text) = message("Error: Java heap space", false).unwrap();
        assert_eq!(severity, Severity::Low);
        assert!(text.contains("of all task time; 1 of them for lack of memory (low from 1)"), "{text}");
        let (severity, text) = message("Error: java.io.IOException: bad record", false).unwrap();
        assert!(severity == Severity::None && !text.contains("memory"), "{text}");
        assert_eq!(message("Error: Java heap space", true), None);
    }

    #[test]
    fn work_that_was_not_allowed_to_commit_is_lost() {
        let found = denied(4, &[("spark.speculation", "true")]);
        assert!(found.severity > Severity::None);
        assert!(
            found.message.starts_with(
                "4 of 13 attempts were not allowed to commit their output and took 4m, 30.8 % of all task time"
            ),
            "{}",
            found.message
        );
        assert!(found.advice[0].text.starts_with("do not start copies of tasks that write"));
        assert_eq!(found.advice[0].settings[0].to_string(), "--conf spark.speculation=false (now true)");
        assert_eq!(found.advice.len(), 1, "{:?}", found.advice);
        let without = denied(4, &[]);
        assert!(without.advice[0].text.starts_with("an attempt that was allowed to commit did not end"));
    }

    #[test]
    fn the_time_in_which_only_failed_attempts_ran_decides() {
        let (mut app, _) = app(600_000);
        app.status = Status::Succeeded;
        let found = found(&app);
        assert_eq!(found.severity, Severity::Critical);
        assert_eq!(
            found.message,
            "1 of 10 attempts failed and took 10m, 52.6 % of all task time; for 9m nothing else ran, 90 % of the time \
             in which tasks ran (critical from 40 %); root cause: 1 task with \"java.net.SocketTimeoutException: Read \
             timed out\""
        );
        assert!(
            found.advice[0].contains("fix the error, or the records that cause it"),
            "{:?}",
            found.advice
        );
        assert_eq!(found.time("lost_ms"), Some(Millis::from_secs(540)));
    }

    #[test]
    fn a_run_that_failed_is_not_judged_by_the_time_that_it_waited() {
        let (mut app, _) = app(600_000);
        app.status = Status::Failed;
        let found = found(&app);
        assert_eq!(found.severity, Severity::Moderate);
        assert!(!found.message.contains("nothing else ran"), "{}", found.message);
    }

    #[test]
    fn failed_attempts_next_to_others_cost_only_their_own_time() {
        let found = found(&app(60_000).0);
        assert_eq!(found.severity, Severity::Low);
        assert!(found.message.contains("10 % of all task time (low from 10"), "{}", found.message);
        assert!(!found.message.contains("nothing else ran"), "{}", found.message);
    }

    /// Forty reduces of 100 s on several nodes, of which the first `failed` ended with this message after 40 s at first.
    fn reduces(failed: u32, outcome: Outcome, text: &str) -> Application {
        let times = (0..40).map(|task| if task < failed { (40, Some(140)) } else { (0, Some(100)) });
        let mut group = elephant_sample::tasks(TaskKind::Reduce, times);
        let maps = elephant_sample::tasks(TaskKind::Map, (0..200).map(|_| (0, Some(40))));
        let mut app = elephant_sample::job(Vec::new(), &[]);
        let text = app.strings.intern(text).unwrap();
        for task in 0..failed {
            let row = group.attempts.push(task, 1);
            group.attempts.set_outcome(row, outcome);
            group.attempts.set_time(
                row,
                TimePoint::Start,
                Some(elephant_base::units::Timestamp::from_millis(0)),
            );
            group.attempts.set_time(
                row,
                TimePoint::Finish,
                Some(elephant_base::units::Timestamp::from_millis(40_000)),
            );
            group.attempts.set_diagnostics(row, text);
        }
        app.groups = vec![maps, group];
        app
    }

    #[test]
    fn many_tasks_that_failed_are_told_even_if_they_lost_little() {
        let full = "DiskErrorException: Could not find any valid local directory for output";
        let disks = found(&reduces(12, Outcome::Failed, full));
        assert_eq!(disks.severity, Severity::Low);
        assert!(
            disks.message.contains("; 12 reduce tasks failed at least once, 30 % (low from 25 %)"),
            "{}",
            disks.message
        );
        assert_eq!(found(&reduces(4, Outcome::Failed, full)).severity, Severity::None);
    }

    #[test]
    fn work_that_the_cluster_took_away_is_lost() {
        let preempted = found(&reduces(30, Outcome::Killed, "Container preempted by scheduler"));
        assert!(preempted.severity >= Severity::Low, "{}", preempted.message);
        assert!(
            preempted.message.starts_with("30 of 270 attempts were killed by the cluster and took 20m"),
            "{}",
            preempted.message
        );
        assert!(preempted.advice[0].contains("without preemption"), "{:?}", preempted.advice);
        assert!(preempted.advice.iter().all(|line| !line.contains("input")), "{:?}", preempted.advice);
        assert_eq!(preempted.count("failed_attempts_count"), Some(0));
        // Copies that lost, and attempts that ended with the job.
        let lost = found(&reduces(30, Outcome::Killed, "Speculation: task_1 succeeded first!"));
        assert_eq!(lost.severity, Severity::None, "{}", lost.message);
    }

    /// As in a history that ends early.
    #[test]
    fn attempts_without_an_end_leave_the_sum_a_part() {
        let (mut app, _) = app(60_000);
        app.groups[0].attempts.set_time(0, TimePoint::Finish, None);
        let found = found(&app);
        assert!(found.message.contains("of the known task time"), "{}", found.message);
    }
}
