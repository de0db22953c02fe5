//! Jobs with their runs, those first that a change shortens most.

use super::words::{Kind, best};
use crate::document::ids::PageIds;
use crate::document::jobs::{self, Details, MAX_JOBS};
use elephant_engine::whatif::{ApplicationReplays, ChangeTotal, Job, WhatIfReport};

/// Runs with all changes.
const MAX_DETAILS: usize = 50;
/// Runs of one job with all changes, if there are several jobs.
const MAX_DETAILS_OF_JOB: usize = 3;

/// A run of a job.
pub(super) type Run<'a> = jobs::Run<&'a ApplicationReplays>;

/// A job, and how it is shown.
pub(super) struct JobView<'a> {
    pub(super) job: Job<'a>,
    /// The run that a change shortens most comes first.
    pub(super) shown: jobs::Job<'a, &'a ApplicationReplays>,
}

/// The jobs that are listed, in the order of the report.
pub(super) fn listed(report: &WhatIfReport, top: Option<usize>) -> Vec<JobView<'_>> {
    let mut ids = PageIds::default();
    let all = report.jobs();
    let mut details = Details::new(MAX_DETAILS, MAX_DETAILS_OF_JOB, all.len());
    let mut views = Vec::new();
    for job in all.into_iter().take(top.unwrap_or(MAX_JOBS).min(MAX_JOBS)) {
        let mut runs = job.runs.clone();
        // The sort is stable: ties stay in the order of the report.
        runs.sort_by(|one, other| most_saved(other).total_cmp(&most_saved(one)));
        let user = runs.first().and_then(|app| app.user.as_deref());
        let runs = details.runs(runs, |app| ids.application(&app.id), |app| app.replays.is_ok());
        let id =
            job.runs.first().map(|app| ids.job_of(app.engine.name(), app.name.as_deref(), user, &app.id));
        let shown = jobs::Job { id: id.unwrap_or_default(), name: job.name().to_owned(), user, runs };
        views.push(JobView { job, shown });
    }
    views
}

impl JobView<'_> {
    /// The change of this kind that saves most time over all runs.
    pub(super) fn best(&self, kind: Kind) -> Option<&ChangeTotal> {
        let of_kind = self.job.total.changes.iter().filter(|total| kind.holds(&total.change));
        // On a tie, the first: a single trouble comes before all troubles together.
        of_kind
            .filter(|total| total.net_ms() > 0.0)
            .reduce(|best, other| if other.net_ms() > best.net_ms() { other } else { best })
    }
}

/// The time in milliseconds that the best change saves; −1 for a run that was not replayed, so that it comes last.
fn most_saved(app: &ApplicationReplays) -> f64 {
    let saved = |replays| best(replays, Kind::Any).map_or(0.0, |(_, best)| best.saves.wall_ms.point);
    app.replays.as_ref().map_or(-1.0, saved)
}
