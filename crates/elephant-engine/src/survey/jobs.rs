//! The runs of each job, for reports that show a job instead of every run.

use std::cmp::{Ordering, Reverse};

use rustc_hash::FxHashMap;

use super::{ApplicationStragglers, CauseCounts, Sort, StragglerReport};
use crate::results::JobGroup;
use elephant_base::units::Millis;

/// The runs of one job by one user.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    /// Its runs with stragglers, in the order of the report; not empty.
    pub runs: Vec<&'a ApplicationStragglers>,
    /// Its runs with judged tasks.
    pub judged_runs: u64,
    /// Stragglers of all runs.
    pub stragglers: u64,
    /// Judged tasks of all runs.
    pub judged: u64,
    /// How long all runs waited only for stragglers.
    pub delay: Millis,
}

impl<'a> Job<'a> {
    fn of(runs: Vec<&'a ApplicationStragglers>) -> Self {
        Self {
            judged_runs: runs.len() as u64,
            stragglers: runs.iter().map(|run| run.stragglers()).sum(),
            judged: runs.iter().map(|run| run.judged()).sum(),
            delay: runs.iter().map(|run| run.delay).sum(),
            runs: runs.into_iter().filter(|run| run.stragglers() > 0).collect(),
        }
    }

    /// The run that waited longest; if no run waited, the first in the report.
    #[must_use]
    pub fn longest(&self) -> Option<&ApplicationStragglers> {
        let mut longest: Option<&ApplicationStragglers> = None;
        for run in &self.runs {
            if longest.is_none_or(|longest| run.delay > longest.delay) {
                longest = Some(run);
            }
        }
        longest
    }

    /// The causes of the stragglers of all runs.
    #[must_use]
    pub fn causes(&self) -> CauseCounts {
        let mut causes = CauseCounts::default();
        self.runs.iter().for_each(|run| causes.merge(&run.causes));
        causes
    }

    fn name(&self) -> &str {
        self.runs.first().map_or("", |run| run.name.as_deref().unwrap_or(&run.id))
    }

    fn order(&self, other: &Self, by: Sort) -> Ordering {
        let lost = |job: &Self| job.runs.iter().map(|run| run.copies.lost).sum::<Millis>();
        let took = |job: &Self| job.runs.iter().filter_map(|run| run.run_time).sum::<Millis>();
        let first = match by {
            Sort::Saving => Ordering::Equal,
            Sort::Severity => other.stragglers.cmp(&self.stragglers),
            Sort::Waste => lost(other).cmp(&lost(self)),
            Sort::RunTime => took(other).cmp(&took(self)),
            Sort::Name => self.name().cmp(other.name()),
        };
        let worst = |job: &Self| (Reverse(job.delay), Reverse(job.stragglers));
        first.then_with(|| worst(self).cmp(&worst(other)))
    }
}

#[doc(hidden)]
impl StragglerReport {
    /// The jobs with stragglers, in the order of the report. Names in traces do not identify other runs, so
    /// each job of a trace has a single run.
    pub fn jobs(&self) -> Vec<Job<'_>> {
        let mut places: FxHashMap<JobGroup, usize> = FxHashMap::default();
        let mut all: Vec<Vec<&ApplicationStragglers>> = Vec::new();
        for app in self.applications.iter().filter(|app| app.judged() > 0) {
            let place = match app.origin.engine() {
                Some(engine) => {
                    let group = JobGroup::of_run(engine, app.name.as_deref(), app.user.as_deref(), &app.id);
                    *places.entry(group).or_insert(all.len())
                }
                None => all.len(),
            };
            match all.get_mut(place) {
                Some(runs) => runs.push(app),
                None => all.push(vec![app]),
            }
        }
        let mut jobs: Vec<Job<'_>> =
            all.into_iter().map(Job::of).filter(|job| !job.runs.is_empty()).collect();
        // The sort is stable: ties stay in the order of their first runs.
        jobs.sort_by(|one, other| one.order(other, self.order));
        jobs
    }
}
