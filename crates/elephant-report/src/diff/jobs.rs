//! Jobs with their pairs: those that changed most first.

use super::words::moved_in;
use crate::document::ids::PageIds;
use crate::words::plural;
use elephant_engine::diff::{Diff, JobPairs, Pair, Total};

/// Pairs that are shown with all tables.
const MAX_DETAILS: usize = 20;
/// Pairs of one job with all tables, if there are several jobs.
const MAX_DETAILS_OF_JOB: usize = 2;
/// Jobs that are listed.
const MAX_JOBS: usize = 500;
/// Pairs of a job that are listed.
const MAX_PAIRS: usize = 100;

/// The jobs of a page.
pub(super) struct Listed<'a> {
    pub(super) jobs: Vec<JobView<'a>>,
    pub(super) left_out: u64,
}

/// A job that changed.
pub(super) struct JobView<'a> {
    /// The id of its section, the same in each report.
    pub(super) id: String,
    pub(super) title: String,
    pub(super) user: Option<&'a str>,
    /// All its pairs.
    pub(super) all: Vec<&'a Pair>,
    /// The rules whose findings changed.
    pub(super) moved: String,
    pub(super) total: Total,
    /// The pairs that changed, the one that changed most first.
    pub(super) changed: Vec<PairView<'a>>,
}

/// A pair that changed.
pub(super) struct PairView<'a> {
    /// The id of its details: that of its second application.
    pub(super) id: String,
    pub(super) pair: &'a Pair,
    /// Whether all its tables are shown.
    pub(super) is_detailed: bool,
}

/// The jobs that are shown.
pub(super) fn listed<'a>(diff: &'a Diff, top: Option<usize>) -> Listed<'a> {
    let mut all = diff.jobs();
    if let ([], [pair]) = (all.as_slice(), diff.pairs.as_slice()) {
        all.push(JobPairs { pairs: vec![pair], changed: vec![pair], total: Total::of([pair]) });
    }
    let mut ids = PageIds::default();
    let most = top.unwrap_or(MAX_JOBS).min(MAX_JOBS);
    let left_out = all.len().saturating_sub(most) as u64;
    let most_details = if all.len() == 1 { MAX_DETAILS } else { MAX_DETAILS_OF_JOB };
    let mut details_left = MAX_DETAILS;
    let mut jobs = Vec::new();
    for job in all.into_iter().take(most) {
        let moved = moved_in(&job);
        let JobPairs { pairs, changed, total } = job;
        let details = most_details.min(details_left);
        details_left -= details.min(changed.len());
        let Some(first) = changed.first() else { continue };
        let (title, user) = (super::words::title(first), first.b.user.as_deref());
        let id = ids.job(&title.clone().into(), user.unwrap_or_default());
        let view = |(place, pair): (usize, &'a Pair)| PairView {
            id: ids.application(&pair.b.id),
            pair,
            is_detailed: place < details,
        };
        let changed = changed.into_iter().enumerate().map(view).collect();
        jobs.push(JobView { id, title, user, all: pairs, moved, total, changed });
    }
    Listed { jobs, left_out }
}

impl<'a> JobView<'a> {
    /// "30 pairs, 2 changed, alice". The user is named because two users may have jobs with the same name.
    pub(super) fn pairs_and_user(&self) -> String {
        let (all, changed) = (self.all.len(), self.changed.len());
        let pairs = (all > 1).then(|| plural(all as u64, "pair"));
        let some = (changed < all).then(|| format!("{changed} changed"));
        let user = self.user.map(str::to_owned);
        [pairs, some, user].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// The pairs that are listed; empty for a job with one pair that has details.
    pub(super) fn rows(&self) -> &[PairView<'a>] {
        match self.changed.as_slice() {
            [only] if only.is_detailed => &[],
            changed => changed.get(..MAX_PAIRS).unwrap_or(changed),
        }
    }

    pub(super) fn rows_left_out(&self) -> u64 {
        self.changed.len().saturating_sub(MAX_PAIRS) as u64
    }

    pub(super) fn details_left_out(&self) -> u64 {
        self.changed.iter().filter(|view| !view.is_detailed).count() as u64
    }
}
