//! What an operator cost, as a severity: the time lost, and its share of the run.

use elephant_base::severity::Severity;
use elephant_base::units::Millis;
use elephant_query::Cost;
use elephant_rule::finding::{Judgement, Measure, Subject};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Duration, Ratio};
use elephant_rule::wording::decisive;
use elephant_rule::wording::percent;

/// The cut-offs that every rule on queries has.
#[derive(Clone, Copy)]
pub(super) struct Limits<'p> {
    /// Time lost / run time of the application.
    pub(super) share: &'p Ascending<Ratio>,
    /// Time lost.
    pub(super) time: &'p Ascending<Duration>,
}

/// A lost time with its severity, and the limit that decides.
pub(super) struct Loss {
    pub(super) severity: Severity,
    pub(super) time: Millis,
    pub(super) share: f64,
    pub(super) limit: String,
}

impl Limits<'_> {
    /// What a lost time means for a run; `None` if it is too little.
    pub(super) fn loss(self, time: Millis, run_time: Millis) -> Option<Loss> {
        let share = time.as_f64() / run_time.as_f64();
        let (by_share, by_time) = (self.share.severity(share), self.time.severity(time.as_f64()));
        let severity = Some(by_share.min(by_time)).filter(|severity| *severity > Severity::None)?;
        let limits =
            [(by_share, self.share.describe_in(severity, percent)), (by_time, self.time.describe(severity))];
        Some(Loss { severity, time, share, limit: decisive(severity, &limits) })
    }
}

impl Loss {
    /// A judgement on what cost this, in the stage that has most of it, with the facts of the loss.
    pub(super) fn judgement(&self, cost: Option<&Cost>) -> Judgement {
        let stages = cost.map(|cost| cost.stages.as_slice()).unwrap_or_default();
        let subject = stages.first().map_or(Subject::Application, |stage| Subject::Stage(*stage));
        let judged = Judgement::of(subject, self.severity)
            .also_about(stages.iter().skip(1).map(|stage| Subject::Stage(*stage)).collect())
            .fact("lost_ms", Measure::Time(self.time))
            .fact("lost_ratio", Measure::Ratio(Some(self.share)));
        match cost {
            Some(cost) => judged
                .fact("work_ms", Measure::Time(cost.tasks))
                .fact("work_ratio", Measure::Ratio(Some(cost.share))),
            None => judged,
        }
    }
}
