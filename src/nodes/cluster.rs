//! The z-scores of all applications, host by host.

use std::collections::BTreeMap;

use super::collect::{DayNumber, GroupCounts, Hosts, Sample};

/// What all applications tell about the hosts.
#[derive(Debug, Clone, Default)]
pub struct Cluster {
    hosts: Vec<Scores>,
    /// The groups that the z-scores come from.
    pub groups: GroupCounts,
}

/// The normalised task times of one node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeSample {
    /// The host as the histories write it.
    pub name: Box<str>,
    /// The rack that the histories declare.
    pub rack: Option<Box<str>>,
    /// Its z-scores.
    pub scores: Scores,
}

/// The z-scores of one host.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scores {
    /// One for each successful attempt, in the order of the histories.
    pub values: Vec<f64>,
    /// How many of these attempts were stragglers of their group.
    pub stragglers: u64,
    /// Sums for each day on which attempts started.
    pub days: BTreeMap<DayNumber, DaySum>,
}

/// The z-scores of one day.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DaySum {
    /// How many there are.
    pub count: u64,
    /// Their sum.
    pub sum: f64,
    /// The sum of their squares.
    pub squares: f64,
}

impl Cluster {
    /// Adds what one application tells. Hosts of one name are one node.
    pub fn add(&mut self, sample: &Sample) {
        self.groups.add(sample.groups);
        for row in &sample.rows {
            let place = row.host.index();
            if self.hosts.len() <= place {
                self.hosts.resize_with(place + 1, Scores::default);
            }
            let Some(host) = self.hosts.get_mut(place) else { continue };
            host.values.push(row.score);
            host.stragglers += u64::from(row.straggler);
            if let Some(day) = row.day {
                let sum = host.days.entry(day).or_default();
                sum.count += 1;
                sum.sum += row.score;
                sum.squares += row.score * row.score;
            }
        }
    }

    /// The nodes that have z-scores, by name.
    #[must_use]
    pub fn into_nodes(mut self, hosts: Hosts) -> Vec<NodeSample> {
        let mut nodes = Vec::with_capacity(self.hosts.len());
        for (name, rack, host) in hosts.into_sorted() {
            let scores = self.hosts.get_mut(host.index()).map(std::mem::take).unwrap_or_default();
            if !scores.values.is_empty() {
                nodes.push(NodeSample { name, rack, scores });
            }
        }
        nodes
    }
}
