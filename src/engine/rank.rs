//! The order of reports: worst first. The order is total, so two runs over the same input print the same
//! bytes.

use std::cmp::{Ordering, Reverse};

use crate::finding::Finding;
use crate::results::{ApplicationReport, Leading};
use crate::severity::Severity;
use crate::units::MbMillis;

/// The sort key of an application: what leads the order, severity, score and wasted memory (unknown last), then id and sources.
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
        Self { leading, severity: *severity, score: *score, wasted: metrics.wasted, id, sources }
    }

    /// Smaller is worse.
    pub(super) fn key(self) -> impl Ord + 'a {
        let Self { leading, severity, score, wasted, id, sources } = self;
        (leading, Reverse(severity), Reverse(score), Reverse(wasted), id, sources)
    }
}

/// Applications, worst first.
pub(super) fn applications(a: &ApplicationReport, b: &ApplicationReport) -> Ordering {
    Place::of(a).key().cmp(&Place::of(b).key())
}

/// Findings of one application by severity and score, then rule and subject.
pub(super) fn findings(a: &Finding, b: &Finding) -> Ordering {
    let key = |finding: &Finding| (Reverse(finding.severity), Reverse(finding.score));
    key(a).cmp(&key(b)).then_with(|| a.rule.cmp(&b.rule)).then_with(|| a.subject.cmp(&b.subject))
}
