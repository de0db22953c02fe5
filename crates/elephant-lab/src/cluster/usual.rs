//! Usual times of tasks: from runs on the same cluster with all cores active, where nothing else happens (S0
//! section 6.1).

use super::chances::Chances;
use super::policy::Policy;
use super::run::{Conditions, run};
use super::scenario::Scenario;
use elephant_analysis::stragglers::regression::ProgressModel;
use elephant_base::stats::descriptive::{median, quantile};

/// Number of points of the model of usual progress.
const POINTS: u32 = 20;

/// Usual times and progress of the tasks of a seed.
#[derive(Debug, Clone)]
pub(super) struct Usual {
    /// The usual time of each task, in seconds.
    pub(super) seconds: Vec<f64>,
    /// Usual progress, for detectors that compare with it.
    pub(super) progress: Option<ProgressModel>,
}

impl Usual {
    pub(super) fn of(scenario: &Scenario, seed: u64) -> Self {
        let homogeneous = scenario.homogeneous();
        let alone = Conditions { policy: Policy::Reserve(100), detector: None, usual_progress: None };
        let mut times: Vec<Vec<f64>> = vec![Vec::new(); scenario.job.tasks];
        // The first run of a seed is the one that is judged.
        for number in (1..).take(scenario.judgement.usual_runs) {
            let done = run(&homogeneous, &Chances::draw(&homogeneous, seed, number), alone);
            for attempt in &done.attempts {
                if let (Some(times), Some(end)) = (times.get_mut(attempt.task), attempt.end) {
                    times.push(end - attempt.start);
                }
            }
        }
        let quantile = |times: &Vec<f64>| quantile(times, scenario.judgement.usual_quantile);
        let seconds: Vec<f64> = times.iter().map(|times| quantile(times).unwrap_or(0.0)).collect();
        let start = scenario.cluster.container_start_s;
        let progress = median(&seconds).and_then(|usual| {
            let at = |point: u32| {
                let elapsed = usual * f64::from(point) / f64::from(POINTS);
                (elapsed, ((elapsed - start) / (usual - start)).clamp(0.0, 1.0))
            };
            ProgressModel::fit(&(1..=POINTS).map(at).collect::<Vec<_>>())
        });
        Self { seconds, progress }
    }
}
