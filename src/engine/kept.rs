//! Keeps the worst applications while all are read, and adds all of them up: what a folder takes in memory does not grow
//! with what nobody wants to see.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use super::totals::{Sums, Totals};
use super::visit::Turn;
use super::{ApplicationReport, rank};
use crate::finding::Name;

/// What rules say about an application.
pub(super) struct Judged {
    pub(super) report: ApplicationReport,
    pub(super) turn: Turn,
    /// For each finding that a rule file silences, the place of the suppression.
    pub(super) suppressed_by: Vec<usize>,
}

/// The worst applications so far. Which these are in the end does not depend on the order in which they come.
pub(super) struct Kept {
    most: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Up to twice as many as are kept, so that they are put in order now and then only.
    applications: Vec<(ApplicationReport, Turn)>,
    /// Whether the first `most` are in order, and all others were as bad as the last of them when they came.
    has_worst: bool,
    /// What [`ApplicationReport::evaluated`] holds, each but once.
    evaluated: BTreeSet<Arc<[Name]>>,
    sums: Sums,
    findings: [u64; 5],
    suppressed: Vec<u64>,
}

/// What is kept of all applications.
pub(super) struct Keepsake {
    /// The worst, worst first.
    pub(super) applications: Vec<ApplicationReport>,
    pub(super) totals: Totals,
    /// Findings by severity value.
    pub(super) findings: [u64; 5],
    /// How many findings each suppression silenced, by its place; what is behind the end silenced none.
    pub(super) suppressed: Vec<u64>,
}

impl Kept {
    /// Keeps so many applications, or all.
    pub(super) fn new(most: Option<usize>) -> Self {
        Self { most: most.unwrap_or(usize::MAX), state: Mutex::default() }
    }

    /// Counts an application, and keeps it if it is among the worst.
    pub(super) fn take(&self, Judged { report, turn, suppressed_by }: Judged) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.sums.add(&report);
        for (sum, count) in state.findings.iter_mut().zip(report.counts) {
            *sum += count;
        }
        for place in suppressed_by {
            if place >= state.suppressed.len() {
                state.suppressed.resize(place + 1, 0);
            }
            if let Some(count) = state.suppressed.get_mut(place) {
                *count += 1;
            }
        }
        state.keep((report, turn), self.most);
    }

    pub(super) fn finish(self) -> Keepsake {
        let mut state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.drop_best(self.most);
        let State { applications, sums, findings, suppressed, .. } = state;
        let applications = applications.into_iter().map(|(report, _)| report).collect();
        Keepsake { applications, totals: sums.finish(), findings, suppressed }
    }
}

impl State {
    fn keep(&mut self, mut next: (ApplicationReport, Turn), most: usize) {
        let last = most.checked_sub(1).and_then(|last| self.applications.get(last));
        if self.has_worst && last.is_none_or(|last| order(last, &next).is_lt()) {
            return;
        }
        match self.evaluated.get(&next.0.evaluated) {
            Some(known) => next.0.evaluated = Arc::clone(known),
            None => drop(self.evaluated.insert(Arc::clone(&next.0.evaluated))),
        }
        self.applications.push(next);
        if self.applications.len() >= most.saturating_mul(2) {
            self.drop_best(most);
            self.has_worst = true;
        }
    }

    /// Puts the worst in order and forgets the others. No two have the same turn, so that a stable order, for which they
    /// would be copied, gives the same.
    fn drop_best(&mut self, most: usize) {
        self.applications.sort_unstable_by(order);
        self.applications.truncate(most);
    }
}

/// Worst first. Applications of one name in files of one name, as in archives, stand in the order of the files.
fn order((a, turn_of_a): &(ApplicationReport, Turn), (b, turn_of_b): &(ApplicationReport, Turn)) -> Ordering {
    rank::applications(a, b).then_with(|| turn_of_a.cmp(turn_of_b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::severity::Severity;
    use proptest::prelude::*;

    fn judged(severity: u8, score: u64, id: &str, place: usize) -> Judged {
        let severity = Severity::ALL[usize::from(severity)];
        let mut report = ApplicationReport { severity, score, ..ApplicationReport::blank(id) };
        report.counts[0] = 1;
        report.name = Some(place.to_string());
        Judged { report, turn: Turn::of_place(place), suppressed_by: vec![usize::from(score == 1)] }
    }

    proptest! {
        #[test]
        fn the_worst_are_kept_and_all_are_counted(
            apps in prop::collection::vec((0..5u8, 0..4u64, "[a-c]{2}"), 0..40),
            most in prop::option::of(0..12usize),
            shuffle in any::<prop::sample::Index>(),
        ) {
            let kept = Kept::new(most);
            // They come in any order: some later ones first, the others backwards.
            let (later, first) = apps.split_at(if apps.is_empty() { 0 } else { shuffle.index(apps.len()) });
            let places = (later.len()..later.len() + first.len()).chain((0..later.len()).rev());
            for place in places {
                let (severity, score, id) = &apps[place];
                kept.take(judged(*severity, *score, id, place));
            }
            let mut expected: Vec<_> = apps.iter().enumerate().collect();
            expected.sort_by_key(|(_, (severity, score, id))| (std::cmp::Reverse((*severity, *score)), id));
            expected.truncate(most.unwrap_or(usize::MAX));
            let expected: Vec<_> = expected.into_iter().map(|(number, _)| Some(number.to_string())).collect();
            let keepsake = kept.finish();
            let names: Vec<_> = keepsake.applications.into_iter().map(|app| app.name).collect();
            prop_assert_eq!(names, expected);
            let count = apps.len() as u64;
            prop_assert_eq!(keepsake.findings[0], count);
            prop_assert_eq!(keepsake.suppressed.iter().sum::<u64>(), count);
            prop_assert_eq!(keepsake.totals.applications.iter().sum::<u64>(), count);
        }
    }
}
