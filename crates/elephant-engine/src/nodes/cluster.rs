//! Collects the z-scores of all applications by host.

use std::collections::{BTreeMap, BTreeSet};

use super::collect::{DayNumber, GroupCounts, Hosts, Sample};
use super::losses::Losses;
use super::run::Host;
use crate::engine::Visit;
use elephant_base::stats::strata::Strata;

/// Scores of the hosts, over all applications.
#[derive(Debug, Clone, Default)]
pub struct Cluster {
    hosts: Vec<Scores>,
    /// The groups that the z-scores come from.
    pub groups: GroupCounts,
}

/// Normalised task times of one node.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NodeSample {
    /// The host name as logged.
    pub name: Box<str>,
    /// The rack as logged.
    pub rack: Option<Box<str>>,
    /// Its z-scores.
    pub scores: Scores,
}

/// The z-scores of one host.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Scores {
    /// One per attempt, in the order the applications were read.
    pub values: Vec<f64>,
    /// How many of these attempts were stragglers in their group.
    pub stragglers: u64,
    /// How many of these were overtaken by their copies.
    pub overtaken: u64,
    /// Stragglers on it and on others.
    pub peers: Strata,
    /// What was lost on it.
    pub losses: Losses,
    /// Its executors and those of others, and those that were lost.
    pub executors: Strata,
    /// The applications whose tasks have z-scores on it.
    pub applications: u64,
    /// Sums for each day on which attempts started.
    pub days: BTreeMap<DayNumber, DaySum>,
}

/// The z-scores of one day.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct DaySum {
    /// Number of z-scores.
    pub count: u64,
    /// Their sum.
    pub sum: f64,
    /// The sum of their squares.
    pub squares: f64,
}

impl Cluster {
    /// The scores of all applications.
    pub(super) fn of(applications: Vec<Visit<Sample>>) -> Self {
        let mut cluster = Self::default();
        for application in applications {
            cluster.add(&application.value);
        }
        cluster
    }

    /// Adds the scores of one application. Hosts with the same name are one node.
    pub fn add(&mut self, sample: &Sample) {
        self.groups.add(sample.groups);
        for &(host, peers) in &sample.peers {
            if let Some(host) = self.host(host) {
                host.peers += peers;
            }
        }
        for &(host, losses) in &sample.losses {
            if let Some(host) = self.host(host) {
                host.losses += losses;
            }
        }
        for &(host, executors) in &sample.executors {
            if let Some(host) = self.host(host) {
                host.executors += executors;
            }
        }
        for host in sample.rows.iter().map(|row| row.host).collect::<BTreeSet<Host>>() {
            if let Some(host) = self.host(host) {
                host.applications += 1;
            }
        }
        for row in &sample.rows {
            let Some(host) = self.host(row.host) else { continue };
            host.values.push(row.score);
            host.stragglers += u64::from(row.straggler);
            host.overtaken += u64::from(row.overtaken);
            if let Some(day) = row.day {
                let sum = host.days.entry(day).or_default();
                sum.count += 1;
                sum.sum += row.score;
                sum.squares += row.score * row.score;
            }
        }
    }

    fn host(&mut self, host: Host) -> Option<&mut Scores> {
        let place = host.index();
        if self.hosts.len() <= place {
            self.hosts.resize_with(place + 1, Scores::default);
        }
        self.hosts.get_mut(place)
    }

    /// The nodes that have z-scores, or on which something was lost, sorted by name.
    #[must_use]
    pub(crate) fn into_nodes(mut self, hosts: Hosts) -> Vec<NodeSample> {
        let mut nodes = Vec::with_capacity(self.hosts.len());
        for (name, rack, host) in hosts.into_sorted() {
            let scores = self.hosts.get_mut(host.index()).map(std::mem::take).unwrap_or_default();
            if !scores.values.is_empty() || !scores.losses.is_none() {
                nodes.push(NodeSample { name, rack, scores });
            }
        }
        nodes
    }
}
