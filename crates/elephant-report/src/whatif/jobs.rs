//! Jobs with their runs, those first that a change shortens most.

use super::words::{Kind, best};
use crate::document::ids::PageIds;
use crate::words::plural;
use elephant_engine::whatif::{ApplicationReplays, ChangeTotal, Job, WhatIfReport};

/// Runs with all changes.
const MAX_DETAILS: usize = 50;
/// Runs of one job with all changes, if there are several jobs.
const MAX_DETAILS_OF_JOB: usize = 3;
/// Jobs that are listed.
const MAX_JOBS: usize = 500;
/// Runs of a job that are listed.
const MAX_RUNS: usize = 100;

/// A job with its runs.
pub(super) struct JobView<'a> {
    /// The id of its section, the same in each report.
    pub(super) id: String,
    pub(super) job: Job<'a>,
    /// The one that a change shortens most comes first.
    pub(super) runs: Vec<Run<'a>>,
}

/// A run of a job.
pub(super) struct Run<'a> {
    /// The id of its details, the same in each report.
    pub(super) id: String,
    pub(super) app: &'a ApplicationReplays,
    /// Whether all its changes are shown.
    pub(super) is_detailed: bool,
}

/// The jobs that are listed, in the order of the report.
pub(super) fn listed<'a>(report: &'a WhatIfReport, top: Option<usize>) -> Vec<JobView<'a>> {
    let mut ids = PageIds::default();
    let all = report.jobs();
    let most_details = if all.len() == 1 { MAX_DETAILS } else { MAX_DETAILS_OF_JOB };
    let mut details_left = MAX_DETAILS;
    let view = |job: Job<'a>| {
        let mut runs = job.runs.clone();
        // The sort is stable: ties stay in the order of the report.
        runs.sort_by(|one, other| most_saved(other).total_cmp(&most_saved(one)));
        let details = most_details.min(details_left);
        let of_run = |(place, app): (usize, &'a ApplicationReplays)| Run {
            id: ids.application(&app.id),
            app,
            is_detailed: place < details && app.replays.is_ok(),
        };
        let runs: Vec<Run<'a>> = runs.into_iter().enumerate().map(of_run).collect();
        details_left -= runs.iter().filter(|run| run.is_detailed).count();
        let first = job.runs.first();
        let id =
            first.map(|app| ids.job_of(app.engine.name(), app.name.as_deref(), app.user.as_deref(), &app.id));
        JobView { id: id.unwrap_or_default(), job, runs }
    };
    all.into_iter().take(top.unwrap_or(MAX_JOBS).min(MAX_JOBS)).map(view).collect()
}

impl<'a> JobView<'a> {
    /// "30 runs, alice". The user is named because two users may have jobs with the same name.
    pub(super) fn runs_and_user(&self) -> String {
        let runs = self.runs.len() as u64;
        let runs = (runs > 1).then(|| plural(runs, "run"));
        runs.into_iter().chain(self.user().map(str::to_owned)).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn user(&self) -> Option<&'a str> {
        self.runs.first()?.app.user.as_deref()
    }

    /// The change of this kind that saves most time over all runs.
    pub(super) fn best(&self, kind: Kind) -> Option<&ChangeTotal> {
        let of_kind = self.job.total.changes.iter().filter(|total| kind.holds(&total.change));
        // On a tie, the first: a single trouble comes before all troubles together.
        of_kind
            .filter(|total| total.net_ms() > 0.0)
            .reduce(|best, other| if other.net_ms() > best.net_ms() { other } else { best })
    }

    /// The runs that are listed; empty for a job with one run that has details.
    pub(super) fn rows(&self) -> &[Run<'a>] {
        match self.runs.as_slice() {
            [only] if only.is_detailed => &[],
            runs => runs.get(..MAX_RUNS).unwrap_or(runs),
        }
    }

    pub(super) fn rows_left_out(&self) -> u64 {
        self.runs.len().saturating_sub(MAX_RUNS) as u64
    }

    /// Replayed runs without details.
    pub(super) fn details_left_out(&self) -> u64 {
        self.runs.iter().filter(|run| run.app.replays.is_ok() && !run.is_detailed).count() as u64
    }
}

/// The time in milliseconds that the best change saves; −1 for a run that was not replayed, so that it comes last.
fn most_saved(app: &ApplicationReplays) -> f64 {
    let saved = |replays| best(replays, Kind::Any).map_or(0.0, |(_, best)| best.saves.wall_ms.point);
    app.replays.as_ref().map_or(-1.0, saved)
}
