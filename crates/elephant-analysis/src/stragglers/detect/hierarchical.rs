//! `hierarchical`: the flags of `default`, restricted to attempts on slow nodes (S0 section 5.5).

use rustc_hash::FxHashMap;

use super::average_gap::AverageGap;
use super::options::DetectorOptions;
use super::snapshot::{Past, Running, Snapshot};
use super::{Compared, Detector, Needs, Parameter, Value};

/// The unit that the cluster's mean performance is taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClusterMean {
    /// Nodes, by their performance.
    Nodes,
    /// Tasks, by their speed.
    Tasks,
}

impl ClusterMean {
    const fn name(self) -> &'static str {
        match self {
            Self::Nodes => "nodes",
            Self::Tasks => "tasks",
        }
    }
}

/// Performance of the nodes and the cluster, in input per second.
#[derive(Debug, Clone, PartialEq)]
pub struct Performance {
    /// Each node with the mean speed of its tasks, in the order in which the nodes were first seen.
    pub nodes: Vec<(u32, f64)>,
    /// Performance of the cluster.
    pub cluster: f64,
    /// Index of each node in `nodes`.
    places: FxHashMap<u32, usize>,
}

impl Performance {
    /// Computes the performance from the speed of tasks on their nodes; `None` if there are no tasks.
    pub fn of(tasks: impl Iterator<Item = (u32, f64)>, mean: ClusterMean) -> Option<Self> {
        let mut places = FxHashMap::default();
        let mut sums: Vec<(u32, f64, usize)> = Vec::new();
        for (node, speed) in tasks {
            let place = *places.entry(node).or_insert(sums.len());
            match sums.get_mut(place) {
                Some((_, sum, count)) => {
                    *sum += speed;
                    *count += 1;
                }
                None => sums.push((node, speed, 1)),
            }
        }
        let nodes: Vec<(u32, f64)> =
            sums.iter().map(|&(node, sum, count)| (node, sum / count as f64)).collect();
        let (sum, count) = match mean {
            ClusterMean::Nodes => (nodes.iter().map(|(_, speed)| speed).sum::<f64>(), nodes.len()),
            ClusterMean::Tasks => {
                sums.iter().fold((0.0, 0), |all, &(_, sum, count)| (all.0 + sum, all.1 + count))
            }
        };
        (count > 0).then(|| Self { nodes, cluster: sum / count as f64, places })
    }

    /// The performance of a node; `None` if no task with a known speed runs on it.
    #[must_use]
    pub(crate) fn of_node(&self, node: u32) -> Option<f64> {
        self.places.get(&node).and_then(|&place| self.nodes.get(place)).map(|&(_, speed)| speed)
    }

    /// Whether a node performs below `fraction` of the cluster's mean; false if the node is unknown.
    #[must_use]
    pub fn is_slow(&self, node: u32, fraction: f64) -> bool {
        self.of_node(node).is_some_and(|speed| speed < fraction * self.cluster)
    }
}

/// The speed of a task in input per second, `PS * size / elapsed`; `None` before it has run.
#[must_use]
pub fn speed(progress: f64, size: f64, elapsed: f64) -> Option<f64> {
    (elapsed > 0.0).then(|| progress * size / elapsed)
}

/// Keeps the flags of another detector that are on slow nodes.
#[derive(Debug, Clone, Copy)]
pub struct Hierarchical {
    /// The detector whose flags it filters.
    pub inner: AverageGap,
    /// A node below this share of the cluster's performance is slow.
    pub fraction: f64,
    /// How the cluster's mean performance is computed.
    pub mean: ClusterMean,
    /// Performance leaves out attempts younger than this, in seconds: a node whose wave has just started
    /// looks slow.
    pub min_age: f64,
}

impl Hierarchical {
    /// Based on Default, with 0.9 of the mean over nodes (S0); the minimum age is our choice.
    pub(crate) const DEFAULT: Self = Self {
        inner: AverageGap { id: "hierarchical", ..AverageGap::DEFAULT },
        fraction: 0.9,
        mean: ClusterMean::Nodes,
        min_age: 12.0,
    };

    /// The detector with a user's changes.
    #[must_use]
    pub(crate) fn with(self, options: &DetectorOptions) -> Self {
        Self { inner: self.inner.with(options), ..self }
    }

    /// If any size is unknown, all tasks get size 1, because known and unknown sizes cannot be compared.
    fn performance(&self, snapshot: &Snapshot<'_>) -> Option<Performance> {
        let sized = snapshot.running.iter().all(|attempt| attempt.input.is_some());
        let of_attempt = |attempt: &Running| {
            let size = if sized { attempt.input? } else { 1.0 };
            let speed = speed(attempt.progress?, size, attempt.elapsed)?;
            (attempt.elapsed >= self.min_age).then_some((attempt.node?, speed))
        };
        Performance::of(snapshot.running.iter().filter_map(of_attempt), self.mean)
    }
}

impl Detector for Hierarchical {
    fn id(&self) -> &'static str {
        self.inner.id
    }

    fn parameters(&self) -> Vec<Parameter> {
        let mut parameters = vec![
            Parameter::new("fraction", Value::Number(self.fraction)),
            Parameter::new("cluster_mean", Value::Word(self.mean.name())),
            Parameter::new("performance_min_age_s", Value::Number(self.min_age)),
        ];
        parameters.extend(self.inner.parameters());
        parameters
    }

    fn needs(&self) -> Needs {
        Needs::Nodes
    }

    fn compared(&self, snapshot: &Snapshot<'_>, attempt: &Running) -> Option<Compared> {
        self.inner.compared(snapshot, attempt)
    }

    fn flag(&self, snapshot: &Snapshot<'_>, past: &Past<'_>, flags: &mut Vec<usize>) {
        let before = flags.len();
        self.inner.flag(snapshot, past, flags);
        if flags.len() == before {
            return;
        }
        let Some(performance) = self.performance(snapshot) else {
            flags.truncate(before);
            return;
        };
        let mut seen = 0;
        flags.retain(|&flag| {
            seen += 1;
            let node = snapshot.running.get(flag).and_then(|attempt| attempt.node);
            seen <= before || node.is_some_and(|node| performance.is_slow(node, self.fraction))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOTHING, group, running};
    use super::*;

    fn on(node: u32, elapsed: f64, progress: f64) -> Running {
        Running { node: Some(node), ..running(elapsed, progress) }
    }

    #[test]
    fn flags_on_nodes_of_normal_speed_are_dropped() {
        let attempts =
            [on(0, 30.0, 0.9), on(0, 30.0, 0.3), on(1, 30.0, 0.2), on(1, 30.0, 0.3), on(2, 30.0, 0.9)];
        assert_eq!(group(30.0, &attempts).flags(&AverageGap::DEFAULT), [1, 2, 3]);
        assert_eq!(group(30.0, &attempts).flags(&Hierarchical::DEFAULT), [2, 3]);
    }

    #[test]
    fn without_node_names_no_flag_is_kept() {
        let attempts = [running(30.0, 0.9), running(30.0, 0.1)];
        assert_eq!(group(30.0, &attempts).flags(&Hierarchical::DEFAULT), NOTHING);
        assert_eq!(Performance::of([].into_iter(), ClusterMean::Nodes), None);
    }
}
