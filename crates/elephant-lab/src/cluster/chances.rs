//! Everything random in a run, drawn beforehand. Runs that differ in the policy or the detector share these
//! values, so chance does not explain their difference.

use super::scenario::Scenario;
use crate::random::Random;

/// Purposes of streams. Those of the runs follow [`RUNS`].
const TASKS: u64 = 1;
const RUNS: u64 = 1000;

/// The random values of a run.
#[derive(Debug, Clone)]
pub(super) struct Chances {
    /// The work of each task's original attempt, in seconds on a core for itself.
    pub(super) originals: Vec<f64>,
    /// The work of each task's copy, in the same unit.
    pub(super) copies: Vec<f64>,
    /// The relative speed of each node.
    pub(super) nodes: Vec<f64>,
    /// Chooses between nodes with room.
    pub(super) choice: Random,
}

impl Chances {
    /// The chances of the run with this number. All runs of a seed have the same tasks.
    pub(super) fn draw(scenario: &Scenario, seed: u64, run: u64) -> Self {
        let noise = &scenario.noise;
        let (tasks, count) = (scenario.job.tasks, scenario.node_count());
        let mut same = Random::stream(seed, TASKS);
        let works: Vec<f64> = (0..tasks).map(|_| scenario.work() * same.factor(noise.task)).collect();
        let stream = |kind: u64| Random::stream(seed, RUNS + 4 * run + kind);
        let mut own = stream(0);
        let originals = works.iter().map(|work| work * own.factor(noise.attempt)).collect();
        let mut own = stream(1);
        let copies = works.iter().map(|work| work * own.factor(noise.attempt)).collect();
        let mut own = stream(2);
        let nodes = (0..count).map(|_| own.factor(noise.node)).collect();
        Self { originals, copies, nodes, choice: stream(3) }
    }
}
