//! Jobs with their runs: those that waited longest for stragglers first.

use super::super::{Shown, sentences, words};
use super::Page;
use super::application::ApplicationView;
use crate::document::ids::PageIds;
use crate::html::filters::{counted, cut_text};
use elephant_base::units::Millis;
use elephant_engine::survey::{ApplicationStragglers, Job, StragglerReport};

/// Runs with histograms and tasks.
const MAX_DETAILS: usize = 30;
/// Runs of one job with histograms and tasks, if there are several jobs.
const MAX_DETAILS_OF_JOB: usize = 2;
/// Jobs that are listed.
const MAX_JOBS: usize = 500;
/// Runs of a job that are listed.
const MAX_RUNS: usize = 100;

/// The jobs of a page.
pub(super) struct Listed<'a> {
    pub(super) jobs: Vec<JobView<'a>>,
    pub(super) left_out: u64,
}

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
    /// Tasks that are listed for each group.
    most_tasks: usize,
}

/// The jobs that are shown.
pub(super) fn listed(report: &StragglerReport, shown: Shown) -> Listed<'_> {
    let mut ids = PageIds::default();
    let all = report.jobs();
    let most = shown.applications.unwrap_or(MAX_JOBS).min(MAX_JOBS);
    let left_out = all.len().saturating_sub(most) as u64;
    let most_details = if all.len() == 1 { MAX_DETAILS } else { MAX_DETAILS_OF_JOB };
    let mut details_left = MAX_DETAILS;
    let most_tasks = shown.stragglers.unwrap_or(usize::MAX);
    let mut jobs = Vec::new();
    for job in all.into_iter().take(most) {
        let mut runs = job.runs.clone();
        // The sort is stable: ties stay in the order of the report.
        runs.sort_by_key(|run| std::cmp::Reverse(run.delay));
        let details = most_details.min(details_left);
        details_left -= details.min(runs.len());
        let of_run = |(place, app): (usize, _)| Run::new(app, most_tasks, place < details, &mut ids);
        let runs: Vec<Run<'_>> = runs.into_iter().enumerate().map(of_run).collect();
        let id = job
            .runs
            .first()
            .map(|app| ids.job_of(app.origin.key(), app.name.as_deref(), app.user.as_deref(), &app.id));
        jobs.push(JobView { id: id.unwrap_or_default(), job, runs });
    }
    Listed { jobs, left_out }
}

impl<'a> Run<'a> {
    fn new(app: &'a ApplicationStragglers, most_tasks: usize, has_details: bool, ids: &mut PageIds) -> Self {
        let id = ids.application(&app.id);
        let groups = if has_details { ApplicationView::shown(app) } else { Vec::new() };
        let groups = groups.into_iter().map(|group| ids.part(&id, &words::of(group))).collect();
        Self { id, app, groups, most_tasks }
    }

    pub(super) fn is_detailed(&self) -> bool {
        !self.groups.is_empty()
    }
}

impl<'a> JobView<'a> {
    pub(super) fn name(&self) -> &str {
        self.job.runs.first().map_or("", |run| run.name.as_deref().unwrap_or(&run.id))
    }

    pub(super) fn user(&self) -> Option<&str> {
        self.job.runs.first()?.user.as_deref()
    }

    /// "30 runs, alice". The user is named because two users may have jobs with the same name.
    pub(super) fn runs_and_user(&self) -> String {
        let runs = (self.job.judged_runs > 1).then(|| counted(self.job.judged_runs, "run"));
        let user = self.user().map(|user| cut_text(user, 80));
        runs.into_iter().chain(user).collect::<Vec<_>>().join(", ")
    }

    /// Which run waited longest, and for what.
    pub(super) fn told(&self) -> String {
        sentences::of_job(&self.job)
    }

    /// The runs that are listed; empty for a job with one run that has details.
    pub(super) fn rows(&self) -> &[Run<'a>] {
        match self.runs.as_slice() {
            [only] if only.is_detailed() => &[],
            runs => runs.get(..MAX_RUNS).unwrap_or(runs),
        }
    }

    pub(super) fn rows_left_out(&self) -> u64 {
        self.runs.len().saturating_sub(MAX_RUNS) as u64
    }

    pub(super) fn details(&self) -> impl Iterator<Item = &Run<'a>> {
        self.runs.iter().filter(|run| run.is_detailed())
    }

    pub(super) fn details_left_out(&self) -> u64 {
        self.runs.iter().filter(|run| !run.is_detailed()).count() as u64
    }
}

impl Page<'_> {
    pub(super) fn view<'v>(&'v self, run: &'v Run<'v>) -> ApplicationView<'v> {
        ApplicationView {
            app: run.app,
            ids: &run.groups,
            settings: &self.report.settings,
            palette: &self.palette,
            most_tasks: run.most_tasks,
        }
    }
}

/// What it waited for, or the most frequent cause.
pub(super) fn mainly(app: &ApplicationStragglers) -> String {
    sentences::mainly(app).unwrap_or_default()
}

/// A time as a sort key. It is empty if there is none, so that the script sorts it last.
pub(super) fn delay_key(delay: Millis) -> String {
    if delay > Millis::ZERO { delay.get().to_string() } else { String::new() }
}
