//! The judgement on what an operator cost.

pub(super) use crate::spark::support::loss::{Limits, Loss};
use elephant_query::Cost;
use elephant_rule::finding::{Judgement, Measure, Subject};

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
