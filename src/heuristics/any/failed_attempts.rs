//! `failed-attempts`: task time spent on failed attempts.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{rule, tasks};
use crate::finding::{Judgement, Measure, Subject, TroubleKind, Verdict, Worse};
use crate::heuristics::wording::{decisive, percent, plural};
use crate::heuristics::{Check, Rule, load};
use crate::model::spark::Facet;
use crate::model::table::{EndReason, Outcome, TaskKind};
use crate::model::{Application, Engine, Symbol};
use crate::params::cutoffs::Ascending;
use crate::params::quantity::{Duration, Ratio};
use crate::params::rule_params;
use crate::severity::Severity;
use crate::units::Millis;

/// A host is suspicious from this many failures on.
const SUSPICIOUS_FAILURES: u64 = 3;

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
    task time ({limit})";

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
    /// Failed attempts, and all of them, by host.
    failed_on: BTreeMap<Symbol, u64>,
    ran_on: BTreeMap<Symbol, u64>,
}

impl Cost {
    fn of(app: &Application) -> Self {
        let mut cost = Self::default();
        for group in &app.groups {
            let attempts = &group.attempts;
            for row in 0..attempts.len() {
                let time = attempts.run_time(row);
                let host = attempts.node(row);
                cost.attempts += 1;
                if let Some(host) = host {
                    *cost.ran_on.entry(host).or_default() += 1;
                }
                cost.all_time = cost.all_time + time.unwrap_or_default();
                if attempts.outcome(row) != Outcome::Failed {
                    continue;
                }
                cost.failed += 1;
                cost.failed_reduces += u64::from(group.kind == TaskKind::Reduce);
                cost.untold += u64::from(time.is_none());
                cost.failed_time = cost.failed_time + time.unwrap_or_default();
                let lost = attempts.end_reason(row) == Some(EndReason::ExecutorLost);
                cost.lost_with_executor += u64::from(lost);
                if let Some(host) = host {
                    *cost.failed_on.entry(host).or_default() += 1;
                }
            }
        }
        cost
    }

    /// The host with most failures, if it has far more than its share: over half, with several hosts.
    fn suspect<'a>(&self, app: &'a Application) -> Option<(&'a str, u64)> {
        let named = self
            .failed_on
            .iter()
            .filter_map(|(&host, &failures)| Some((app.strings.get(host)?, host, failures)));
        let (name, host, failures) = named.min_by_key(|&(name, _, failures)| (Reverse(failures), name))?;
        let ran = self.ran_on.get(&host).copied().unwrap_or_default();
        let most = 2 * failures > self.failed && failures >= SUSPICIOUS_FAILURES;
        // A host that ran most of the attempts is bound to have most of the failures.
        let more_than_its_share =
            u128::from(failures) * u128::from(self.attempts) >= 2 * u128::from(ran) * u128::from(self.failed);
        (most && self.ran_on.len() > 1 && more_than_its_share).then_some((name, failures))
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
        if let Some((host, failures)) = cost.suspect(app) {
            evidence.push(("worst_host_text", Measure::Text(host.to_owned())));
            evidence.push(("worst_host_failed_count", Measure::Count(failures)));
        }
        Judgement::of(Subject::Application, severity)
            .tasks(tasks(app))
            .facts(evidence)
            .message(
                MESSAGE,
                &[("attempts", &plural(cost.attempts, "attempt")), ("limit", &decisive(severity, &limits))],
            )
            .advice(|| advice(app, &cost))
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }
}

fn advice(app: &Application, cost: &Cost) -> Vec<String> {
    let mut advice = Vec::new();
    if let Some((host, failures)) = cost.suspect(app) {
        let exclude = match app.engine {
            Engine::Spark => {
                "--conf spark.excludeOnFailure.enabled=true (spark.blacklist.enabled before Spark 3.1)"
            }
            Engine::MapReduce => "mapreduce.job.maxtaskfailures.per.tracker=1",
        };
        advice.push(format!(
            "{failures} of {} failures happened on {host}: check its disks, memory and logs, and exclude it with {exclude}",
            cost.failed
        ));
    }
    if 2 * cost.lost_with_executor > cost.failed {
        advice.push(
            "most of the work was lost together with executors: find out why they were lost before you make tasks smaller or \
             retry more often"
                .to_owned(),
        );
    }
    let told_by = match app.engine {
        Engine::Spark => "spark-stages-with-failed-tasks gives the causes and remedies",
        Engine::MapReduce => "the diagnostics of the attempts give the causes",
    };
    advice.push(format!(
        "attempts that fail late cost most, and each task may fail {}; {told_by}",
        limit_of_failures(app, cost)
    ));
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
