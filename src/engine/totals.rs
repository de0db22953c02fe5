//! What all applications of a report cost together, and which rules speak most.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::{ApplicationReport, Report};
use crate::finding::{Finding, Name, NotEvaluated};
use crate::severity::Severity;
use crate::units::MbMillis;

/// Sums over all applications.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Totals {
    /// Memory that was held, of the applications that tell it.
    pub used: MbMillis,
    /// The part of it that nobody needed, of the applications that tell it.
    pub wasted: MbMillis,
    /// Memory that was held by the applications whose waste is known.
    pub used_where_waste_is_known: MbMillis,
    /// Applications whose held memory is unknown.
    pub used_unknown: u64,
    /// Applications whose wasted memory is unknown.
    pub wasted_unknown: u64,
    /// Applications by their worst finding, by severity value.
    pub applications: [u64; 5],
    /// Applications whose history is incomplete.
    pub incomplete: u64,
    /// The rules with findings, worst first.
    pub rules: Vec<RuleTotal>,
    /// Rules that were not evaluated, with the reason: those of most applications first.
    pub not_evaluated: Vec<NotEvaluatedTotal>,
}

/// In how many applications a rule was not evaluated for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotEvaluatedTotal {
    /// The rule's id.
    pub rule: Name,
    /// What data is missing.
    pub reason: String,
    /// Applications.
    pub applications: u64,
}

/// What one rule says about all applications.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleTotal {
    /// The rule's id.
    pub rule: Name,
    /// The rule's name for people.
    pub title: Name,
    /// Its worst finding.
    pub worst: Severity,
    /// Applications with a finding of it.
    pub applications: u64,
    /// Its findings by severity value.
    pub findings: [u64; 5],
    /// The sum of its scores.
    pub score: u64,
}

/// Adds up applications one by one, in any order.
#[derive(Debug, Default)]
pub(super) struct Sums {
    totals: Totals,
    rules: BTreeMap<Name, RuleTotal>,
    not_evaluated: BTreeMap<Name, BTreeMap<String, u64>>,
}

impl Sums {
    pub(super) fn add(&mut self, app: &ApplicationReport) {
        self.totals.add(app);
        for NotEvaluated { rule, reason } in &app.not_evaluated {
            let reasons = self.not_evaluated.entry(rule.clone()).or_default();
            match reasons.get_mut(reason) {
                Some(applications) => *applications += 1,
                None => drop(reasons.insert(reason.clone(), 1)),
            }
        }
        let mut seen: Vec<&str> = Vec::new();
        for finding in app.findings.iter().filter(|finding| finding.severity > Severity::None) {
            let total = self.rules.entry(finding.rule.clone()).or_insert_with(|| RuleTotal {
                rule: finding.rule.clone(),
                title: finding.title.clone(),
                worst: Severity::None,
                applications: 0,
                findings: [0; 5],
                score: 0,
            });
            total.worst = total.worst.max(finding.severity);
            total.score = total.score.saturating_add(finding.score);
            count(&mut total.findings, finding.severity);
            if !seen.contains(&finding.rule.as_ref()) {
                seen.push(&finding.rule);
                total.applications += 1;
            }
        }
    }

    pub(super) fn finish(self) -> Totals {
        let mut rules: Vec<_> = self.rules.into_values().collect();
        rules.sort_by_key(|total| (Reverse(total.worst), Reverse(total.score), Reverse(total.applications)));
        let mut not_evaluated: Vec<_> = (self.not_evaluated.into_iter())
            .flat_map(|(rule, reasons)| {
                reasons.into_iter().map(move |(reason, applications)| NotEvaluatedTotal {
                    rule: rule.clone(),
                    reason,
                    applications,
                })
            })
            .collect();
        not_evaluated.sort_by_key(|total| Reverse(total.applications));
        Totals { rules, not_evaluated, ..self.totals }
    }
}

impl Totals {
    fn add(&mut self, app: &ApplicationReport) {
        let metrics = &app.metrics;
        self.used = self.used + metrics.used.unwrap_or_default();
        self.wasted = self.wasted + metrics.wasted.unwrap_or_default();
        self.used_unknown += u64::from(metrics.used.is_none());
        self.wasted_unknown += u64::from(metrics.wasted.is_none());
        self.incomplete += u64::from(!app.complete);
        if let Some((used, _)) = metrics.used.zip(metrics.wasted) {
            self.used_where_waste_is_known = self.used_where_waste_is_known + used;
        }
        count(&mut self.applications, app.severity);
    }

    /// The wasted part in percent, over the applications whose waste is known.
    #[must_use]
    pub fn wasted_percent(&self) -> Option<f64> {
        self.wasted.share_of(self.used_where_waste_is_known).map(|share| share * 100.0)
    }
}

fn count(counts: &mut [u64; 5], severity: Severity) {
    if let Some(count) = usize::try_from(severity.value()).ok().and_then(|place| counts.get_mut(place)) {
        *count += 1;
    }
}

/// One of the worst findings of a report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorstFinding<'a> {
    /// The place of its application.
    pub place: usize,
    /// The finding.
    pub finding: &'a Finding,
    /// Other applications of the same name of which the rule says something, too: mostly the same job on other days.
    pub alike: u64,
}

impl Report {
    /// The `most` worst findings of all applications. Of each rule and name of applications only the worst, so that
    /// neither a job that runs every hour nor a rule that speaks of each stage takes all places.
    #[must_use]
    pub fn worst_findings(&self, most: usize) -> Vec<WorstFinding<'_>> {
        let mut worst: Vec<(usize, &Finding)> = Vec::new();
        for (place, app) in self.applications.iter().enumerate() {
            let found = app.findings.iter().filter(|finding| finding.severity > Severity::None);
            worst.extend(found.map(|finding| (place, finding)));
        }
        // Applications stand in the order that decides between equals.
        worst.sort_by_key(|(_, finding)| (Reverse(finding.severity), Reverse(finding.score)));
        let key = |place: usize, finding: &'_ Finding| {
            let app = self.applications.get(place);
            let name = app.map(|app| app.name.as_deref().filter(|name| !name.is_empty()).unwrap_or(&app.id));
            (finding.rule.clone(), name)
        };
        let mut applications: BTreeMap<_, BTreeSet<usize>> = BTreeMap::new();
        for &(place, finding) in &worst {
            applications.entry(key(place, finding)).or_default().insert(place);
        }
        let worst = worst.into_iter().filter_map(|(place, finding)| {
            // Who comes first takes all of its kind.
            let alike = applications.remove(&key(place, finding))?;
            Some(WorstFinding { place, finding, alike: alike.len().saturating_sub(1) as u64 })
        });
        worst.take(most).collect()
    }
}
