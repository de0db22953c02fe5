//! Scenarios: a testbed, the nodes of a cluster, and what is varied.

use elephant_base::whole::Whole;
use std::ops::RangeInclusive;

use serde::Deserialize;
use serde_yaml::{Mapping, Value};
use thiserror::Error;

use super::policy::Policy;

/// The settings that all scenarios share, with their explanations.
const TESTBED: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/testbed.yaml"));
/// The scenarios of S0, by name.
const SHIPPED: [(&str, &str); 4] = [
    ("C1", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/c1.yaml"))),
    ("C2", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/c2.yaml"))),
    ("C3", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/c3.yaml"))),
    ("C4", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/c4.yaml"))),
];
/// Larger clusters and jobs take hours.
const MOST: usize = 100_000;

/// A cluster, a job, and how they are watched and judged. The files explain the settings.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The name in reports.
    pub name: String,
    pub(crate) nodes: Vec<NodeGroup>,
    /// The tasks that run.
    pub job: Job,
    pub(crate) cluster: Cluster,
    pub(crate) noise: Noise,
    pub(crate) detection: Detection,
    pub(crate) judgement: Judgement,
    pub(crate) energy: Energy,
    /// When copies are started.
    pub policies: Vec<Policy>,
    /// The names of the detectors that are compared.
    pub detectors: Vec<String>,
    pub(crate) lags_s: Vec<f64>,
}

/// Equal nodes.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NodeGroup {
    pub(crate) count: usize,
    pub(crate) active_cores: f64,
}

/// A job of equal tasks.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// How many tasks it has.
    pub tasks: usize,
    pub(crate) task_s: f64,
    pub(crate) split_mib: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cluster {
    pub(crate) cores_per_node: f64,
    pub(crate) containers_per_node: usize,
    pub(crate) sharing_gain: f64,
    pub(crate) container_start_s: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Noise {
    pub(crate) attempt: f64,
    pub(crate) task: f64,
    pub(crate) node: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Detection {
    pub(crate) lag_s: f64,
    pub(crate) gap: f64,
    pub(crate) alpha: f64,
    pub(crate) fraction: f64,
    pub(crate) mean_over: MeanOver,
    pub(crate) scan_s: f64,
    pub(crate) report_s: f64,
    pub(crate) min_age_s: f64,
    pub(crate) speed_min_age_s: f64,
}

/// The unit that the cluster's mean speed is taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MeanOver {
    Nodes,
    Tasks,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Judgement {
    pub(crate) usual_runs: usize,
    pub(crate) usual_quantile: f64,
    pub(crate) straggler: f64,
    pub(crate) count_copies: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Energy {
    pub(crate) idle_w: f64,
    pub(crate) core_w: f64,
}

/// A scenario that cannot be simulated.
#[derive(Debug, Error)]
pub enum ScenarioError {
    /// The text is no scenario.
    #[error("{name}: {source}")]
    Yaml {
        /// The name of the scenario.
        name: String,
        /// What is wrong with the text.
        source: serde_yaml::Error,
    },
    /// A value is impossible.
    #[error("{name}: {problem}")]
    Value {
        /// The name of the scenario.
        name: String,
        /// Which value, and why.
        problem: String,
    },
}

impl Scenario {
    /// The names of the scenarios that are built in.
    pub fn shipped_names() -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().map(|(name, _)| *name)
    }

    /// The text of a built-in scenario, with all its settings; `None` if there is none of this name.
    #[must_use]
    pub fn shipped_text(name: &str) -> Option<String> {
        let (_, text) = SHIPPED.iter().find(|(shipped, _)| shipped.eq_ignore_ascii_case(name))?;
        Some(format!("{text}\n{TESTBED}"))
    }

    /// The built-in scenario of this name.
    #[must_use]
    pub fn shipped(name: &str) -> Option<Result<Self, ScenarioError>> {
        Self::shipped_text(name).map(|text| Self::read(&text, name))
    }

    /// Reads a scenario; settings that it does not have are those of the testbed. `name` is for messages.
    pub fn read(text: &str, name: &str) -> Result<Self, ScenarioError> {
        let wrong = |source| ScenarioError::Yaml { name: name.to_owned(), source };
        let mut settings: Mapping = serde_yaml::from_str(TESTBED).map_err(wrong)?;
        let own: Mapping = serde_yaml::from_str(text).map_err(wrong)?;
        merge(&mut settings, own);
        let scenario: Self = serde_yaml::from_value(Value::Mapping(settings)).map_err(wrong)?;
        match scenario.problem() {
            Some(problem) => Err(ScenarioError::Value { name: name.to_owned(), problem }),
            None => Ok(scenario),
        }
    }

    /// The same cluster with all cores of all nodes active.
    #[must_use]
    pub(crate) fn homogeneous(&self) -> Self {
        let count = self.node_count();
        let active_cores = self.cluster.cores_per_node;
        Self { nodes: vec![NodeGroup { count, active_cores }], ..self.clone() }
    }

    /// The number of nodes.
    #[must_use]
    pub(crate) fn node_count(&self) -> usize {
        self.nodes.iter().fold(0, |sum, group| sum.saturating_add(group.count))
    }

    /// The speed of each of `computing` tasks on a node with `cores` active cores, relative to a task that has
    /// a core for itself. Tasks share the processor; several on one core get more out of it than one.
    #[must_use]
    pub(crate) fn speed(&self, cores: f64, computing: usize) -> f64 {
        let gain = if computing >= 2 { self.cluster.sharing_gain } else { 1.0 };
        (cores * gain / computing.max(1) as f64).min(1.0)
    }

    /// The work of a task without noise: seconds on a core for itself.
    #[must_use]
    pub(crate) fn work(&self) -> f64 {
        self.job.task_s * self.speed(self.cluster.cores_per_node, self.cluster.containers_per_node)
    }

    /// The size of a task's input.
    #[must_use]
    pub(crate) fn split_bytes(&self) -> f64 {
        self.job.split_mib * 1_048_576.0
    }

    /// The size of a task's input in whole bytes.
    #[must_use]
    pub fn split_size(&self) -> u64 {
        self.split_bytes().round().as_u64()
    }

    fn problem(&self) -> Option<String> {
        let counts = [
            ("the number of nodes", self.node_count()),
            ("job.tasks", self.job.tasks),
            ("cluster.containers_per_node", self.cluster.containers_per_node),
            ("judgement.usual_runs", self.judgement.usual_runs),
        ];
        let wrong_count = counts.iter().find(|(_, count)| !(1..=MOST).contains(count));
        if let Some((name, count)) = wrong_count {
            return Some(format!("{name} is {count}, not from 1 to {MOST}"));
        }
        let wrong = |(_, value, range): &(&str, f64, RangeInclusive<f64>)| !range.contains(value);
        if let Some((name, value, range)) = self.ranges().into_iter().find(wrong) {
            return Some(format!("{name} is {value}, not from {} to {}", range.start(), range.end()));
        }
        self.policies.is_empty().then(|| "there is no policy".to_owned())
    }

    /// Each number with its allowed range. Within the ranges a job ends within hours; with tiny speeds or
    /// enormous noise, it would not.
    fn ranges(&self) -> Vec<(&'static str, f64, RangeInclusive<f64>)> {
        const TIME: RangeInclusive<f64> = 0.0..=1e5;
        const NOISE: RangeInclusive<f64> = 0.0..=2.0;
        const MANY: RangeInclusive<f64> = 0.0..=1e6;
        let Self { job, cluster, noise, detection, judgement, energy, .. } = self;
        let mut ranges = vec![
            ("job.task_s", job.task_s, 0.1..=1e5),
            ("job.split_mib", job.split_mib, 0.001..=1e6),
            ("cluster.cores_per_node", cluster.cores_per_node, 0.05..=1e4),
            ("cluster.sharing_gain", cluster.sharing_gain, 0.1..=100.0),
            ("cluster.container_start_s", cluster.container_start_s, TIME),
            ("noise.attempt", noise.attempt, NOISE),
            ("noise.task", noise.task, NOISE),
            ("noise.node", noise.node, NOISE),
            ("detection.lag_s", detection.lag_s, TIME),
            ("detection.gap", detection.gap, MANY),
            ("detection.alpha", detection.alpha, MANY),
            ("detection.fraction", detection.fraction, MANY),
            ("detection.scan_s", detection.scan_s, 0.01..=1e5),
            ("detection.report_s", detection.report_s, 0.01..=1e5),
            ("detection.min_age_s", detection.min_age_s, TIME),
            ("detection.speed_min_age_s", detection.speed_min_age_s, TIME),
            ("judgement.usual_quantile", judgement.usual_quantile, 0.0..=1.0),
            ("judgement.straggler", judgement.straggler, 0.001..=1e6),
            ("energy.idle_w", energy.idle_w, MANY),
            ("energy.core_w", energy.core_w, MANY),
        ];
        // A node cannot have more active cores than cores.
        let cores = || 0.05..=cluster.cores_per_node;
        ranges.extend(self.nodes.iter().map(|group| ("active_cores", group.active_cores, cores())));
        ranges.extend(self.lags_s.iter().map(|&lag| ("a value of lags_s", lag, TIME)));
        ranges
    }
}

/// Merges `over` into `settings`: values of `over` win, and sections are merged.
fn merge(settings: &mut Mapping, over: Mapping) {
    for (key, value) in over {
        match (settings.get_mut(&key), value) {
            (Some(Value::Mapping(section)), Value::Mapping(over)) => merge(section, over),
            (_, value) => {
                settings.insert(key, value);
            }
        }
    }
}
