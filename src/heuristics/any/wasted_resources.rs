//! `wasted-resources`: memory that containers held above what their tasks needed (seed 004, "Wasted Resources").

use super::{costs, rule, tasks};
use crate::finding::{Judgement, Measure, Subject, Verdict};
use crate::heuristics::wording::{decisive, percent};
use crate::heuristics::{Check, Rule, Shared, load, mapreduce, spark};
use crate::model::conf::ConfKey;
use crate::model::spark::Facet;
use crate::model::{Application, Engine};
use crate::rules::cutoffs::Ascending;
use crate::rules::params::rule_params;
use crate::rules::quantity::{MemoryTime, Quantity, Ratio};
use crate::severity::Severity;
use crate::units::{MbMillis, show_gb_hours};

rule_params! {
    /// Parameters of `wasted-resources`.
    pub(super) struct Waste / WasteLayer {
        /// Memory above what was needed over all that was held.
        wasted_share: Ascending<Ratio>,
        /// Memory above what was needed.
        wasted: Ascending<MemoryTime>,
        /// What advice on containers of MapReduce leaves free above the measured peak, as a share of it.
        headroom: Quantity<Ratio>,
    }
}

pub(super) const RULE: Rule =
    rule!("wasted-resources", "Wasted Resources", Waste, |layers| load(layers, Unneeded));

struct Unneeded(Waste);

impl Check for Unneeded {
    fn check(&self, app: &Application) -> Verdict {
        self.check_among(app, &Shared::of(app))
    }

    fn check_among(&self, app: &Application, shared: &Shared<'_>) -> Verdict {
        let Self(params) = self;
        let Some(metrics) = shared.metrics() else {
            return Verdict::NotEvaluated(costs::NOT_MEASURED.to_owned());
        };
        let Some(used) = metrics.used else { return Verdict::NotEvaluated(costs::used_unknown(app)) };
        if used == MbMillis::ZERO {
            return Verdict::NotApplicable;
        }
        let Some((wasted, share)) = metrics.wasted.and_then(|wasted| Some((wasted, wasted.share_of(used)?)))
        else {
            return Verdict::NotEvaluated(costs::needs_unknown(app));
        };
        let by_share = params.wasted_share.severity(share);
        let by_amount = params.wasted.severity(wasted.as_gb_hours());
        let severity = by_share.min(by_amount);
        let level = severity.max(Severity::Low);
        let limits = [
            (by_share, params.wasted_share.describe_in(level, percent)),
            (by_amount, params.wasted.describe(level)),
        ];
        let hours = |amount: MbMillis| Measure::Number(Some(amount.as_gb_hours()), "_gb_hours");
        let mut evidence = vec![
            ("used_gb_hours", hours(used)),
            ("wasted_gb_hours", hours(wasted)),
            ("wasted_ratio", Measure::Ratio(Some(share))),
        ];
        let idle = metrics.idle_percent().map(|idle| idle / 100.0);
        evidence.extend(idle.map(|idle| ("idle_cores_ratio", Measure::Ratio(Some(idle)))));
        Verdict::Judged(Judgement {
            severity,
            subject: Subject::Application,
            tasks: tasks(app),
            message: format!(
                "{} GB·h of the {} GB·h that containers held are above what was needed, {} ({})",
                show_gb_hours(wasted),
                show_gb_hours(used),
                percent(share),
                decisive(severity, &limits),
            ),
            evidence,
            advice: if severity > Severity::None { advice(app, params.headroom) } else { Vec::new() },
        })
    }

    fn rests_on(&self) -> &'static [Facet] {
        costs::OF_MEMORY
    }
}

/// What the rules on containers and heaps advise, so that no two advise different values.
fn advice(app: &Application, headroom: Quantity<Ratio>) -> Vec<String> {
    let advice: Vec<String> = match app.engine {
        Engine::MapReduce => mapreduce::container_advice(app, headroom).collect(),
        Engine::Spark => spark::heap_advice(app),
    };
    if !advice.is_empty() {
        return advice;
    }
    // The size was assumed.
    let settings = [ConfKey::MapMemoryMb, ConfKey::ReduceMemoryMb].map(ConfKey::name);
    vec![format!("ask for what the tasks need: {}", settings.join(", "))]
}
