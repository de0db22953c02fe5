//! Phrases that several formats share.

use std::collections::BTreeMap;

use chrono::NaiveDate;

use crate::finding::{Finding, NotEvaluated, Suppressed};

/// "2 findings".
pub(super) fn plural(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Rules whose findings are suppressed for the same reason until the same day.
pub(super) struct SuppressedGroup<'a> {
    pub(super) rules: Vec<&'a str>,
    pub(super) reason: &'a str,
    pub(super) until: Option<NaiveDate>,
}

/// Suppressed findings by reason and end, each rule once, in the order of the findings.
pub(super) fn by_reason(suppressed: &[Suppressed]) -> Vec<SuppressedGroup<'_>> {
    let mut all: Vec<SuppressedGroup<'_>> = Vec::new();
    for Suppressed { finding, reason, until, .. } in suppressed {
        let rule = finding.rule.as_ref();
        match all.iter_mut().find(|known| known.reason == reason && known.until == *until) {
            Some(known) if known.rules.contains(&rule) => {}
            Some(known) => known.rules.push(rule),
            None => all.push(SuppressedGroup { rules: vec![rule], reason, until: *until }),
        }
    }
    all
}

/// Rules that were not evaluated, by reason.
pub(super) fn reasons_not_evaluated(missing: &[NotEvaluated]) -> BTreeMap<&str, Vec<&str>> {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for NotEvaluated { rule, reason } in missing {
        reasons.entry(reason).or_default().push(rule);
    }
    reasons
}

/// "map: one reads 100 MiB". The subject is not repeated if the message begins with it.
pub(super) fn about(finding: &Finding) -> String {
    let subject = finding.subject.name();
    if finding.message.starts_with(subject.as_ref()) {
        return finding.message.clone();
    }
    format!("{subject}: {}", finding.message)
}
