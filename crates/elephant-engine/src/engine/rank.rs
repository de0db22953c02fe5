//! The order of reports: worst first. The order is total, so two runs over the same input print the same
//! bytes.

use std::cmp::{Ordering, Reverse};

use crate::results::{ApplicationReport, Leading};
use elephant_base::severity::Severity;
use elephant_base::units::MbMillis;
use elephant_rule::finding::Finding;

/// The sort key of an application: what leads the order, severity and score, then wasted memory (unknown last) unless savings
/// lead, then id and sources.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) leading: &'a Leading,
    pub(super) severity: Severity,
    pub(super) score: u64,
    pub(super) wasted: Option<MbMillis>,
    pub(super) id: &'a str,
    pub(super) sources: &'a [String],
}

impl<'a> Place<'a> {
    pub(super) fn of(app: &'a ApplicationReport) -> Self {
        let ApplicationReport { leading, severity, score, id, sources, metrics, .. } = app;
        Self::new(leading, (*severity, *score), metrics.wasted, (id, sources))
    }

    /// The place of an application with this severity and score, and these names.
    pub(super) fn new(
        leading: &'a Leading,
        (severity, score): (Severity, u64),
        wasted: Option<MbMillis>,
        (id, sources): (&'a str, &'a [String]),
    ) -> Self {
        let wasted = wasted.filter(|_| leading.counts_waste());
        Self { leading, severity, score, wasted, id, sources }
    }

    /// Smaller is worse; without the names.
    fn key(self) -> impl Ord + 'a {
        let Self { leading, severity, score, wasted, .. } = self;
        (leading, Reverse(severity), Reverse(score), Reverse(wasted))
    }

    /// The id and the sources, each after a byte that is less than all others.
    pub(super) fn names(self) -> String {
        let names = std::iter::once(self.id).chain(self.sources.iter().map(String::as_str));
        names.collect::<Vec<_>>().join("\0")
    }
}

/// Applications, worst first.
pub(super) fn applications(a: &ApplicationReport, b: &ApplicationReport) -> Ordering {
    let (a, b) = (Place::of(a), Place::of(b));
    a.key().cmp(&b.key()).then_with(|| a.names().cmp(&b.names()))
}

/// Findings of one application by severity and score, then rule and subject.
pub(super) fn findings(a: &Finding, b: &Finding) -> Ordering {
    let key = |finding: &Finding| (Reverse(finding.severity), Reverse(finding.score));
    key(a).cmp(&key(b)).then_with(|| a.rule.cmp(&b.rule)).then_with(|| a.subject.cmp(&b.subject))
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_verdict::troubles::Worth;

    #[test]
    fn waste_breaks_ties_only_where_savings_do_not_rank() {
        let wasted = |app: &str, mb: u64, leading: &Leading| {
            let mut report = ApplicationReport::blank(app);
            report.metrics.wasted = Some(MbMillis::of(
                elephant_base::units::Bytes::from_mib(mb),
                elephant_base::units::Millis::from_secs(1),
            ));
            report.leading = leading.clone();
            report
        };
        let first = |leading: &Leading| {
            let mut apps = [wasted("a", 1, leading), wasted("b", 9, leading)];
            apps.sort_by(applications);
            apps[0].id.clone()
        };
        assert_eq!(first(&Leading::Nothing), "b");
        assert_eq!(first(&Leading::Worth(Worth::default())), "a");
    }
}
