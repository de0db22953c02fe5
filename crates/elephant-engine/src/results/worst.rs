//! The worst troubles of a report.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

use super::jobs::JobGroup;
use super::{ApplicationReport, Leading};
use elephant_base::severity::Severity;
use elephant_verdict::troubles::Worth;

/// One of the worst troubles of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorstTrouble {
    /// The place of its application in the report.
    pub place: usize,
    /// Which of the [candidates](Candidate) of that application it is.
    pub number: usize,
    /// The number of other runs of the same job that have a trouble of this kind.
    pub alike: u64,
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

/// Collects the worst troubles of all applications: those whose remedies save most, if that is the order of the report,
/// otherwise those of the highest severity. Only the worst is taken for each kind and job; otherwise an hourly job, or a
/// trouble in every stage, would fill the list.
#[derive(Debug, Default)]
pub struct WorstTroubles {
    applications: usize,
    worst: FxHashMap<u128, (Order, WorstTrouble)>,
}

impl WorstTroubles {
    /// Adds the next application in the order of the report.
    pub fn add(&mut self, group: JobGroup, candidates: &[Candidate]) {
        let place = self.applications;
        self.applications += 1;
        for (number, Candidate { kind, order, .. }) in candidates.iter().enumerate() {
            let key = XxHash3_128::oneshot(format!("{kind}\n{group:?}").as_bytes());
            let own = WorstTrouble { place, number, alike: 0 };
            self.worst
                .entry(key)
                .and_modify(|(known, worst)| {
                    let alike = worst.alike + 1;
                    // If both are equally bad, the application that comes first stays.
                    if order < known {
                        (*known, *worst) = (*order, own);
                    }
                    worst.alike = alike;
                })
                .or_insert((*order, own));
        }
    }

    /// The `most` worst, worst first.
    #[must_use]
    pub fn finish(self, most: usize) -> Vec<WorstTrouble> {
        let mut worst: Vec<_> = self.worst.into_values().collect();
        worst.sort_unstable_by_key(|(order, WorstTrouble { place, number, .. })| (*order, *place, *number));
        worst.into_iter().map(|(_, worst)| worst).take(most).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::Engine;
    use elephant_verdict::troubles::Trouble;

    fn run(severities: &[Severity]) -> Vec<Candidate> {
        let mut app = ApplicationReport::blank("app");
        let trouble = |&severity| {
            let mut trouble = Trouble::named("x");
            trouble.severity = severity;
            trouble
        };
        app.troubles = severities.iter().map(trouble).collect();
        Candidate::of(&app)
    }

    /// Runs of one name on several days are one job, but not those of two users.
    #[test]
    fn the_worst_of_each_job_is_taken_and_others_are_counted() {
        let (low, severe) = (Severity::Low, Severity::Severe);
        let group = |name: &str, user: &str| JobGroup::of_run(Engine::Spark, Some(name), Some(user), "app");
        let mut worst = WorstTroubles::default();
        for (name, user, severities) in [
            ("etl 2026-11-20", "alice", &[low, severe, severe][..]),
            ("load", "alice", &[low]),
            ("etl 2026-11-21", "alice", &[severe]),
            ("etl 2026-11-21", "bob", &[severe]),
            ("idle", "alice", &[]),
        ] {
            worst.add(group(name, user), &run(severities));
        }
        assert_eq!(run(&[low, severe, severe])[0].trouble, 1);
        let of = |place, alike| WorstTrouble { place, number: 0, alike };
        assert_eq!(worst.finish(5), [of(0, 1), of(3, 0), of(1, 0)]);
    }
}
