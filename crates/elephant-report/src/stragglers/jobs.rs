//! Jobs with their runs: those that waited longest for stragglers first.

use super::Shown;
use super::application::groups_shown;
use crate::document::ids::PageIds;
use crate::document::jobs::{self, Details, MAX_JOBS};
use elephant_engine::survey::{ApplicationStragglers, Job, StragglerReport};

/// Runs with histograms and tasks.
const MAX_DETAILS: usize = 30;
/// Runs of one job with histograms and tasks, if there are several jobs.
const MAX_DETAILS_OF_JOB: usize = 2;

/// A job, and how it is shown.
pub(super) struct JobView<'a> {
    pub(super) job: Job<'a>,
    /// Its runs with stragglers, the one that waited longest first.
    pub(super) shown: jobs::Job<'a, &'a ApplicationStragglers>,
}

/// The jobs that are shown.
pub(super) fn listed(report: &StragglerReport, shown: Shown) -> Vec<JobView<'_>> {
    let mut ids = PageIds::default();
    let all = report.jobs();
    let mut details = Details::new(MAX_DETAILS, MAX_DETAILS_OF_JOB, all.len());
    let mut views = Vec::new();
    for job in all.into_iter().take(shown.applications.unwrap_or(MAX_JOBS).min(MAX_JOBS)) {
        let mut runs = job.runs.clone();
        // The sort is stable: ties stay in the order of the report.
        runs.sort_by_key(|run| std::cmp::Reverse(run.delay));
        let runs = details.runs(runs, |app| ids.application(&app.id), |app| !groups_shown(app).is_empty());
        let Some(first) = job.runs.first() else { continue };
        let (name, user) = (first.name.as_deref(), first.user.as_deref());
        let id = ids.job_of(first.origin.key(), name, user, &first.id);
        let name = name.unwrap_or(&first.id).to_owned();
        views.push(JobView { job, shown: jobs::Job { id, name, user, runs } });
    }
    views
}
