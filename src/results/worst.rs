//! The worst findings of a report.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::Report;
use crate::finding::Finding;
use crate::severity::Severity;

/// One of the worst findings of a report.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct WorstFinding<'a> {
    /// The index of its application.
    pub place: usize,
    /// The finding.
    pub finding: &'a Finding,
    /// The number of other applications with the same name that have a finding of this rule: mostly the
    /// same job on other days.
    pub alike: u64,
}

impl Report {
    /// The `most` worst findings of all applications. Only the worst is taken for each rule and application
    /// name; otherwise an hourly job, or a rule with a finding per stage, would fill the list.
    #[must_use]
    pub fn worst_findings(&self, most: usize) -> Vec<WorstFinding<'_>> {
        let mut worst: Vec<(usize, &Finding)> = Vec::new();
        for (place, app) in self.applications.iter().enumerate() {
            let found = app.findings.iter().filter(|finding| finding.severity > Severity::None);
            worst.extend(found.map(|finding| (place, finding)));
        }
        // The order of the applications decides between equals.
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
            // The first entry of a key removes it, so that later ones are skipped.
            let alike = applications.remove(&key(place, finding))?;
            Some(WorstFinding { place, finding, alike: alike.len().saturating_sub(1) as u64 })
        });
        worst.take(most).collect()
    }
}
