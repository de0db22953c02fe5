//! Ranks the nodes of a cluster by task duration, over the jobs of both engines.
//!
//! The method is that of S1, Ouyang et al., "An Approach for Modeling and Ranking Node-level Stragglers in
//! Cloud Datacenters" (IEEE SCC 2016): `collect` turns the duration of each successful attempt into a
//! z-score within its group, `fit` fits distributions to the z-scores of a node, `indicators` summarise
//! them, and `levels` sorts nodes into performance levels by comparing intervals.
mod by_application;
pub mod cluster;
pub mod collect;
pub mod fit;
pub mod indicators;
pub mod levels;
pub(crate) mod losses;
mod parts;
mod rank;
pub mod run;
pub mod score;
pub mod settings;
pub mod summary;
pub mod trend;
pub mod types;
pub use by_application::{mean_and_deviation, work_by_node};
pub use collect::GroupCounts;
pub use elephant_base::stats::box_plot::BoxPlot;
pub use fit::{Distribution, Family, Fit, Goodness, Status};
pub use indicators::Node;
pub use levels::Interval;
pub use losses::Losses;
pub use parts::{options_of_part, part_of, report_of_parts};
pub use settings::{Indicator, IntervalKind, Settings};
pub use summary::Summary;
pub use trend::{Day, Trend};
pub use types::{NodeGroup, NodeTypes, NodeTypesError};

use std::path::PathBuf;

use rayon::prelude::*;

use crate::conditions::Conditions;
use crate::engine::{Filter, Progress, Visited, visit_beside_traces, visit_traces};
use crate::results::{self, SourceProblem};
use cluster::Cluster;
use collect::{Hosts, Sample};
use elephant_base::limits::Limits;
use elephant_input::named::Named;
use elephant_model::model::{Application, Interner};
use elephant_trace::Job;

/// Everything that a node report shows.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NodesReport {
    /// The settings of the ranking.
    pub settings: Settings,
    /// The applications whose tasks count.
    pub filter: Filter,
    /// The tasks that count.
    pub conditions: Conditions,
    /// Counts of files and applications.
    pub files: results::Summary,
    /// The nodes.
    pub ranking: Ranking,
    /// Problems, by source.
    pub problems: Vec<SourceProblem>,
    /// Whether an input named by the user could not be read.
    pub named_input_failed: bool,
    /// Whether all applications are jobs of cluster traces, whose nodes users have no access to.
    pub only_traces: bool,
}

#[doc(hidden)]
impl NodesReport {
    /// Expected number of ranked nodes with an interval entirely above 0 by chance, if no node is slow.
    #[must_use]
    pub fn slow_by_chance(&self) -> f64 {
        self.ranking.summary.ranked as f64 * (1.0 - self.settings.confidence) / 2.0
    }
}

/// The nodes of a cluster, ranked.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Ranking {
    /// Failed nodes, then suspected nodes, then nodes with a level, worst first, then the others; alphabetical if the settings
    /// say so.
    pub nodes: Vec<Node>,
    /// Counts over all nodes.
    pub summary: Summary,
}

/// Ranks the nodes of all applications below `paths`.
#[must_use]
pub fn report(paths: &[PathBuf], settings: Settings) -> NodesReport {
    let types = NodeTypes::default();
    report_with(paths, settings, &types, Filter::default(), &Limits::default(), &Progress::default())
}

/// Like [`report`], with `types` of nodes, for applications that `filter` selects, with `limits` for each
/// file, reporting to `progress`.
#[must_use]
pub fn report_with(
    paths: &[PathBuf],
    settings: Settings,
    types: &NodeTypes,
    filter: Filter,
    limits: &Limits,
    progress: &Progress,
) -> NodesReport {
    let selected = (filter, Conditions::default());
    report_of(paths.into(), settings, types, selected, limits, progress)
}

/// Ranks the nodes of all inputs that the user named, by the tasks that meet the conditions.
#[must_use]
pub fn report_of(
    named: Named<'_>,
    settings: Settings,
    types: &NodeTypes,
    (filter, conditions): (Filter, Conditions),
    limits: &Limits,
    progress: &Progress,
) -> NodesReport {
    let hosts = Hosts::default();
    let sample = |app: &Application, _: &[String]| Sample::of(app, &hosts, &settings, &conditions);
    let (visited, traces) = visit_beside_traces(named, settings.trace, (&filter, limits), progress, sample);
    let Visited { summary, applications, problems, named_input_failed, .. } = visited;
    let mut cluster = Cluster::of(applications);
    let of_job =
        |job: &Job, machines: &Interner, _| Sample::of_job(job, machines, &hosts, &settings, &conditions);
    let read = visit_traces(&traces, (&filter, limits), progress, of_job, |sample| cluster.add(&sample));
    let (mut files, only_traces) = (summary, summary.applications == 0 && !traces.is_empty());
    read.count_in(&mut files);
    let problems = problems.into_iter().chain(read.problems).collect();
    let named_input_failed = named_input_failed || read.named_input_failed;
    let ranking = rank(cluster, hosts, types, &settings);
    NodesReport { settings, filter, conditions, files, ranking, problems, named_input_failed, only_traces }
}

/// Ranks nodes by their z-scores.
#[must_use]
pub fn rank(cluster: Cluster, hosts: Hosts, types: &NodeTypes, settings: &Settings) -> Ranking {
    let groups = cluster.groups;
    let samples = cluster.into_nodes(hosts);
    let mut nodes: Vec<Node> = samples.into_par_iter().map(|sample| Node::of(sample, settings)).collect();
    for node in &mut nodes {
        node.kind = types.of_host(&node.name).map(Into::into);
    }
    rank::assign_levels(&mut nodes, settings);
    rank::compare_stragglers(&mut nodes, settings);
    rank::suspect(&mut nodes, settings);
    rank::find_failed(&mut nodes, settings);
    rank::mark_excluded(&mut nodes, settings);
    nodes.sort_by(|a, b| rank::order(a, b, settings.order));
    let summary = Summary::of(&nodes, groups);
    Ranking { nodes, summary }
}
