//! Totals over applications that are added one at a time, so that they need not all be in memory.

use std::collections::BTreeMap;

use super::application::ApplicationStragglers;
use super::days::StragglerDay;
use super::evaluated::engine_settings;
use super::origin::Origin;
use super::waiting::Waiting;
use super::{EngineDetectors, RunTimes, Settings, Total};
use elephant_analysis::stragglers::cause::{Cause, CauseCounts};
use elephant_analysis::stragglers::evaluation::pool::Pool;
use elephant_analysis::stragglers::evaluation::{Best, Evaluated, best, rank};
use elephant_analysis::stragglers::impact::{ImpactSums, Speculation, tail_correlation};
use elephant_analysis::stragglers::progress::ProgressSource;
use elephant_analysis::stragglers::speculation::Copies;
use elephant_analysis::stragglers::usual::UsualSource;
use elephant_base::units::Millis;
use elephant_model::model::conf::defaults::Version;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Sums {
    applications: u64,
    applications_hit: u64,
    tasks: u64,
    stragglers: u64,
    unfinished: u64,
    in_small_groups: u64,
    with_node_metrics: u64,
    by_median: ImpactSums,
    by_mean: ImpactSums,
    copies: Copies,
    speculation: Vec<Speculation>,
    causes: CauseCounts,
    waiting: BTreeMap<Cause, Waiting>,
    applications_waiting: u64,
    days: BTreeMap<i64, StragglerDay>,
    origins: BTreeMap<Origin, OriginSums>,
    undetermined: u64,
    sources: BTreeMap<ProgressSource, u64>,
    usual_sources: BTreeMap<UsualSource, u64>,
}

/// The detectors on the applications of one origin.
#[derive(Debug, Default)]
struct OriginSums {
    groups: u64,
    all_groups: u64,
    optimistic_groups: u64,
    with_models: u64,
    pool: Pool,
    /// The latest version of the engine that ran any of them; `None` if none is known.
    newest: Option<Version>,
    /// By the index of the detector.
    run_times: BTreeMap<u8, RunTimes>,
}

impl Sums {
    pub(super) fn add(&mut self, app: &ApplicationStragglers) {
        let stragglers = app.stragglers();
        self.applications += 1;
        self.applications_hit += u64::from(stragglers > 0);
        self.tasks += app.judged();
        self.stragglers += stragglers;
        self.unfinished += app.groups.iter().map(|group| group.skipped_unfinished).sum::<u64>();
        self.in_small_groups += app.tasks_of_small_groups;
        self.with_node_metrics += app.with_node_metrics;
        self.by_median.add(&app.by_median);
        self.by_mean.add(&app.by_mean);
        self.copies = std::mem::take(&mut self.copies).and(app.copies);
        self.speculation.push(app.speculation);
        self.causes.merge(&app.causes);
        Waiting::add_to(&mut self.waiting, app);
        self.applications_waiting += u64::from(app.delay > Millis::ZERO);
        StragglerDay::add_to(&mut self.days, app);
        let origin = self.origins.entry(app.origin).or_default();
        origin.pool.add(&app.detectors);
        origin.newest = origin.newest.max(app.version);
        for (&detector, &run_times) in &app.run_times {
            origin.run_times.entry(detector).or_default().add(run_times);
        }
        origin.all_groups += app.groups.len() as u64;
        for evaluation in app.groups.iter().filter_map(|group| group.evaluation.as_ref()) {
            origin.groups += 1;
            origin.optimistic_groups += u64::from(evaluation.optimistic);
            self.undetermined += evaluation.undetermined;
            origin.with_models += u64::from(evaluation.model_runs > 0);
            for source in ProgressSource::ALL {
                *self.sources.entry(source).or_default() += evaluation.sources.of(source);
            }
            if let Some(source) = evaluation.usual_source {
                *self.usual_sources.entry(source).or_default() += 1;
            }
        }
    }

    pub(super) fn finish(self, settings: &Settings) -> Total {
        let days: Vec<StragglerDay> = self.days.into_values().collect();
        let with_models = self.origins.values().map(|origin| origin.with_models).sum();
        let origins = self.origins.into_iter();
        Total {
            applications: self.applications,
            applications_hit: self.applications_hit,
            tasks: self.tasks,
            stragglers: self.stragglers,
            unfinished: self.unfinished,
            in_small_groups: self.in_small_groups,
            with_node_metrics: self.with_node_metrics,
            by_median: self.by_median.finish(&settings.causes),
            by_mean: self.by_mean.finish(&settings.causes),
            speculation_waste: self.copies.lost_share(),
            tail_correlation: tail_correlation(&self.speculation),
            causes: self.causes,
            waiting: Waiting::longest_first(self.waiting),
            applications_waiting: self.applications_waiting,
            correlations: StragglerDay::correlations(&days),
            days,
            engines: origins.filter_map(|(origin, sums)| sums.finish(origin, settings)).collect(),
            with_models,
            undetermined: self.undetermined,
            sources: self.sources.into_iter().collect(),
            usual_sources: self.usual_sources.into_iter().collect(),
        }
    }
}

impl OriginSums {
    fn finish(self, origin: Origin, settings: &Settings) -> Option<EngineDetectors> {
        let detectors = self.pool.finish();
        let totals: Vec<Evaluated> = detectors.iter().map(|pooled| pooled.total.clone()).collect();
        let mut of_engine = origin.engine().map(|engine| engine_settings(settings, (engine, self.newest)));
        let best_offered = of_engine.as_ref().map(|of_engine| {
            best(&totals, |place| of_engine.get(place).is_some_and(|settings| !settings.is_empty()))
        });
        let settings = match (best_offered, &mut of_engine) {
            (Some(Best::Detector { place, .. }), Some(of_engine)) => {
                of_engine.get_mut(place).map(std::mem::take).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        let run_times = match best_offered {
            Some(Best::Detector { place, .. }) => {
                u8::try_from(place).ok().and_then(|place| self.run_times.get(&place).copied())
            }
            _ => None,
        };
        (!detectors.is_empty()).then(|| EngineDetectors {
            origin,
            groups: self.groups,
            all_groups: self.all_groups,
            optimistic_groups: self.optimistic_groups,
            with_models: self.with_models,
            ranking: rank(&totals),
            best: best(&totals, |_| true),
            best_offered,
            settings,
            run_times,
            detectors,
        })
    }
}
