//! `gc-requests`: by the GC log of a process, many collections have a cause other than allocation.

use super::support::gc_logs::{in_words, workers, worst};
use crate::declare::any as rule;
use elephant_base::severity::Severity;
use elephant_catalogue::{Check, Rule, load};
use elephant_model::model::Application;
use elephant_model::model::gc_log::GcLog;
use elephant_rule::finding::{Advice, Judgement, Measure, Subject, Verdict, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Ratio};
use elephant_rule::params::rule_params;
use elephant_rule::wording::{limit, percent};

rule_params! {
    /// Parameters of `gc-requests`.
    pub(super) struct Requests / RequestsLayer {
        /// Collections for System.gc() or, with G1, for a humongous object / all collections of the process.
        requested_share: Ascending<Ratio>,
        /// Collections of the process. Of few, a share says little.
        collections: Ascending<Count>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "gc-requests", "GC Requests", tells GarbageCollection, Requests, |layers, _| load(layers, Requested))
        .measured_by("requested_ratio", Worse::Higher);

/// The message of a finding.
const MESSAGE: &str = "by its GC log, {process} collected {collections_count} times, of which {explicit_count} for System.gc() and \
    {humongous_count} for humongous objects, {requested_ratio:%} ({limit})";

/// Against `System.gc()`.
const EXPLICIT: &str = "find the library that calls System.gc(), or start the JVM with -XX:+ExplicitGCInvokesConcurrent; Spark \
                        itself calls it every spark.cleaner.periodicGC.interval (30min by default)";
/// Against humongous objects.
const HUMONGOUS: &str = "enlarge G1's regions (-XX:G1HeapRegionSize, up to 32m): objects of at least half a region start \
                         collections and leave the rest of their last region unused";

struct Requested(Requests);

impl Check for Requested {
    fn check(&self, app: &Application) -> Verdict {
        let Self(params) = self;
        let share = |log: &GcLog| {
            let requested = log.explicit.saturating_add(log.humongous);
            (log.cycles > 0).then(|| (requested as f64 / log.cycles as f64).min(1.0))
        };
        let Some((process, share)) = worst(app, share, |share| *share) else {
            return Verdict::NotApplicable;
        };
        let log = &process.log;
        let low = Severity::Low;
        let conditions = [
            (
                "requested_share",
                params.requested_share.severity(share),
                params.requested_share.describe_in(low, percent),
            ),
            ("collections", params.collections.severity(log.cycles as f64), params.collections.describe(low)),
        ];
        let severity = conditions.iter().map(|(_, severity, _)| *severity).min().unwrap_or_default();
        let passed = params.requested_share.describe_in(severity, percent);
        Judgement::of(Subject::Application, severity)
            .tasks(workers(app).count() as u64)
            .fact("gc_logs_count", Measure::Count(workers(app).count() as u64))
            .fact("collections_count", Measure::Count(log.cycles))
            .fact("explicit_count", Measure::Count(log.explicit))
            .fact("humongous_count", Measure::Count(log.humongous))
            .fact("requested_ratio", Measure::Ratio(Some(share)))
            .message(
                MESSAGE,
                &[("process", &in_words(app, process)), ("limit", &limit(severity, passed, &conditions))],
            )
            .advice(|| advice(log))
            .into()
    }
}

fn advice(log: &GcLog) -> Vec<Advice> {
    let explicit = (log.explicit > 0).then_some(EXPLICIT);
    let humongous = (log.humongous > 0).then_some(HUMONGOUS);
    explicit.into_iter().chain(humongous).map(|text| text.to_owned().into()).collect()
}
