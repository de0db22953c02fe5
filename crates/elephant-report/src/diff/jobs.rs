//! Jobs with their pairs: those that changed most first.

use super::words::{moved_in, title};
use crate::document::ids::PageIds;
use crate::document::jobs::{self, Details, MAX_JOBS};
use elephant_engine::diff::{Diff, JobPairs, Pair, Total};

/// Pairs that are shown with all tables.
const MAX_DETAILS: usize = 20;
/// Pairs of one job with all tables, if there are several jobs.
const MAX_DETAILS_OF_JOB: usize = 2;

/// A job that changed, and how it is shown.
pub(super) struct JobView<'a> {
    /// All its pairs.
    pub(super) all: Vec<&'a Pair>,
    /// The rules whose findings changed.
    pub(super) moved: String,
    pub(super) total: Total,
    /// The pairs that changed, the one that changed most first, with the ids of their second applications.
    pub(super) shown: jobs::Job<'a, &'a Pair>,
}

/// The jobs that are shown, and the number of others.
pub(super) fn listed(diff: &Diff, top: Option<usize>) -> (Vec<JobView<'_>>, u64) {
    let mut all = diff.jobs();
    if let ([], [pair]) = (all.as_slice(), diff.pairs.as_slice()) {
        all.push(JobPairs { pairs: vec![pair], changed: vec![pair], total: Total::of([pair]) });
    }
    let mut ids = PageIds::default();
    let most = top.unwrap_or(MAX_JOBS).min(MAX_JOBS);
    let left_out = all.len().saturating_sub(most) as u64;
    let mut details = Details::new(MAX_DETAILS, MAX_DETAILS_OF_JOB, all.len());
    let mut views = Vec::new();
    for job in all.into_iter().take(most) {
        let moved = moved_in(&job);
        let JobPairs { pairs, changed, total } = job;
        let Some(first) = changed.first() else { continue };
        let (name, user) = (title(first), first.b.user.as_deref());
        let id = ids.job(&name.clone().into(), user.unwrap_or_default());
        let runs = details.runs(changed, |pair| ids.application(&pair.b.id), |_| true);
        views.push(JobView { all: pairs, moved, total, shown: jobs::Job { id, name, user, runs } });
    }
    (views, left_out)
}
