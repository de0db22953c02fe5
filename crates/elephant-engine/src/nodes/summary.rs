//! Summary over all nodes.

use std::collections::BTreeMap;

use super::collect::GroupCounts;
use super::fit::Family;
use super::indicators::Node;
use super::types::NodeGroup;

/// Counts over all nodes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// Nodes with at least one task.
    pub nodes: u64,
    /// Nodes with a level.
    pub ranked: u64,
    /// Nodes classified as stragglers.
    pub stragglers: u64,
    /// Nodes that lost many of their executors, clearly and significantly more than others.
    pub failed: u64,
    /// Nodes that are suspected: too few tasks, most of them stragglers.
    pub suspected: u64,
    /// Significantly slow nodes that are not called stragglers, because the difference is small.
    pub slightly_slow: u64,
    /// Nodes that were significantly slow on one day and significantly fast on another.
    pub transient: u64,
    /// The groups that the z-scores come from.
    pub groups: GroupCounts,
    /// Number of nodes per level, from level 0.
    pub levels: Vec<u64>,
    /// Number of nodes per best-fitting family, in family order.
    pub best_fits: Vec<(Family, u64)>,
    /// Nodes with a best fit.
    pub fitted: u64,
    /// Nodes with the three-parameter loglogistic among their three best fits (S1: all nodes).
    pub loglogistic_in_top_three: u64,
    /// The logged racks, by name.
    pub racks: Vec<NodeGroup>,
    /// The declared types, by name.
    pub types: Vec<NodeGroup>,
    /// Nodes without a declared type.
    pub untyped: u64,
}

impl Summary {
    /// Summarises nodes that already have levels.
    #[must_use]
    pub(crate) fn of(nodes: &[Node], groups: GroupCounts) -> Self {
        let count = |test: fn(&Node) -> bool| nodes.iter().filter(|&node| test(node)).count() as u64;
        let mut levels: BTreeMap<u32, u64> = BTreeMap::new();
        let mut best_fits: BTreeMap<Family, u64> = BTreeMap::new();
        for node in nodes {
            if let Some(level) = node.level {
                *levels.entry(level).or_default() += 1;
            }
            if let Some(best) = node.best() {
                *best_fits.entry(best.family()).or_default() += 1;
            }
        }
        Self {
            nodes: nodes.len() as u64,
            ranked: count(|node| node.level.is_some()),
            stragglers: count(Node::is_straggler),
            failed: count(|node| node.failed),
            suspected: count(|node| node.suspected),
            slightly_slow: count(|node| node.is_significantly_slow() && !node.clearly_slow),
            transient: count(|node| node.trend.transient),
            groups,
            levels: levels.into_values().collect(),
            best_fits: best_fits.into_iter().collect(),
            fitted: count(|node| node.best().is_some()),
            loglogistic_in_top_three: count(|node| {
                let top = node.best_fits.iter().take(3).filter_map(|&place| node.fits.get(place));
                top.into_iter().any(|fit| fit.family() == Family::Loglogistic3)
            }),
            racks: NodeGroup::by(nodes, |node| node.rack.as_deref()),
            types: NodeGroup::by(nodes, |node| node.kind.as_deref()),
            untyped: count(|node| node.kind.is_none()),
        }
    }
}
