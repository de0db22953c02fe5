//! Reads cluster traces and passes their jobs to a function, in an order that depends only on the files.

use std::collections::BTreeSet;
use std::path::Path;

use rayon::prelude::*;

use super::visit::error_problem;
use super::{Filter, Progress, progress};
use crate::results::{SourceProblem, Summary};
use elephant_base::limits::Limits;
use elephant_input::inventory::Source;
use elephant_model::model::Interner;
use elephant_trace::{Group, Job, Receiver};

/// Attempts of jobs that are looked at in parallel. These jobs are in memory at the same time.
const BATCH: usize = 1 << 15;

/// What traces added to a run.
#[derive(Debug, Default)]
pub(crate) struct TracesRead {
    files: u64,
    files_failed: u64,
    jobs: u64,
    left_out: u64,
    pub(crate) problems: Vec<SourceProblem>,
    pub(crate) named_input_failed: bool,
}

impl TracesRead {
    /// Adds the counts to those of the histories, where the files of traces count as skipped.
    pub(crate) fn count_in(&self, summary: &mut Summary) {
        summary.applications += self.jobs;
        summary.left_out += self.left_out;
        summary.files_analysed += self.files;
        summary.files_failed += self.files_failed;
        summary.files_skipped = summary.files_skipped.saturating_sub(self.files + self.files_failed);
    }
}

/// Reads `traces`, passes each job that `filter` selects to `look`, in parallel, and the results to `fold`, in order.
pub(crate) fn visit_traces<T: Send>(
    traces: &[Source],
    (filter, limits): (&Filter, &Limits),
    progress: &Progress,
    look: impl Fn(&Job, &Interner, Before) -> T + Sync,
    fold: impl FnMut(T),
) -> TracesRead {
    let before = Before::default();
    let mut batches = Batches { filter, look, fold, batch: Vec::new(), waiting: 0, before, left_out: 0 };
    let read = |place: usize| progress.read(traces.get(place).map(progress::stored).unwrap_or_default());
    let outcomes = elephant_trace::read(traces, limits, &mut batches, read);
    let (jobs, left_out) = (batches.before.jobs, batches.left_out);
    let mut result = TracesRead { jobs, left_out, ..TracesRead::default() };
    let (mut analysed, mut failed) = (BTreeSet::<&Path>::new(), BTreeSet::<&Path>::new());
    for outcome in outcomes {
        let Some(source) = traces.get(outcome.place) else { continue };
        let name = source.path.to_string();
        if let Some(error) = outcome.error {
            failed.extend(source.files());
            result.named_input_failed |= source.named_by_user;
            result.problems.push(error_problem(name.clone(), error.code(), error.to_string()));
        } else {
            analysed.extend(source.files());
        }
        let keep = |problem| SourceProblem { source: name.clone(), problem };
        result.problems.extend(outcome.problems.into_vec().into_iter().map(keep));
    }
    result.files = analysed.len() as u64;
    result.files_failed = failed.difference(&analysed).count() as u64;
    result
}

/// What was read before a job. It does not depend on the number of threads.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Before {
    /// Jobs.
    pub(crate) jobs: u64,
    /// Attempts of their tasks.
    pub(crate) attempts: u64,
}

/// Jobs that wait until there are enough of them.
struct Batches<'a, L, F> {
    filter: &'a Filter,
    look: L,
    fold: F,
    batch: Vec<(Job, Before)>,
    /// Attempts of the jobs in the batch.
    waiting: usize,
    before: Before,
    left_out: u64,
}

impl<T: Send, L: Fn(&Job, &Interner, Before) -> T + Sync, F: FnMut(T)> Receiver for Batches<'_, L, F> {
    fn receive(&mut self, job: Job, machines: &Interner) {
        // A job of a trace has no engine.
        let is_selected = self.filter.is_everything()
            || (self.filter.engine.is_none() && self.filter.selects(&job.outline()));
        if !is_selected {
            self.left_out += 1;
            return;
        }
        let attempts = job.groups.iter().map(|group: &Group| group.attempts.len()).sum::<usize>();
        self.batch.push((job, self.before));
        self.before.jobs += 1;
        self.before.attempts += attempts as u64;
        self.waiting += attempts;
        if self.waiting >= BATCH {
            self.end(machines);
        }
    }

    fn end(&mut self, machines: &Interner) {
        let look = &self.look;
        let results: Vec<T> =
            self.batch.par_iter().map(|(job, before)| look(job, machines, *before)).collect();
        results.into_iter().for_each(&mut self.fold);
        self.batch.clear();
        self.waiting = 0;
    }
}
