//! The worst findings of a report.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::Report;
use crate::finding::Finding;
use crate::severity::Severity;

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
