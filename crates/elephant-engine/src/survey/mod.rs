//! Survey of the stragglers of a set of applications: which tasks, why, their cost, and how well detectors
//! would have found them.
//!
//! The definitions are from three papers, cited as
//!
//! - S0: T.-D. Phan, G. Pallez, S. Ibrahim, P. Raghavan, "A New Framework for Evaluating Straggler Detection Mechanisms
//!   in `MapReduce`", 2019,
//! - S1: X. Ouyang, P. Garraghan, C. Wang et al., "An Approach for Modeling and Ranking Node-level Stragglers in Cloud
//!   Datacenters", 2016,
//! - S2: P. Garraghan, X. Ouyang, R. Yang et al., "Straggler Root-Cause and Impact Analysis for Massive-scale
//!   Virtualized Cloud Datacenters", 2019.

mod application;
mod days;
mod evaluated;
mod group;
mod histogram;
mod impact;
mod jobs;
mod learnt;
mod origin;
mod parts;
mod run_times;
mod settings;
mod sums;
mod traces;
mod waiting;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rayon::prelude::*;

pub use application::{ApplicationStragglers, WaitedFor};
pub use days::{CauseCorrelation, StragglerDay};
pub use elephant_analysis::stragglers::cause::components::Component;
pub use elephant_analysis::stragglers::cause::evidence::{Evidence, Fact};
pub use elephant_analysis::stragglers::cause::faults::FaultKind;
pub use elephant_analysis::stragglers::cause::node_test::{NodeTasks, SlowNode};
pub use elephant_analysis::stragglers::cause::{
    Cause, CauseCount, CauseCounts, Confidence, Params as CauseParams, StragglerCause,
};
pub use elephant_analysis::stragglers::detect::options::{DetectorOptions, EngineSetting};
pub use elephant_analysis::stragglers::detect::pool::Pool;
pub use elephant_analysis::stragglers::detect::{Parameter, Value};
pub use elephant_analysis::stragglers::evaluation::pool::{Means, Pooled};
pub use elephant_analysis::stragglers::evaluation::{Best, Evaluated, Ranked};
pub use elephant_analysis::stragglers::executions::{Basis, Certainty, InputUnit};
pub use elephant_analysis::stragglers::impact::{
    DelayDistribution, DelayStep, Impact, JobImpact, Quantiles, ServerDistribution, ServerStep, ServerTasks,
    Speculation,
};
pub use elephant_analysis::stragglers::labels::Limit;
pub use elephant_analysis::stragglers::progress::ProgressSource;
pub use elephant_analysis::stragglers::quality::Quality;
pub use elephant_analysis::stragglers::replay::Sources;
pub use elephant_analysis::stragglers::speculation::Copies;
pub use elephant_analysis::stragglers::usual::{UsualRule, UsualSource};
pub use elephant_input::trace_table::TraceFormat;
pub use evaluated::{Evaluation, SWEPT};
pub use group::{GroupReport, Straggler};
pub use histogram::Histogram;
pub use jobs::Job;
pub use learnt::{Learnt, LearntError};
pub use origin::Origin;
pub use parts::{options_of_part, part_of, report_of_parts};
pub use run_times::RunTimes;
pub use settings::{Method, Settings};
pub use waiting::Waiting;

use crate::engine::{Filter, Progress, Visit, Visited, visit_beside_traces, visit_traces};
use crate::results::{Sort, SourceProblem, Summary};
use application::JobKey;
use elephant_analysis::node_metrics::NodeMetrics;
use elephant_base::limits::Limits;
use elephant_input::named::Named;
use elephant_model::model::table::TaskKind;
use evaluated::catalogue;
use sums::Sums;
use traces::{Longest, is_replayed};

/// This many other runs are enough to know a task's usual time; there may be thousands.
const MAX_RUNS: usize = 30;

/// Everything that a straggler report shows.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StragglerReport {
    /// The settings of the survey.
    pub settings: Settings,
    /// Counts of files and applications.
    pub files: Summary,
    /// The applications, longest wait for stragglers first. Jobs of traces are listed only if they waited
    /// longest.
    pub applications: Vec<ApplicationStragglers>,
    /// Jobs of traces that are counted but not listed.
    pub unlisted: u64,
    /// Totals over all applications.
    pub total: Total,
    /// The order of the applications and jobs.
    pub(crate) order: Sort,
    /// Problems, by source.
    pub problems: Vec<SourceProblem>,
    /// Whether an input named by the user could not be read.
    pub named_input_failed: bool,
}

/// Totals over all applications.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Total {
    /// The applications.
    pub applications: u64,
    /// Those that have stragglers.
    pub applications_hit: u64,
    /// Judged tasks.
    pub tasks: u64,
    /// Stragglers among them.
    pub stragglers: u64,
    /// Tasks of the same groups that never succeeded, or whose launch or end is not logged: they are not judged.
    pub unfinished: u64,
    /// Tasks of groups with too few tasks to have stragglers, which are not judged either.
    pub in_small_groups: u64,
    /// Stragglers with node metrics for their node and time.
    pub with_node_metrics: u64,
    /// The statistics of S2's table 2 by the median.
    pub by_median: Impact,
    /// The statistics of S2's table 2 by the mean.
    pub by_mean: Impact,
    /// Time of losing copies over the time of all attempts (S2 section 4).
    pub speculation_waste: Option<f64>,
    /// Correlation, over applications, between the share of copies that won and the heaviness of the tail (S0
    /// §3).
    pub tail_correlation: Option<f64>,
    /// The causes.
    pub causes: CauseCounts,
    /// Waiting for stragglers by cause, the longest first.
    pub waiting: Vec<Waiting>,
    /// The number of applications that waited.
    pub applications_waiting: u64,
    /// The days of submission.
    pub days: Vec<StragglerDay>,
    /// How the causes of extreme stragglers correlate over the days.
    pub correlations: Vec<CauseCorrelation>,
    /// The detectors by engine, because speculation differs between engines.
    pub engines: Vec<EngineDetectors>,
    /// Replayed groups whose usual progress is from earlier runs.
    pub with_models: u64,
    /// Replayed tasks whose label is unknown.
    pub undetermined: u64,
    /// Progress curves by source.
    pub sources: Vec<(ProgressSource, u64)>,
    /// Groups by the source of their usual times.
    pub usual_sources: Vec<(UsualSource, u64)>,
}

/// Results of the detectors over the applications of one engine.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EngineDetectors {
    /// The engine, or the trace.
    pub origin: Origin,
    /// Groups that were replayed.
    pub groups: u64,
    /// All groups: of a large trace, a sample is replayed.
    pub all_groups: u64,
    /// Groups in which most progress curves are straight lines to a known end. There, detectors that use
    /// progress know the future and look better than they are.
    pub optimistic_groups: u64,
    /// Replayed groups whose usual progress is from earlier runs.
    pub with_models: u64,
    /// The detectors, the cluster's own first.
    pub detectors: Vec<Pooled>,
    /// Ranking of the detectors, best first.
    pub ranking: Vec<Ranked>,
    /// The detector that would have performed best.
    pub best: Best,
    /// The best detector among those that the engine ships; `None` for traces.
    pub best_offered: Option<Best>,
    /// The settings that make the engine work like that detector.
    pub settings: Vec<EngineSetting>,
    /// The run times of applications with these settings; `None` if no task would have been copied.
    pub run_times: Option<RunTimes>,
}

#[doc(hidden)]
impl EngineDetectors {
    /// The largest number of stragglers that a detector was rated on.
    #[must_use]
    pub fn stragglers(&self) -> u64 {
        self.detectors.iter().map(|pooled| pooled.total.quality.stragglers).max().unwrap_or_default()
    }

    /// How many tasks all detectors flagged together.
    #[must_use]
    pub fn flagged(&self) -> u64 {
        self.detectors.iter().map(|pooled| pooled.total.quality.detected).sum()
    }
}

/// Surveys all applications below `paths`.
#[must_use]
pub fn report(paths: &[PathBuf], settings: &Settings, metrics: Option<&NodeMetrics>) -> StragglerReport {
    report_with(paths, settings, metrics, &Filter::default(), &Limits::default(), &Progress::default())
}

/// Like [`report`], for applications that `filter` selects, with `limits` for each file, reporting to
/// `progress`.
#[must_use]
pub fn report_with(
    paths: &[PathBuf],
    settings: &Settings,
    metrics: Option<&NodeMetrics>,
    filter: &Filter,
    limits: &Limits,
    progress: &Progress,
) -> StragglerReport {
    report_of(paths.into(), settings, metrics, filter, limits, progress)
}

/// Surveys all inputs that the user named.
#[must_use]
pub fn report_of(
    named: Named<'_>,
    settings: &Settings,
    metrics: Option<&NodeMetrics>,
    filter: &Filter,
    limits: &Limits,
    progress: &Progress,
) -> StragglerReport {
    let (visited, traces) =
        visit_beside_traces(named, settings.trace, (filter, limits), progress, |app, sources| {
            ApplicationStragglers::of(app, sources, settings, metrics)
        });
    let Visited { summary, applications, problems, named_input_failed, .. } = visited;
    let (mut applications, mut sums) = evaluated(applications, settings);
    // Names of jobs and groups in traces do not identify other runs.
    let of_traces = Settings { models: None, learn: false, ..settings.clone() };
    let without_replay = Settings { replay: false, ..of_traces.clone() };
    let mut longest = Longest::new(settings.most_jobs);
    let read = visit_traces(
        &traces,
        (filter, limits),
        progress,
        |job, machines, before| {
            let settings = if is_replayed(before) { &of_traces } else { &without_replay };
            ApplicationStragglers::of_job(job, machines, settings, metrics)
        },
        |job| longest.add(job, &mut sums),
    );
    let mut files = summary;
    read.count_in(&mut files);
    let (jobs, unlisted) = longest.finish();
    applications.extend(jobs);
    applications.sort_by(ApplicationStragglers::worst_first);
    StragglerReport {
        settings: settings.clone(),
        files,
        applications,
        unlisted,
        total: sums.finish(settings),
        order: Sort::Saving,
        problems: problems.into_iter().chain(read.problems).collect(),
        named_input_failed: named_input_failed || read.named_input_failed,
    }
}

#[doc(hidden)]
impl StragglerReport {
    /// Orders the applications.
    pub fn sort(&mut self, by: Sort) {
        self.order = by;
        self.applications.sort_by(|a, b| ApplicationStragglers::order(a, b, by));
    }

    /// Adds the runs of the surveyed groups to `learnt`; there are none unless [`Settings::learn`] was set.
    pub fn teach(&mut self, learnt: &mut Learnt) {
        let groups = self.applications.iter_mut().flat_map(|app| &mut app.groups);
        groups.filter_map(|group| group.learnt.take()).for_each(|run| learnt.add(run));
    }
}

/// The applications with the ratings of the detectors, and their sums.
fn evaluated(
    applications: Vec<Visit<ApplicationStragglers>>,
    settings: &Settings,
) -> (Vec<ApplicationStragglers>, Sums) {
    let mut applications: Vec<ApplicationStragglers> =
        applications.into_iter().map(|visit| visit.value).collect();
    evaluate(&mut applications, settings);
    let mut sums = Sums::default();
    for app in &applications {
        sums.add(app);
    }
    (applications, sums)
}

/// Rates the detectors in every application. Usual times are best known from other runs of the same job, so
/// all applications must have been read before.
fn evaluate(applications: &mut [ApplicationStragglers], settings: &Settings) {
    if !settings.replay {
        return;
    }
    let mut jobs: BTreeMap<JobKey, u32> = BTreeMap::new();
    let job_of: Vec<u32> = applications
        .iter()
        .map(|app| {
            let next = u32::try_from(jobs.len()).unwrap_or(u32::MAX);
            *jobs.entry(app.job_key()).or_insert(next)
        })
        .collect();
    let mut runs: BTreeMap<(u32, TaskKind), Vec<(usize, usize)>> = BTreeMap::new();
    for (place, (app, &job)) in applications.iter().zip(&job_of).enumerate() {
        for (group, report) in app.groups.iter().enumerate() {
            runs.entry((job, report.kind)).or_default().push((place, group));
        }
    }
    let seen: &[ApplicationStragglers] = applications;
    let ids: BTreeSet<&str> = seen.iter().map(|app| app.id.as_str()).collect();
    let judged: Vec<Judged> = seen
        .par_iter()
        .zip(&job_of)
        .enumerate()
        .map(|(place, (app, &job))| {
            let mut detectors = catalogue(settings);
            let judge = |(group, report): (usize, &GroupReport)| {
                let others = runs.get(&(job, report.kind)).into_iter().flatten();
                let others: Vec<&GroupReport> = others
                    .filter(|&&run| run != (place, group))
                    .filter_map(|&(place, group)| seen.get(place)?.groups.get(group))
                    .filter(|other| other.is_run_of(report, settings))
                    .take(MAX_RUNS)
                    .collect();
                report.judge(&others, &ids, settings, &mut detectors)
            };
            let evaluations = app.groups.iter().enumerate().map(judge).collect();
            (detectors, evaluations)
        })
        .collect();
    for (app, (detectors, evaluations)) in applications.iter_mut().zip(judged) {
        app.detectors = detectors;
        for (group, evaluation) in app.groups.iter_mut().zip(evaluations) {
            group.evaluation = evaluation;
        }
    }
}

/// The detectors over one application, and the replay results of each group.
type Judged = (Vec<Evaluated>, Vec<Option<Evaluation>>);
