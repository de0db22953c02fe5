//! Ranks the nodes of a cluster by how long tasks take on them, over the jobs of both engines.
//!
//! The method is that of S1, Ouyang et al., "An Approach for Modeling and Ranking Node-level Stragglers in Cloud
//! Datacenters" (IEEE SCC 2016): [`collect`] turns the time of each successful attempt into a z-score within its group,
//! [`fit`] finds the distribution behind the z-scores of a node, [`indicators`] sum them up, and [`levels`] sorts nodes
//! into levels of performance by intervals of which one lies wholly above another.

pub mod cluster;
pub mod collect;
pub mod fit;
pub mod indicators;
pub mod levels;
mod rank;
pub mod score;
pub mod settings;
pub mod summary;
pub mod trend;

use std::path::PathBuf;

use rayon::prelude::*;

use crate::engine::{Progress, Visited, visit_for_rules};
use crate::limits::Limits;
use crate::results::{self, SourceProblem};
use cluster::Cluster;
use collect::{Hosts, Sample};
use indicators::Node;
use settings::Settings;
use summary::Summary;

/// Everything that a report on nodes shows.
#[derive(Debug, Clone)]
pub struct NodesReport {
    /// How the ranking came about.
    pub settings: Settings,
    /// Counts of files and applications.
    pub files: results::Summary,
    /// The nodes.
    pub ranking: Ranking,
    /// What went wrong, by source.
    pub problems: Vec<SourceProblem>,
    /// Whether something that the user named could not be read.
    pub named_input_failed: bool,
}

impl NodesReport {
    /// How many of the ranked nodes have an interval wholly above 0 by chance, if none is slower than the others.
    #[must_use]
    pub fn slow_by_chance(&self) -> f64 {
        self.ranking.summary.ranked as f64 * (1.0 - self.settings.confidence) / 2.0
    }
}

/// The nodes of a cluster in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Nodes with a level, the worst first, then the others.
    pub nodes: Vec<Node>,
    /// Counts over them.
    pub summary: Summary,
}

/// Ranks the nodes of all applications below `paths`.
#[must_use]
pub fn report(paths: &[PathBuf], settings: Settings) -> NodesReport {
    report_with(paths, settings, &Limits::default(), &Progress::default())
}

/// The same within `limits` on each history, telling `progress` how far it is.
#[must_use]
pub fn report_with(
    paths: &[PathBuf],
    settings: Settings,
    limits: &Limits,
    progress: &Progress,
) -> NodesReport {
    let hosts = Hosts::default();
    let visited =
        visit_for_rules(paths, limits, progress, |app, _| Sample::of(app, &hosts, &settings)).distinct();
    let Visited { summary, applications, problems, named_input_failed, .. } = visited;
    let mut cluster = Cluster::default();
    for application in applications {
        cluster.add(&application.value);
    }
    let ranking = rank(cluster, hosts, &settings);
    NodesReport { settings, files: summary, ranking, problems, named_input_failed }
}

/// Ranks nodes by their z-scores.
#[must_use]
pub fn rank(cluster: Cluster, hosts: Hosts, settings: &Settings) -> Ranking {
    let groups = cluster.groups;
    let samples = cluster.into_nodes(hosts);
    let mut nodes: Vec<Node> = samples.into_par_iter().map(|sample| Node::of(sample, settings)).collect();
    rank::assign_levels(&mut nodes, settings);
    nodes.sort_by(|a, b| rank::order(a, b, settings.order));
    let summary = Summary::of(&nodes, groups);
    Ranking { nodes, summary }
}
