//! `wait-time`: an application waited for resources longer than it worked (seed 004, "Wait Time").

mod advice;
mod cause;
mod held;

use std::sync::Arc;

use cause::Cause;

use super::support::costs;
use super::support::groups::tasks;
use crate::declare::any as rule;
use elephant_base::severity::Severity;
use elephant_base::units::{Millis, three_digits};
use elephant_catalogue::{AdviceParams, Advised, Check, NOT_MEASURED, Rule, Shared, load_advised};
use elephant_model::model::Application;
use elephant_model::model::spark::Facet;
use elephant_rule::finding::{Judgement, Measure, Subject, Verdict};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio};
use elephant_rule::params::rule_params;
use elephant_rule::wording::{decisive, percent};

rule_params! {
    /// Parameters of `wait-time`.
    pub(super) struct Wait / WaitLayer {
        /// Wait time of the application / its run time.
        wait_share: Ascending<Ratio>,
        /// Wait time of the application. Short waits do no harm, however large the share.
        wait_time: Ascending<Duration>,
        /// If tasks waited because others of the job ran in all the containers that it got: tasks of the job / the most
        /// that ran at once.
        waves: Ascending<Count>,
        /// A MapReduce job's own tasks hold all containers that it can get from this share on of the most that it
        /// held at once.
        full_share: Quantity<Ratio>,
        /// Up to this share, a MapReduce job got far fewer containers than at other times.
        starved_share: Quantity<Ratio>,
    }
}

pub(super) const RULE: Rule = rule!(Own, "wait-time", "Wait Time", tells Waiting, Wait, |layers, advice| load_advised(
    layers, advice, Waited
));

/// The message of a finding.
const MESSAGE: &str =
    "waited {wait_ms} of its run time of {run_time_ms}, {wait_ratio:%}[; {cause}] ({limit})";

/// The message if map and reduce tasks waited at the same time, so that the sum is longer than the wait.
const BY_KINDS: &str = "map tasks waited {maps} and reduce tasks {reduces} of its run time of {run_time_ms}, together \
                        {wait_ratio:%}[; {cause}] ({limit})";

struct Waited(Wait, Arc<AdviceParams>);

impl Check for Waited {
    fn check(&self, app: &Application) -> Verdict {
        self.check_among(app, &Shared::of(app))
    }

    fn check_among(&self, app: &Application, shared: &Shared<'_>) -> Verdict {
        let app = &Advised { app, advice: &self.1 };
        let Self(params, _) = self;
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
        // Times of damaged histories may not fit together.
        let share = (wait.as_f64() / run.as_f64()).min(1.0);
        let by_share = params.wait_share.severity(share);
        let by_time = params.wait_time.severity(wait.as_f64());
        // Even with both limits off, a wait of 0 is not a finding.
        let severity = if wait == Millis::ZERO { Severity::None } else { by_share.min(by_time) };
        // Finding the cause reads every attempt.
        let cause = (severity > Severity::None).then(|| Cause::of((app, metrics), wait, params));
        let by_waves = cause.as_ref().and_then(Cause::waves).map(|waves| params.waves.severity(waves));
        let severity = by_waves.map_or(severity, |by_waves| severity.min(by_waves));
        let level = severity.max(Severity::Low);
        let mut limits = vec![
            (by_share, params.wait_share.describe_in(level, percent)),
            (by_time, params.wait_time.describe(level)),
        ];
        limits.extend(by_waves.map(|by_waves| {
            (
                by_waves,
                params.waves.describe_in(level, |waves| match three_digits(waves).as_str() {
                    "1" => "1 wave".to_owned(),
                    waves => format!("{waves} waves"),
                }),
            )
        }));
        let mut evidence = vec![
            ("wait_ms", Measure::Time(wait)),
            ("run_time_ms", Measure::Time(run)),
            ("wait_ratio", Measure::Ratio(Some(share))),
        ];
        let maps = metrics.wait_of_maps.unwrap_or_default();
        let reduces = metrics.wait_of_reduces.unwrap_or_default();
        evidence.extend(cause.iter().flat_map(Cause::evidence));
        Judgement::of(Subject::Application, severity)
            .tasks(tasks(app))
            .facts(evidence)
            .message(
                if maps + reduces > wait { BY_KINDS } else { MESSAGE },
                &[
                    ("cause", &cause.as_ref().map(Cause::phrase).unwrap_or_default()),
                    ("maps", &maps),
                    ("reduces", &reduces),
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

#[cfg(test)]
mod tests;
