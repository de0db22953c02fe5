//! The worst troubles of a report.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::{Leading, Report};
use crate::troubles::Trouble;

/// One of the worst troubles of a report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WorstTrouble<'a> {
    /// The index of its application.
    pub(crate) place: usize,
    /// The trouble.
    pub(crate) trouble: &'a Trouble,
    /// The number of other applications with the same name that have a trouble of this kind: mostly the same job on
    /// other days.
    pub(crate) alike: u64,
}

impl Report {
    /// The `most` worst troubles of all applications: those whose remedies save most, if that is the order of the report,
    /// otherwise those of the highest severity. Only the worst is taken for each kind and application name;
    /// otherwise an hourly job, or a trouble in every stage, would fill the list.
    #[must_use]
    pub(crate) fn worst_troubles(&self, most: usize) -> Vec<WorstTrouble<'_>> {
        let mut worst: Vec<(usize, &Trouble)> = Vec::new();
        for (place, app) in self.applications.iter().enumerate() {
            worst.extend(app.troubles.iter().map(|trouble| (place, trouble)));
        }
        // Like the applications. Their order decides between equals.
        let by_saving = self.applications.iter().any(|app| matches!(app.leading, Leading::Worth(_)));
        worst.sort_by_key(|(_, trouble)| {
            let worth = by_saving.then(|| trouble.worth());
            (worth, Reverse(trouble.severity), Reverse(trouble.score))
        });
        let key = |place: usize, trouble: &Trouble| {
            let app = self.applications.get(place);
            let name = app.map(|app| app.name.as_deref().filter(|name| !name.is_empty()).unwrap_or(&app.id));
            (trouble.kind, name)
        };
        let mut applications: BTreeMap<_, BTreeSet<usize>> = BTreeMap::new();
        for &(place, trouble) in &worst {
            applications.entry(key(place, trouble)).or_default().insert(place);
        }
        let worst = worst.into_iter().filter_map(|(place, trouble)| {
            // The first entry of a key removes it, so that later ones are skipped.
            let alike = applications.remove(&key(place, trouble))?;
            Some(WorstTrouble { place, trouble, alike: alike.len().saturating_sub(1) as u64 })
        });
        worst.take(most).collect()
    }
}
