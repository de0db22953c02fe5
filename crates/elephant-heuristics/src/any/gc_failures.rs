//! `gc-failures`: by the GC log of a process, its collector failed to keep up.

use super::support::gc_logs::{in_words, millis, workers, worst};
use crate::declare::any as rule;
use elephant_base::severity::Severity;
use elephant_catalogue::{Check, Rule, load};
use elephant_model::model::Application;
use elephant_rule::finding::{Advice, Judgement, Measure, Subject, Verdict, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Duration};
use elephant_rule::params::rule_params;
use elephant_rule::wording::plural;

rule_params! {
    /// Parameters of `gc-failures`.
    pub(super) struct Failures / FailuresLayer {
        /// Collections of one process in which the collector could not keep up: to-space exhausted, concurrent mode
        /// failure, promotion failed, degenerated collections, allocation stalls.
        failed_collections: Ascending<Count>,
        /// The longest stop of one process.
        longest_stop: Ascending<Duration>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "gc-failures", "GC Failures", tells GarbageCollection, Failures, |layers, _| load(layers, CannotKeepUp))
        .measured_by("failed_collections_count", Worse::Higher);

/// The message of a finding.
const MESSAGE: &str = "by its GC log, the collector of {process} could not keep up in {failed}[ ({marks})]; its longest stop took \
    {longest_stop_ms} ({limit})";

/// What helps a collector that is too late.
const ADVICE: &str = "give the JVM more heap, or less to do at a time: fewer tasks in it, and a collector that starts earlier \
                      (G1: a lower -XX:InitiatingHeapOccupancyPercent)";

struct CannotKeepUp(Failures);

impl Check for CannotKeepUp {
    fn check(&self, app: &Application) -> Verdict {
        let Self(params) = self;
        let rank = |log| {
            let log: &elephant_model::model::gc_log::GcLog = log;
            let by_failures = params.failed_collections.severity(log.failed as f64);
            let by_stop = params.longest_stop.severity(millis(log.stops.all.longest).as_f64());
            Some((by_failures, by_stop))
        };
        let level = |(failures, stop): &(Severity, Severity)| f64::from((*failures).max(*stop) as u8);
        let Some((process, (by_failures, by_stop))) = worst(app, rank, level) else {
            return Verdict::NotApplicable;
        };
        let severity = by_failures.max(by_stop);
        let log = &process.log;
        let marks: Vec<String> =
            log.failures.iter().map(|(failure, count)| format!("{}: {count}", failure.name())).collect();
        let limit = if by_failures >= by_stop {
            params.failed_collections.describe(severity)
        } else {
            params.longest_stop.describe(severity)
        };
        Judgement::of(Subject::Application, severity)
            .tasks(workers(app).count() as u64)
            .fact("gc_logs_count", Measure::Count(workers(app).count() as u64))
            .fact("failed_collections_count", Measure::Count(log.failed))
            .fact("longest_stop_ms", Measure::Time(millis(log.stops.all.longest)))
            .message(
                MESSAGE,
                &[
                    ("process", &in_words(app, process)),
                    ("failed", &plural(log.failed, "collection")),
                    ("marks", &marks.join(", ")),
                    ("limit", &limit),
                ],
            )
            .advice(|| vec![Advice::from(ADVICE.to_owned())])
            .into()
    }
}
