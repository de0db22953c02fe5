//! Adds up all applications while they are read, and keeps only the worst of them.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use super::pieces::{Pieces, Rank, Render};
use super::rank;
use super::totals::Sums;
use super::visit::Turn;
use super::worst::Worst;
use crate::results::{ApplicationReport, NodeWork, QueryWork, Totals};
use elephant_model::model::Application;
use elephant_rule::finding::Name;

/// The result of the rules for one application.
pub(super) struct Judged {
    pub(super) report: ApplicationReport,
    pub(super) turn: Turn,
    /// For each suppressed finding, the index of its suppression in the rule set.
    pub(super) suppressed_by: Vec<usize>,
}

/// Gets each application that counts, before it is ranked: with its configuration, its work on each node and its queries.
#[derive(Clone, Copy)]
pub struct Keeper<'a> {
    /// What an application did on each node.
    pub by_node: fn(&Application) -> Vec<NodeWork>,
    /// Gets each application that counts.
    pub keep: &'a (dyn Fn(&ApplicationReport) + Sync),
    /// Gets each copy of an application that counts: if the file of that one changes, the copy takes its place.
    pub keep_copy: &'a (dyn Fn(&ApplicationReport) + Sync),
}

impl Keeper<'_> {
    /// Adds the data to a report that are kept, but not reported.
    pub(super) fn complete(self, app: &Application, report: &mut ApplicationReport) {
        report.nodes = (self.by_node)(app);
        report.query_work = QueryWork::of(app);
        if !app.conf.is_empty() {
            report.configuration.get_or_insert_with(|| Box::new(app.conf.clone()));
        }
    }

    /// Keeps an application, and removes what is not reported.
    fn keep(self, report: &mut ApplicationReport) {
        (self.keep)(report);
        report.nodes = Vec::new();
        report.query_work = Vec::new();
        report.phase_work = Vec::new();
        // Phases and configuration are reported together or not at all.
        if report.phases.is_none() {
            report.configuration = None;
        }
    }
}

/// Sums over all applications so far, and the worst of them.
pub(super) struct Collector<'a> {
    keeper: Option<Keeper<'a>>,
    render: Option<Render<'a>>,
    state: Mutex<State>,
}

struct State {
    applications: Worst<(ApplicationReport, Turn)>,
    pieces: Pieces,
    /// The values of [`ApplicationReport::evaluated`], each stored once and shared.
    evaluated: BTreeSet<Arc<[Name]>>,
    sums: Sums,
    findings: [u64; 5],
    suppressed: Vec<u64>,
}

/// The result after all applications have been read.
pub(super) struct Collected {
    /// The worst ones that are kept, worst first.
    pub(super) applications: Vec<(ApplicationReport, Turn)>,
    /// All applications, if they were rendered.
    pub(super) pieces: Pieces,
    pub(super) totals: Totals,
    /// Findings by severity value.
    pub(super) findings: [u64; 5],
    /// How many findings each suppression matched, by index. Suppressions past the end matched none.
    pub(super) suppressed: Vec<u64>,
}

impl<'a> Collector<'a> {
    /// Keeps the `most` worst applications, or all of them.
    pub(super) fn new(most: Option<usize>) -> Self {
        let state = State {
            applications: Worst::new(most.unwrap_or(usize::MAX), order),
            pieces: Pieces::default(),
            evaluated: BTreeSet::new(),
            sums: Sums::default(),
            findings: [0; 5],
            suppressed: Vec::new(),
        };
        Self { keeper: None, render: None, state: Mutex::new(state) }
    }

    /// Also passes each application to `keeper`.
    pub(super) fn keeping(self, keeper: Keeper<'a>) -> Self {
        Self { keeper: Some(keeper), ..self }
    }

    pub(super) fn keeper(&self) -> Option<Keeper<'a>> {
        self.keeper
    }

    /// Renders all applications, and keeps only the `most` worst, for their charts.
    pub(super) fn rendering(render: Render<'a>, most: usize) -> Self {
        Self { render: Some(render), ..Self::new(Some(most)) }
    }

    /// Counts an application, renders it if that is wanted, and keeps it if it is among the worst.
    pub(super) fn add(&self, mut judged: Judged) {
        if let Some(keeper) = self.keeper {
            keeper.keep(&mut judged.report);
        }
        let piece = self.render.map(|render| (Rank::of(&judged.report, judged.turn), render(&judged.report)));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let group = state.sums.add(&judged.report);
        if let Some((rank, piece)) = piece {
            state.pieces.add(rank, group, piece);
        }
        state.add(judged);
    }

    pub(super) fn finish(self) -> Collected {
        let State { applications, pieces, sums, findings, suppressed, .. } =
            self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        Collected {
            applications: applications.into_sorted(),
            pieces,
            totals: sums.finish(),
            findings,
            suppressed,
        }
    }
}

impl State {
    fn add(&mut self, Judged { report, turn, suppressed_by }: Judged) {
        for (sum, count) in self.findings.iter_mut().zip(report.counts) {
            *sum += count;
        }
        for place in suppressed_by {
            if place >= self.suppressed.len() {
                self.suppressed.resize(place + 1, 0);
            }
            if let Some(count) = self.suppressed.get_mut(place) {
                *count += 1;
            }
        }
        let mut next = (report, turn);
        if !self.applications.admits(&next) {
            return;
        }
        match self.evaluated.get(&next.0.evaluated) {
            Some(known) => next.0.evaluated = Arc::clone(known),
            None => drop(self.evaluated.insert(Arc::clone(&next.0.evaluated))),
        }
        self.applications.insert(next);
    }
}

/// Worst first. Applications with the same name and file name, as in archives, follow the order of the
/// files.
fn order((a, turn_of_a): &(ApplicationReport, Turn), (b, turn_of_b): &(ApplicationReport, Turn)) -> Ordering {
    rank::applications(a, b).then_with(|| turn_of_a.cmp(turn_of_b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::severity::Severity;
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
            let collector = Collector::new(most);
            // Insert some later items first and the others in reverse order.
            let (later, first) = apps.split_at(if apps.is_empty() { 0 } else { shuffle.index(apps.len()) });
            let places = (later.len()..later.len() + first.len()).chain((0..later.len()).rev());
            for place in places {
                let (severity, score, id) = &apps[place];
                collector.add(judged(*severity, *score, id, place));
            }
            let mut expected: Vec<_> = apps.iter().enumerate().collect();
            expected.sort_by_key(|(_, (severity, score, id))| (std::cmp::Reverse((*severity, *score)), id));
            expected.truncate(most.unwrap_or(usize::MAX));
            let expected: Vec<_> = expected.into_iter().map(|(number, _)| Some(number.to_string())).collect();
            let collected = collector.finish();
            let names: Vec<_> = collected.applications.into_iter().map(|(app, _)| app.name).collect();
            prop_assert_eq!(names, expected);
            let count = apps.len() as u64;
            prop_assert_eq!(collected.findings[0], count);
            prop_assert_eq!(collected.suppressed.iter().sum::<u64>(), count);
            prop_assert_eq!(collected.totals.applications.iter().sum::<u64>(), count);
        }
    }
}
