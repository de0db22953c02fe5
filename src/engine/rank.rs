//! The order of reports: worst first, and total, so that two runs over one input print the same bytes.

use std::cmp::{Ordering, Reverse};

use super::ApplicationReport;
use crate::finding::Finding;

/// Applications by severity, score and wasted memory (unknown last), then id and sources.
pub(super) fn applications(a: &ApplicationReport, b: &ApplicationReport) -> Ordering {
    let key =
        |app: &ApplicationReport| (Reverse(app.severity), Reverse(app.score), Reverse(app.metrics.wasted));
    key(a).cmp(&key(b)).then_with(|| a.id.cmp(&b.id)).then_with(|| a.sources.cmp(&b.sources))
}

/// Findings of one application by severity and score, then rule and subject.
pub(super) fn findings(a: &Finding, b: &Finding) -> Ordering {
    let key = |finding: &Finding| (Reverse(finding.severity), Reverse(finding.score));
    key(a).cmp(&key(b)).then_with(|| a.rule.cmp(&b.rule)).then_with(|| a.subject.cmp(&b.subject))
}
