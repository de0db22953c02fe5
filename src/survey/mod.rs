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
//!
//! ```
//! use elephant_rs::survey::{Settings, report};
//!
//! let survey = report(&["testdata/heuristics/straggler-impact".into()], &Settings::default(), None);
//! let groups = survey.applications.iter().flat_map(|app| &app.groups);
//! assert!(groups.map(|group| group.stragglers.len()).sum::<usize>() > 0);
//! ```

mod application;
mod days;
mod evaluated;
mod group;
mod histogram;
mod learnt;
mod settings;
mod waiting;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rayon::prelude::*;

pub use crate::stragglers::cause::Params as CauseParams;
pub use crate::stragglers::cause::components::Component;
pub use crate::stragglers::cause::evidence::{Evidence, Fact};
pub use crate::stragglers::cause::faults::FaultKind;
pub use crate::stragglers::cause::node_test::{NodeTasks, SlowNode};
pub use crate::stragglers::cause::{Cause, CauseCount, CauseCounts, Confidence, StragglerCause};
pub use crate::stragglers::detect::options::{DetectorOptions, EngineSetting};
pub use crate::stragglers::detect::pool::Pool;
pub use crate::stragglers::detect::{Parameter, Value};
pub use crate::stragglers::evaluation::{Best, Evaluated, Means, Pooled, Ranked};
pub use crate::stragglers::executions::{Basis, Certainty, InputUnit};
pub use crate::stragglers::impact::{Impact, JobImpact, ServerTasks, Speculation};
pub use crate::stragglers::labels::{Limit, UsualRule, UsualSource};
pub use crate::stragglers::progress::ProgressSource;
pub use crate::stragglers::quality::Quality;
pub use crate::stragglers::replay::Sources;
pub use crate::stragglers::speculation::Copies;
pub use application::{ApplicationStragglers, WaitedFor};
pub use days::{CauseCorrelation, StragglerDay};
pub use evaluated::{Evaluation, SWEPT};
pub use group::{GroupReport, Straggler};
pub use histogram::Histogram;
pub use learnt::{Learnt, LearntError};
pub use settings::{Method, Settings};
pub use waiting::Waiting;

use crate::engine::{Filter, Progress, Visited, visit_for_rules};
use crate::input::named::Named;
use crate::limits::Limits;
use crate::model::Engine;
use crate::model::table::TaskKind;
use crate::node_metrics::NodeMetrics;
use crate::results::{Sort, SourceProblem, Summary};
use crate::stragglers::evaluation::{best, pool, rank};
use crate::stragglers::impact::tail_correlation;
use application::JobKey;
use evaluated::{catalogue, engine_settings};

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
    /// The applications, longest wait for stragglers first.
    pub applications: Vec<ApplicationStragglers>,
    /// Totals over all applications.
    pub total: Total,
    /// Problems, by source.
    pub problems: Vec<SourceProblem>,
    /// Whether an input named by the user could not be read.
    pub named_input_failed: bool,
}

/// Totals over all applications.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Total {
    /// The statistics of S2's table 2 by the median.
    pub by_median: Impact,
    /// The same by the mean.
    pub by_mean: Impact,
    /// Time of losing copies over the time of all attempts (S2 section 4).
    pub speculation_waste: Option<f64>,
    /// Correlation, over applications, between the share of copies that won and the heaviness of the tail (S0
    /// §3).
    pub tail_correlation: Option<f64>,
    /// Tasks that were judged, those of them that were stragglers, and the applications with such tasks.
    pub(crate) judged: u64,
    pub(crate) stragglers: u64,
    pub(crate) applications_hit: u64,
    /// The causes.
    pub causes: CauseCounts,
    /// Waiting for stragglers by cause, the longest first.
    pub waiting: Vec<Waiting>,
    /// The days of submission.
    pub days: Vec<StragglerDay>,
    /// How the causes of extreme stragglers go together over the days.
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
    /// The engine.
    pub engine: Engine,
    /// Groups that were replayed.
    pub groups: u64,
    /// Groups in which most progress curves are straight lines to a known end. There, detectors that use
    /// progress know the future and look better than they are.
    pub optimistic_groups: u64,
    /// The detectors, the cluster's own first.
    pub detectors: Vec<Pooled>,
    /// Ranking of the detectors, best first.
    pub ranking: Vec<Ranked>,
    /// The detector that would have performed best.
    pub best: Best,
    /// The same among the detectors that the engine ships.
    pub best_offered: Best,
    /// The settings with which the engine works like that one.
    pub settings: Vec<EngineSetting>,
}

impl EngineDetectors {
    fn of(engine: Engine, applications: &[ApplicationStragglers], settings: &Settings) -> Option<Self> {
        let own = || applications.iter().filter(|app| app.engine == engine);
        let jobs: Vec<Vec<Evaluated>> = own().map(|app| app.detectors.clone()).collect();
        let detectors = pool(&jobs);
        let evaluations = || own().flat_map(|app| &app.groups).filter_map(|group| group.evaluation.as_ref());
        let totals: Vec<Evaluated> = detectors.iter().map(|pooled| pooled.total.clone()).collect();
        let best_offered = best(&totals, Some(engine));
        let settings = match best_offered {
            Best::Detector { place, .. } => engine_settings(settings, place),
            Best::TooFew { .. } | Best::None | Best::FewFound { .. } => Vec::new(),
        };
        (!detectors.is_empty()).then(|| Self {
            engine,
            groups: evaluations().count() as u64,
            optimistic_groups: evaluations().filter(|evaluation| evaluation.optimistic).count() as u64,
            ranking: rank(&totals),
            best: best(&totals, None),
            best_offered,
            settings,
            detectors,
        })
    }
}

impl EngineDetectors {
    /// The most stragglers that any detector was measured by.
    pub(crate) fn stragglers(&self) -> u64 {
        self.detectors.iter().map(|pooled| pooled.total.quality.stragglers).max().unwrap_or_default()
    }

    /// How many tasks all detectors flagged together.
    pub(crate) fn flagged(&self) -> u64 {
        self.detectors.iter().map(|pooled| pooled.total.quality.detected).sum()
    }
}

/// Surveys all applications below `paths`.
#[must_use]
pub fn report(paths: &[PathBuf], settings: &Settings, metrics: Option<&NodeMetrics>) -> StragglerReport {
    report_with(paths, settings, metrics, &Filter::default(), &Limits::default(), &Progress::default())
}

/// The same for applications that `filter` selects, with `limits` for each file, reporting to `progress`.
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

/// The same for all that the user named.
#[must_use]
pub(crate) fn report_of(
    named: Named<'_>,
    settings: &Settings,
    metrics: Option<&NodeMetrics>,
    filter: &Filter,
    limits: &Limits,
    progress: &Progress,
) -> StragglerReport {
    let visited = visit_for_rules(named, filter, limits, progress, |app, sources| {
        ApplicationStragglers::of(app, sources, settings, metrics)
    });
    let Visited { summary, applications, problems, named_input_failed, .. } = visited;
    let mut applications: Vec<ApplicationStragglers> =
        applications.into_iter().map(|visit| visit.value).collect();
    evaluate(&mut applications, settings);
    let total = Total::of(&applications, settings);
    applications.sort_by(ApplicationStragglers::worst_first);
    StragglerReport {
        settings: settings.clone(),
        files: summary,
        applications,
        total,
        problems,
        named_input_failed,
    }
}

impl StragglerReport {
    /// Orders the applications.
    pub(crate) fn sort(&mut self, by: Sort) {
        self.applications.sort_by(|a, b| ApplicationStragglers::order(a, b, by));
    }

    /// Adds what the applications show to `learnt`, if the settings said so.
    pub(crate) fn teach(&mut self, learnt: &mut Learnt) {
        let groups = self.applications.iter_mut().flat_map(|app| &mut app.groups);
        groups.filter_map(|group| group.learnt.take()).for_each(|run| learnt.add(run));
    }
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

impl Total {
    fn of(applications: &[ApplicationStragglers], settings: &Settings) -> Self {
        let mut causes = CauseCounts::default();
        let (mut undetermined, mut with_models) = (0, 0);
        let mut sources: BTreeMap<ProgressSource, u64> = BTreeMap::new();
        let mut usual: BTreeMap<UsualSource, u64> = BTreeMap::new();
        for app in applications {
            causes.merge(&app.causes);
            for group in &app.groups {
                let Some(evaluation) = &group.evaluation else { continue };
                undetermined += evaluation.undetermined;
                with_models += u64::from(evaluation.model_runs > 0);
                for source in ProgressSource::ALL {
                    *sources.entry(source).or_default() += evaluation.sources.of(source);
                }
                if let Some(source) = evaluation.usual_source {
                    *usual.entry(source).or_default() += 1;
                }
            }
        }
        let days = StragglerDay::all(applications);
        let copies = applications.iter().map(|app| app.copies).fold(Copies::default(), Copies::and);
        let speculation: Vec<_> = applications.iter().map(|app| app.speculation).collect();
        Self {
            by_median: Impact::of(applications.iter().map(|app| &app.by_median)),
            by_mean: Impact::of(applications.iter().map(|app| &app.by_mean)),
            speculation_waste: copies.lost_share(),
            tail_correlation: tail_correlation(&speculation),
            judged: applications.iter().map(ApplicationStragglers::judged).sum(),
            stragglers: applications.iter().map(ApplicationStragglers::stragglers).sum(),
            applications_hit: applications.iter().filter(|app| app.stragglers() > 0).count() as u64,
            causes,
            waiting: Waiting::by_cause(applications),
            correlations: StragglerDay::correlations(&days),
            days,
            engines: [Engine::MapReduce, Engine::Spark]
                .into_iter()
                .filter_map(|engine| EngineDetectors::of(engine, applications, settings))
                .collect(),
            with_models,
            undetermined,
            sources: sources.into_iter().collect(),
            usual_sources: usual.into_iter().collect(),
        }
    }
}
