//! `failed-attempts`: task time spent on failed attempts.

use std::collections::BTreeSet;

use super::{rule, tasks};
use crate::finding::{Advice, Failure, Judgement, Measure, Phrase, Subject, TroubleKind, Verdict, Worse};
use crate::heuristics::mapreduce::remedies_of_failures;
use crate::heuristics::root_cause::{Collector, Places, Roots};
use crate::heuristics::spark::{Root, blames_code, in_words};
use crate::heuristics::wording::{change, decisive, percent, plural};
use crate::heuristics::{Check, Rule, load};
use crate::model::conf::ConfKey;
use crate::model::spark::Facet;
use crate::model::table::{EndReason, Outcome, TaskKind};
use crate::model::{Application, Engine, Status};
use crate::params::cutoffs::Ascending;
use crate::params::quantity::{Duration, Ratio};
use crate::params::rule_params;
use crate::severity::Severity;
use crate::units::Millis;

rule_params! {
    /// Parameters of `failed-attempts`.
    pub(super) struct Failures / FailuresLayer {
        /// Time of failed attempts / time of all attempts.
        failed_share: Ascending<Ratio>,
        /// Time of failed attempts. Small jobs lose little, however large the share.
        failed_time: Ascending<Duration>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "failed-attempts", "Failed Attempts", Failures, |layers| load(layers, Failed))
        .measured_by("failed_ratio", Worse::Higher)
        .telling(TroubleKind::Failures);

/// The message of a finding.
const MESSAGE: &str = "{failed_attempts_count} of {attempts} failed and took {failed_time_ms}, {failed_ratio:%} of all \
    task time ({limit})[; {on_host}][; root cause: {root}]";

/// The host of most failures.
const ON_HOST: &str = "{count} of them on {host}";

struct Failed(Failures);

/// The costs of failed attempts.
#[derive(Default)]
struct Cost {
    attempts: u64,
    failed: u64,
    lost_with_executor: u64,
    failed_reduces: u64,
    untold: u64,
    failed_time: Millis,
    all_time: Millis,
    /// The number of tasks with a failed attempt.
    failed_tasks: u64,
    /// The attempts by host, and by executor.
    hosts: Places,
    executors: Places,
    /// The root causes of failed attempts.
    roots: Roots,
}

impl Cost {
    fn of(app: &Application) -> Self {
        let mut cost = Self::default();
        let mut collector = Collector::new(app);
        for group in &app.groups {
            let attempts = &group.attempts;
            collector.add(group, Outcome::Failed, |_| true);
            let mut failed_tasks = BTreeSet::new();
            for row in 0..attempts.len() {
                let time = attempts.run_time(row);
                let failed = attempts.outcome(row) == Outcome::Failed;
                cost.hosts.add(attempts.node(row), failed);
                cost.executors.add(attempts.executor(row), failed);
                cost.attempts += 1;
                cost.all_time = cost.all_time + time.unwrap_or_default();
                if !failed {
                    continue;
                }
                cost.failed += 1;
                cost.failed_reduces += u64::from(group.kind == TaskKind::Reduce);
                cost.untold += u64::from(time.is_none());
                cost.failed_time = cost.failed_time + time.unwrap_or_default();
                let lost = attempts.end_reason(row) == Some(EndReason::ExecutorLost);
                cost.lost_with_executor += u64::from(lost);
                failed_tasks.extend(attempts.task(row));
            }
            cost.failed_tasks += failed_tasks.len() as u64;
        }
        cost.roots = collector.finish();
        cost
    }

    /// Blames the node instead of the code if all failures of several tasks happened in one place and the application
    /// did not fail; otherwise the failure as it is.
    fn failure_of(&self, app: &Application, failure: Failure) -> Failure {
        let in_one_place = self.hosts.is_only_worst(app) || self.executors.is_only_worst(app);
        let of_place = in_one_place && self.failed_tasks > 1 && app.status != Status::Failed;
        if of_place && blames_code(failure.kind) { failure.of_node() } else { failure }
    }
}

impl Check for Failed {
    fn check(&self, app: &Application) -> Verdict {
        let Self(params) = self;
        let cost = Cost::of(app);
        if cost.attempts == 0 {
            return Verdict::NotApplicable;
        }
        if cost.all_time == Millis::ZERO {
            return Verdict::NotEvaluated("no attempt has a run time".to_owned());
        }
        let share = cost.failed_time.as_f64() / cost.all_time.as_f64();
        let by_share = params.failed_share.severity(share);
        let by_time = params.failed_time.severity(cost.failed_time.as_f64());
        let severity = by_share.min(by_time);
        let level = severity.max(Severity::Low);
        let limits = [
            (by_share, params.failed_share.describe_in(level, percent)),
            (by_time, params.failed_time.describe(level)),
        ];
        let mut evidence = vec![
            ("attempts_count", Measure::Count(cost.attempts)),
            ("failed_attempts_count", Measure::Count(cost.failed)),
            ("failed_attempts_untold_count", Measure::Count(cost.untold)),
            ("failed_time_ms", Measure::Time(cost.failed_time)),
            ("task_time_ms", Measure::Time(cost.all_time)),
            ("failed_ratio", Measure::Ratio(Some(share))),
        ];
        let (failure, root) = root(app, &cost.roots).unzip();
        let root = root.unwrap_or_default();
        let worst = cost.hosts.worst(app);
        let on_host = worst.map(|(host, count)| Phrase::new(ON_HOST, &[("count", &count), ("host", &host)]));
        let on_host = on_host.unwrap_or_default();
        if let Some((host, failures)) = worst {
            evidence.push(("worst_host_text", Measure::Text(host.to_owned())));
            evidence.push(("worst_host_failed_count", Measure::Count(failures)));
        }
        Judgement::of(Subject::Application, severity)
            .tasks(tasks(app))
            .facts(evidence)
            .failed_by(failure.map(|failure| cost.failure_of(app, failure)))
            .message(
                MESSAGE,
                &[
                    ("attempts", &plural(cost.attempts, "attempt")),
                    ("limit", &decisive(severity, &limits)),
                    ("on_host", &on_host),
                    ("root", &root),
                ],
            )
            .advice(|| advice(app, &cost))
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }
}

/// The root cause, and its phrase for the message.
fn root(app: &Application, roots: &Roots) -> Option<(Failure, Phrase)> {
    if let Some(spark) = app.spark.as_deref() {
        let root = Root::of_attempts(app, spark, roots.clone())?;
        let words = in_words(app, &root);
        return Some((root.failure, words));
    }
    let failure = roots.first()?.failure.clone();
    let causes = roots.roots.iter().take(CAUSES).filter_map(|root| {
        let Failure { kind, message, .. } = &root.failure;
        let cause = message.clone().or_else(|| kind.because())?;
        let tasks = plural(root.tasks, "task");
        Some(Phrase::new(CAUSE, &[("tasks", &tasks), ("cause", &cause)]))
    });
    Some((failure, Phrase::list(", ", causes)))
}

/// The maximum number of causes that are named.
const CAUSES: usize = 3;

/// A cause, and the number of tasks with attempts that failed because of it.
const CAUSE: &str = "{tasks} with \"{cause}\"";

fn advice(app: &Application, cost: &Cost) -> Vec<Advice> {
    let mut advice = Vec::new();
    if let Some((host, failures)) = cost.hosts.worst(app) {
        let exclude = match app.engine {
            Engine::Spark => change(app, ConfKey::ExcludeOnFailure, "true"),
            Engine::MapReduce => change(app, ConfKey::MaxFailuresPerTracker, 1),
        };
        let what = format!(
            "{failures} of {} failures happened on {host}: check its disks, memory and logs, and exclude it",
            cost.failed
        );
        advice.push(Advice::new(what).set([exclude]));
    }
    if 2 * cost.lost_with_executor > cost.failed {
        advice.push(
            "most of the work was lost together with executors: find out why they were lost before you make tasks smaller or \
             retry more often"
                .into(),
        );
    }
    if app.engine == Engine::MapReduce {
        for root in cost.roots.roots.iter().take(CAUSES) {
            let text = root.text.and_then(|text| app.strings.get(text)).unwrap_or_default();
            for line in remedies_of_failures(app, &root.failure, text) {
                if !advice.contains(&line) {
                    advice.push(line);
                }
            }
        }
    }
    let told_by = match app.engine {
        Engine::Spark => "; spark-stages-with-failed-tasks gives the causes and remedies",
        Engine::MapReduce => "",
    };
    let times = limit_of_failures(app, cost);
    advice.push(format!("attempts that fail late cost most, so check their input first; each task may fail {times}{told_by}").into());
    advice
}

/// "4 times (spark.task.maxFailures)".
fn limit_of_failures(app: &Application, cost: &Cost) -> String {
    let setting = match app.engine {
        Engine::Spark => "spark.task.maxFailures",
        Engine::MapReduce if 2 * cost.failed_reduces > cost.failed => "mapreduce.reduce.maxattempts",
        Engine::MapReduce => "mapreduce.map.maxattempts",
    };
    let times = app.conf.raw(setting).unwrap_or_else(|| "4".to_owned());
    format!("{times} times ({setting})")
}
