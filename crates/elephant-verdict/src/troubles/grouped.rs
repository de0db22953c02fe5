//! The second stage: findings of one root cause are one trouble, and each consequence is listed under its cause.

use super::{Case, Trouble, consequences, failed_run, groups};
use elephant_rule::finding::Finding;

/// Findings in groups.
pub(super) struct Grouped<'f> {
    pub(super) findings: &'f mut [Finding],
    /// Troubles, worst first by their severity.
    pub(super) troubles: Vec<Trouble>,
}

/// Groups the judged `findings`. Of an application that failed, the failure comes before all else.
pub(super) fn grouped<'f>(case: &Case<'_>, findings: &'f mut [Finding]) -> Grouped<'f> {
    let limits = (case.order(), case.basis.rules.troubles());
    let troubles = groups::of(findings, limits.1);
    let mut troubles = consequences::under_their_causes(case.app, troubles, findings, limits);
    if case.is_by_saving() {
        failed_run::hold_back(case.app, &mut troubles, findings);
    }
    troubles.sort_by(|a, b| a.rank().cmp(&b.rank()));
    Grouped { findings, troubles }
}
