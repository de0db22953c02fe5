//! Jobs with their runs: those that waited longest for stragglers first.

use super::application::groups_shown;
use super::{Shown, words};
use crate::document::ids::PageIds;
use crate::words::plural;
use elephant_engine::survey::{ApplicationStragglers, Job, StragglerReport};

/// Runs with histograms and tasks.
const MAX_DETAILS: usize = 30;
/// Runs of one job with histograms and tasks, if there are several jobs.
const MAX_DETAILS_OF_JOB: usize = 2;
/// Jobs that are listed.
const MAX_JOBS: usize = 500;
/// Runs of a job that are listed.
const MAX_RUNS: usize = 100;

/// A job with its runs.
pub(super) struct JobView<'a> {
    /// The id of its section, the same in each report.
    pub(super) id: String,
    pub(super) job: Job<'a>,
    /// Its runs with stragglers, the one that waited longest first.
    pub(super) runs: Vec<Run<'a>>,
}

/// A run of a job.
pub(super) struct Run<'a> {
    /// The id of its details, the same in each report.
    pub(super) id: String,
    pub(super) app: &'a ApplicationStragglers,
    /// The ids of its groups that have histograms; empty without details.
    pub(super) groups: Vec<String>,
    /// Whether its histograms and tasks are shown.
    pub(super) is_detailed: bool,
}

/// The jobs that are shown.
pub(super) fn listed(report: &StragglerReport, shown: Shown) -> Vec<JobView<'_>> {
    let mut ids = PageIds::default();
    let all = report.jobs();
    let most = shown.applications.unwrap_or(MAX_JOBS).min(MAX_JOBS);
    let most_details = if all.len() == 1 { MAX_DETAILS } else { MAX_DETAILS_OF_JOB };
    let mut details_left = MAX_DETAILS;
    let mut jobs = Vec::new();
    for job in all.into_iter().take(most) {
        let mut runs = job.runs.clone();
        // The sort is stable: ties stay in the order of the report.
        runs.sort_by_key(|run| std::cmp::Reverse(run.delay));
        let details = most_details.min(details_left);
        details_left -= details.min(runs.len());
        let of_run = |(place, app): (usize, _)| Run::new(app, place < details, &mut ids);
        let runs: Vec<Run<'_>> = runs.into_iter().enumerate().map(of_run).collect();
        let id = job
            .runs
            .first()
            .map(|app| ids.job_of(app.origin.key(), app.name.as_deref(), app.user.as_deref(), &app.id));
        jobs.push(JobView { id: id.unwrap_or_default(), job, runs });
    }
    jobs
}

impl<'a> Run<'a> {
    fn new(app: &'a ApplicationStragglers, has_details: bool, ids: &mut PageIds) -> Self {
        let id = ids.application(&app.id);
        let groups = if has_details { groups_shown(app) } else { Vec::new() };
        let groups: Vec<String> = groups.into_iter().map(|group| ids.part(&id, &words::of(group))).collect();
        let is_detailed = !groups.is_empty();
        Self { id, app, groups, is_detailed }
    }
}

impl<'a> JobView<'a> {
    pub(super) fn name(&self) -> &'a str {
        self.job.runs.first().map_or("", |run| run.name.as_deref().unwrap_or(&run.id))
    }

    pub(super) fn user(&self) -> Option<&'a str> {
        self.job.runs.first()?.user.as_deref()
    }

    /// "30 runs, alice". The user is named because two users may have jobs with the same name.
    pub(super) fn runs_and_user(&self) -> String {
        let runs = (self.job.judged_runs > 1).then(|| plural(self.job.judged_runs, "run"));
        let user = self.user().map(str::to_owned);
        runs.into_iter().chain(user).collect::<Vec<_>>().join(", ")
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

    pub(super) fn details_left_out(&self) -> u64 {
        self.runs.iter().filter(|run| !run.is_detailed).count() as u64
    }
}
