//! The kinds of trouble over all applications.

use std::collections::{BTreeMap, BTreeSet};

use super::{ApplicationReport, JobGroup};
use elephant_rule::finding::TroubleKind;
use elephant_verdict::savings::Sums;
use elephant_verdict::troubles::WorthSum;

/// A kind of trouble over all applications.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CauseTotal {
    /// The kind.
    pub kind: TroubleKind,
    /// What its remedies save.
    pub savings: Sums,
    /// How many applications have it.
    pub applications: u64,
    /// How many jobs these are runs of.
    pub jobs: u64,
    /// The user with most of it; `None` if no user is known.
    pub most: Option<MostOf>,
}

/// The user with most of a kind of trouble.
#[derive(Debug, Clone, PartialEq)]
pub struct MostOf {
    /// The user.
    pub user: String,
    /// What the remedies save in this user's applications.
    pub savings: Sums,
}

/// Adds up the troubles of each kind, in any order.
#[derive(Debug, Default)]
pub(crate) struct CauseSums(BTreeMap<TroubleKind, CauseSum>);

#[derive(Debug, Default)]
struct CauseSum {
    applications: u64,
    jobs: BTreeSet<JobGroup>,
    all: Saved,
    by_user: BTreeMap<String, Saved>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Saved {
    worth: WorthSum,
    savings: Sums,
}

impl CauseSums {
    /// Adds an application, which is a run of `job`.
    pub(crate) fn add(&mut self, app: &ApplicationReport, job: JobGroup) {
        let mut kinds = BTreeSet::new();
        for trouble in &app.troubles {
            let sum = self.0.entry(trouble.kind).or_default();
            if kinds.insert(trouble.kind) {
                sum.applications += 1;
                sum.jobs.insert(job);
            }
            let of_user = app.user.as_ref().map(|user| sum.by_user.entry(user.clone()).or_default());
            for saved in std::iter::once(&mut sum.all).chain(of_user) {
                saved.worth.add(&trouble.worth());
                saved.savings.add(&trouble.savings);
            }
        }
    }

    /// The kinds, those first whose remedies save most.
    pub(crate) fn finish(self) -> Vec<CauseTotal> {
        let mut sums: Vec<(TroubleKind, CauseSum)> = self.0.into_iter().collect();
        // The sort is stable: kinds that save the same keep their order.
        sums.sort_by_key(|(_, sum)| sum.all.worth.total());
        sums.into_iter().map(|(kind, sum)| sum.total(kind)).collect()
    }
}

impl CauseSum {
    fn total(self, kind: TroubleKind) -> CauseTotal {
        let most = self.by_user.into_iter().min_by_key(|(_, saved)| saved.worth.total());
        CauseTotal {
            kind,
            savings: self.all.savings,
            applications: self.applications,
            jobs: self.jobs.len() as u64,
            most: most.map(|(user, saved)| MostOf { user, savings: saved.savings }),
        }
    }
}
