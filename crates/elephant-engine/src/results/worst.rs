//! The worst trouble of each kind in a report.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::{ApplicationReport, CauseTotal, Leading};
use elephant_base::severity::Severity;
use elephant_verdict::troubles::Worth;

/// The worst trouble of its kind in a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorstTrouble {
    /// The place of its application in the report.
    pub place: usize,
    /// Which of the [candidates](Candidate) of that application it is.
    pub number: usize,
    /// The place of its kind among the causes of the report.
    pub cause: Option<usize>,
}

/// The worst trouble of its kind in an application.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// The index of the trouble.
    pub trouble: usize,
    kind: String,
    order: Order,
}

/// Smaller is worse: what the remedy saves, if that is the order of the report, then severity and score.
type Order = (Option<Worth>, Reverse<Severity>, Reverse<u64>);

impl Candidate {
    /// The worst trouble of each kind, in the order of the troubles.
    #[must_use]
    pub fn of(app: &ApplicationReport) -> Vec<Self> {
        let by_saving = matches!(app.leading, Leading::Worth(_));
        let mut candidates: Vec<Self> = Vec::new();
        for (number, trouble) in app.troubles.iter().enumerate() {
            let order =
                (by_saving.then(|| trouble.worth()), Reverse(trouble.severity), Reverse(trouble.score));
            let kind = trouble.kind.name();
            match candidates.iter_mut().find(|known| known.kind == kind) {
                Some(known) if order < known.order => (known.order, known.trouble) = (order, number),
                Some(_) => {}
                None => candidates.push(Self { trouble: number, kind: kind.to_owned(), order }),
            }
        }
        candidates.sort_by_key(|candidate| candidate.trouble);
        candidates
    }
}

/// Collects the worst trouble of each kind over all applications.
#[derive(Debug, Default)]
pub struct WorstTroubles {
    applications: usize,
    worst: FxHashMap<String, (Order, WorstTrouble)>,
}

impl WorstTroubles {
    /// Adds the next application in the order of the report.
    pub fn add(&mut self, candidates: &[Candidate]) {
        let place = self.applications;
        self.applications += 1;
        for (number, Candidate { kind, order, .. }) in candidates.iter().enumerate() {
            let own = (*order, WorstTrouble { place, number, cause: None });
            match self.worst.get_mut(kind) {
                // If both are equally bad, the application that comes first stays.
                Some(known) if own.0 < known.0 => *known = own,
                Some(_) => {}
                None => {
                    self.worst.insert(kind.clone(), own);
                }
            }
        }
    }

    /// Those of at most `most` kinds: in the order of `causes` if the report is ordered by what remedies save, otherwise those
    /// of the highest severity first.
    #[must_use]
    pub fn finish(self, causes: &[CauseTotal], most: usize) -> Vec<WorstTrouble> {
        let of_kind = |(kind, (order, worst)): (String, (Order, WorstTrouble))| {
            let cause = causes.iter().position(|cause| cause.kind.name() == kind);
            let rank = cause.filter(|_| order.0.is_some()).unwrap_or(usize::MAX);
            (rank, order, WorstTrouble { cause, ..worst })
        };
        let mut worst: Vec<_> = self.worst.into_iter().map(of_kind).collect();
        worst.sort_unstable_by_key(|(rank, order, worst)| (*rank, *order, worst.place, worst.number));
        worst.into_iter().map(|(.., worst)| worst).take(most).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::causes::CauseSums;
    use crate::results::jobs::JobGroup;
    use elephant_rule::finding::TroubleKind;
    use elephant_verdict::troubles::Trouble;

    fn run(troubles: &[(TroubleKind, Severity)]) -> ApplicationReport {
        let mut app = ApplicationReport::blank("app");
        let trouble = |&(kind, severity)| {
            let mut trouble = Trouble::named("x");
            (trouble.kind, trouble.severity) = (kind, severity);
            trouble
        };
        app.troubles = troubles.iter().map(trouble).collect();
        app
    }

    #[test]
    fn the_worst_of_each_kind_is_taken() {
        let (low, severe) = (Severity::Low, Severity::Severe);
        let (skew, spill) = (TroubleKind::Skew, TroubleKind::Spill);
        let runs = [
            run(&[(skew, low), (spill, severe), (skew, severe)]),
            run(&[]),
            run(&[(spill, Severity::Critical)]),
            run(&[(skew, severe)]),
        ];
        let (mut worst, mut causes) = (WorstTroubles::default(), CauseSums::default());
        for app in &runs {
            worst.add(&Candidate::of(app));
            causes.add(app, JobGroup::of(app));
        }
        assert_eq!(Candidate::of(&runs[0])[1].trouble, 2);
        let causes = causes.finish();
        let place = |kind| causes.iter().position(|cause| cause.kind == kind);
        let of = |place, number, cause| WorstTrouble { place, number, cause };
        // Spilling is critical, and of the severe skews, the first stays.
        assert_eq!(worst.finish(&causes, 5), [of(2, 0, place(spill)), of(0, 1, place(skew))]);
    }
}
