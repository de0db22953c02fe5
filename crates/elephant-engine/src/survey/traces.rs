//! The jobs of cluster traces. There may be a hundred thousand of them, so each is judged and added to the totals as soon
//! as it is complete, and only those that waited longest for stragglers are kept.

use std::collections::{BTreeMap, BTreeSet};

use super::Settings;
use super::application::{ApplicationStragglers, first_start};
use super::evaluated::catalogue;
use super::origin::Origin;
use super::sums::Sums;
use crate::conditions::Facts;
use crate::engine::Before;
use elephant_analysis::node_metrics::NodeMetrics;
use elephant_model::model::Interner;
use elephant_model::model::table::{TaskGroup, TaskKind};
use elephant_trace::Job;

/// Jobs that are kept, unless `--top` asks for another number.
const LISTED: usize = 1000;
/// Stragglers of all jobs that are kept; further jobs are only counted.
const MOST_STRAGGLERS: u64 = 100_000;

/// Every job is replayed until this many attempts have been read; after that, a sample of the jobs is
/// enough.
const REPLAYED: u64 = 50_000;
/// One in this many further jobs is replayed: replaying a whole trace takes more than ten times as long as
/// all other work.
const SAMPLED: u64 = 64;

/// Whether detectors are replayed on a job.
pub(super) const fn is_replayed(before: Before) -> bool {
    before.attempts < REPLAYED || before.jobs.is_multiple_of(SAMPLED)
}

impl ApplicationStragglers {
    /// Surveys a job of a trace. Its detectors are rated at once: without inputs, no other run of it is known to have had
    /// the same work.
    pub(super) fn of_job(
        job: &Job,
        machines: &Interner,
        settings: &Settings,
        metrics: Option<&NodeMetrics>,
    ) -> Self {
        let sources = [job.source.to_string()];
        let kinds = job.groups.iter().enumerate().map(|(place, group)| (Job::kind(place), group));
        let labels: BTreeMap<TaskKind, &str> =
            kinds.map(|(kind, group)| (kind, group.label.as_str())).collect();
        let admits = |group: &TaskGroup| {
            let name = labels.get(&group.kind).copied();
            let (tasks, job_names) = (group.tasks.len() as u64, job.job_names);
            let facts = Facts { job_type: None, kind: None, name, tasks, job_names };
            settings.conditions.admit_group(&facts) && settings.conditions.admit_start(first_start(group))
        };
        let app = job.application(machines);
        let mut app = Self::of_groups(&app, &sources, (settings, metrics), admits);
        app.origin = Origin::Trace(job.format);
        let label = |kind: &TaskKind| labels.get(kind).map(|label| (*label).to_owned());
        if let Some(waited_for) = &mut app.waited_for {
            waited_for.label = label(&waited_for.group);
        }
        if settings.replay {
            app.detectors = catalogue(settings);
        }
        for group in &mut app.groups {
            group.label = label(&group.kind);
            group.evaluation = group.judge(&[], &BTreeSet::new(), settings, &mut app.detectors);
            group.forget_tasks();
        }
        app
    }
}

/// The jobs that waited longest for stragglers.
pub(super) struct Longest {
    jobs: Vec<ApplicationStragglers>,
    most: usize,
    /// Jobs that were not kept.
    left_out: u64,
}

impl Longest {
    /// Keeps at most `most` jobs, if that is given.
    pub(super) fn new(most: Option<usize>) -> Self {
        Self { jobs: Vec::new(), most: most.unwrap_or(LISTED), left_out: 0 }
    }

    /// Adds a job to the totals, and keeps it if it is one of those that waited longest.
    pub(super) fn add(&mut self, job: ApplicationStragglers, sums: &mut Sums) {
        sums.add(&job);
        // The list is pruned only when it has twice as many jobs as are kept.
        if self.jobs.len() >= self.most.saturating_mul(2).max(1) {
            self.prune();
        }
        self.jobs.push(job);
    }

    fn prune(&mut self) {
        let all = self.jobs.len();
        self.jobs.sort_by(ApplicationStragglers::worst_first);
        let mut stragglers = 0;
        let mut fits = |(place, job): (usize, &ApplicationStragglers)| {
            stragglers += job.stragglers();
            place < self.most && (place == 0 || stragglers <= MOST_STRAGGLERS)
        };
        let kept = self.jobs.iter().enumerate().take_while(|entry| fits(*entry)).count();
        self.jobs.truncate(kept);
        self.left_out += (all - kept) as u64;
    }

    /// The kept jobs, and how many others there are.
    pub(super) fn finish(mut self) -> (Vec<ApplicationStragglers>, u64) {
        self.prune();
        (self.jobs, self.left_out)
    }
}
