//! `gc-stops`: by the GC log of a process, its threads stood still for a noticeable share of the time.

use super::support::gc_logs::{in_words, millis, workers, worst};
use crate::declare::any as rule;
use elephant_base::severity::Severity;
use elephant_catalogue::{Check, Rule, load};
use elephant_model::model::Application;
use elephant_model::model::gc_log::GcLog;
use elephant_rule::finding::{Advice, Judgement, Measure, Subject, Verdict, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Duration, Ratio};
use elephant_rule::params::rule_params;
use elephant_rule::wording::{limit, percent};

rule_params! {
    /// Parameters of `gc-stops`.
    pub(super) struct Stops / StopsLayer {
        /// Time of all stops / time that the GC log covers, of the process with the largest share.
        stop_share: Ascending<Ratio>,
        /// Time that the GC log covers. A young JVM collects often, so short logs say little.
        logged_time: Ascending<Duration>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "gc-stops", "GC Stops", tells GarbageCollection, Stops, |layers, _| load(layers, StandsStill))
        .measured_by("stop_ratio", Worse::Higher);

/// The message of a finding.
const MESSAGE: &str = "by its GC log, {process} stood still for {stop_time_ms} of {logged_time_ms}, {stop_ratio:%} ({limit}); \
    stops: {stops_count}, the longest {longest_stop_ms}";

/// What reduces stops of any collector.
const ADVICE: &str = "give the JVM more heap, run fewer tasks in it at a time, or create fewer objects; the GC log tells what \
                      is in use after collections";

struct StandsStill(Stops);

impl Check for StandsStill {
    fn check(&self, app: &Application) -> Verdict {
        let Self(params) = self;
        if workers(app).next().is_none() {
            return Verdict::NotApplicable;
        }
        let Some((process, share)) = worst(app, GcLog::stop_share, |share| *share) else {
            return Verdict::NotEvaluated("no GC log has both stops and stamps".to_owned());
        };
        let stops = &process.log.stops.all;
        let logged = process.log.span.map(|span| millis(span.length)).unwrap_or_default();
        let low = Severity::Low;
        let conditions = [
            ("stop_share", params.stop_share.severity(share), params.stop_share.describe_in(low, percent)),
            ("logged_time", params.logged_time.severity(logged.as_f64()), params.logged_time.describe(low)),
        ];
        let severity = conditions.iter().map(|(_, severity, _)| *severity).min().unwrap_or_default();
        let passed = params.stop_share.describe_in(severity, percent);
        Judgement::of(Subject::Application, severity)
            .tasks(workers(app).count() as u64)
            .fact("gc_logs_count", Measure::Count(workers(app).count() as u64))
            .fact("stops_count", Measure::Count(stops.count))
            .fact("stop_time_ms", Measure::Time(millis(stops.total)))
            .fact("longest_stop_ms", Measure::Time(millis(stops.longest)))
            .fact("logged_time_ms", Measure::Time(logged))
            .fact("stop_ratio", Measure::Ratio(Some(share)))
            .message(
                MESSAGE,
                &[("process", &in_words(app, process)), ("limit", &limit(severity, passed, &conditions))],
            )
            .advice(|| vec![Advice::from(ADVICE.to_owned())])
            .into()
    }
}
