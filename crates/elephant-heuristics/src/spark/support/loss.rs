//! A lost time as a severity: by the time, and by its share of the run.

use elephant_base::severity::Severity;
use elephant_base::units::Millis;
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Duration, Ratio};
use elephant_rule::wording::{decisive, percent};

/// The cut-offs of a rule on lost time.
#[derive(Clone, Copy)]
pub(in crate::spark) struct Limits<'p> {
    /// Time lost / run time of the application.
    pub(in crate::spark) share: &'p Ascending<Ratio>,
    /// Time lost.
    pub(in crate::spark) time: &'p Ascending<Duration>,
}

/// A lost time with its severity, and the limit that decides.
pub(in crate::spark) struct Loss {
    pub(in crate::spark) severity: Severity,
    pub(in crate::spark) time: Millis,
    pub(in crate::spark) share: f64,
    pub(in crate::spark) limit: String,
}

impl Limits<'_> {
    /// What a lost time means for a run; `None` if it is too little.
    pub(in crate::spark) fn loss(self, time: Millis, run_time: Millis) -> Option<Loss> {
        let share = time.as_f64() / run_time.as_f64();
        let (by_share, by_time) = (self.share.severity(share), self.time.severity(time.as_f64()));
        let severity = Some(by_share.min(by_time)).filter(|severity| *severity > Severity::None)?;
        let limits =
            [(by_share, self.share.describe_in(severity, percent)), (by_time, self.time.describe(severity))];
        Some(Loss { severity, time, share, limit: decisive(severity, &limits) })
    }
}
