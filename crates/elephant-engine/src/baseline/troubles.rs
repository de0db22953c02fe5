//! Puts compared findings together into troubles: one cause is one change, however many rules tell of it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::results::{Absence, Absent, FindingChange, Fingerprint, TroubleChange};

/// The troubles that `findings` are about, new ones first, then worse, not judged, unchanged and better ones, each by
/// severity. `absent` are the accepted findings that the analysis does not have.
pub(super) fn troubles(findings: Vec<FindingChange>, absent: &[Absent]) -> Vec<TroubleChange> {
    let gone = absent.iter().filter(|absent| absent.absence == Absence::Gone);
    let gone: BTreeSet<&str> = gone.filter_map(|absent| absent.trouble.as_deref()).collect();
    let mut by_trouble: BTreeMap<(Option<String>, Option<Fingerprint>), Vec<FindingChange>> = BTreeMap::new();
    for found in findings {
        let key = found.told.as_ref().map(|told| told.key.clone());
        // A finding that belongs to no trouble stands alone.
        let alone = key.is_none().then(|| found.fingerprint.clone());
        by_trouble.entry((key, alone)).or_default().push(found);
    }
    let troubles = by_trouble.into_iter().filter_map(|((key, _), mut findings)| {
        sort(&mut findings);
        TroubleChange::of(findings, key.is_some_and(|key| gone.contains(key.as_str())))
    });
    let mut troubles: Vec<TroubleChange> = troubles.collect();
    // The sort is stable: equal ones stay in the order of their keys.
    troubles.sort_by_cached_key(|trouble| {
        let score = trouble.findings.iter().map(|found| found.finding.score).max();
        (trouble.change, Reverse(trouble.severity()), Reverse(score))
    });
    troubles
}

fn sort(findings: &mut [FindingChange]) {
    findings.sort_by_cached_key(|found| {
        let finding = &found.finding;
        let told = found.told.as_ref();
        let is_consequence = told.and_then(|told| told.trouble.tells(finding)).unwrap_or_default();
        let rank = (found.change, is_consequence, Reverse(finding.severity), Reverse(finding.score));
        (rank, finding.rule.clone(), found.subject.clone())
    });
}

/// The number of troubles that `absent` findings tell of, which the analysis does not have at all. Files of earlier
/// versions do not say which findings belong together; there, each counts.
pub(super) fn count_absent<'a>(absent: impl Iterator<Item = &'a Absent>, present: &[TroubleChange]) -> u64 {
    let present: BTreeSet<&str> =
        present.iter().filter_map(|trouble| Some(trouble.told.as_ref()?.key.as_str())).collect();
    let mut counted = BTreeSet::new();
    let counts = |absent: &&Absent| {
        absent.trouble.as_deref().is_none_or(|key| !present.contains(key) && counted.insert(key.to_owned()))
    };
    absent.filter(counts).count() as u64
}
