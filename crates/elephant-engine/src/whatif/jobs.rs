//! The runs of each job, for reports that show a job instead of every run.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

use super::application::ApplicationReplays;
use super::total::Total;
use super::{Change, Sort, WhatIfReport};
use crate::results::JobGroup;

/// The runs of one job by one user.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    /// In the order of the report; not empty.
    pub runs: Vec<&'a ApplicationReplays>,
    /// The effect of the changes on all runs: of those changes that were replayed for all applications or, if none of
    /// these saves time, of all changes.
    pub total: Total,
}

impl Job<'_> {
    /// Its name, or its id without one: of the run that comes first in the report.
    #[must_use]
    pub fn name(&self) -> &str {
        self.runs.first().map_or("", |run| run.name.as_deref().unwrap_or(&run.id))
    }

    /// The order of the jobs. Those of which no run was replayed come last.
    fn order(&self, other: &Self, by: Sort) -> Ordering {
        let saved = |job: &Self| job.total.best().map_or(0.0, super::ChangeTotal::net_ms);
        let memory = |job: &Self| {
            let hours = job.total.changes.iter().filter_map(|total| total.gb_hours);
            hours.map(|hours| hours.point).fold(0.0, f64::max)
        };
        let greatest = |of: &dyn Fn(&Self) -> f64| of(other).total_cmp(&of(self));
        let first = match by {
            Sort::Name => self.name().cmp(other.name()),
            Sort::RunTime => other.total.recorded.cmp(&self.total.recorded),
            Sort::Waste => greatest(&memory),
            Sort::Saving | Sort::Severity => Ordering::Equal,
        };
        // Other resources shorten almost every job, but cost something. So jobs that a trouble slows down come first.
        let rank = |job: &Self| match job.total.best() {
            Some(best) if !best.change.without.is_empty() => 0,
            Some(_) => 1,
            None => 2,
        };
        first
            .then_with(|| rank(self).cmp(&rank(other)))
            .then_with(|| greatest(&saved))
            .then_with(|| (self.total.replayed == 0).cmp(&(other.total.replayed == 0)))
    }
}

/// All changes that were replayed for these runs. Some, such as twice as many executors, depend on the application.
fn own_changes(runs: &[&ApplicationReplays]) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for scenario in runs.iter().filter_map(|run| run.replays.as_ref().ok()).flat_map(|it| &it.scenarios) {
        if !changes.contains(&scenario.change) {
            changes.push(scenario.change.clone());
        }
    }
    changes
}

#[doc(hidden)]
impl WhatIfReport {
    /// The jobs in the order of the report.
    #[must_use]
    pub fn jobs(&self) -> Vec<Job<'_>> {
        let mut places: FxHashMap<JobGroup, usize> = FxHashMap::default();
        let mut runs: Vec<Vec<&ApplicationReplays>> = Vec::new();
        for app in &self.applications {
            let place = *places.entry(app.group()).or_insert(runs.len());
            match runs.get_mut(place) {
                Some(job) => job.push(app),
                None => runs.push(vec![app]),
            }
        }
        let changes: Vec<_> = self.total.changes.iter().map(|total| total.change.clone()).collect();
        let total = |runs: &[&ApplicationReplays]| {
            let of_all = Total::of(runs.iter().copied(), &changes);
            if of_all.best().is_some() { of_all } else { Total::of(runs.iter().copied(), &own_changes(runs)) }
        };
        let mut jobs: Vec<Job<'_>> = runs.into_iter().map(|runs| Job { total: total(&runs), runs }).collect();
        // The sort is stable: ties stay in the order of their first runs.
        jobs.sort_by(|one, other| one.order(other, self.order));
        jobs
    }
}
