//! Sorts nodes by slowness.

use std::cmp::Ordering;

use super::indicators::Node;
use super::levels::{Interval, levels};
use super::settings::{Indicator, Settings};
use elephant_base::stats::false_discovery::benjamini_hochberg;

/// Assigns a level to every node with enough tasks and an interval.
pub(super) fn assign_levels(nodes: &mut [Node], settings: &Settings) {
    let rankable = |node: &Node| node.interval().filter(|_| node.tasks >= settings.min_node_tasks);
    let intervals: Vec<Interval> = nodes.iter().filter_map(rankable).collect();
    let mut found = levels(&intervals).into_iter();
    for node in nodes {
        node.level = rankable(node).and_then(|_| found.next());
    }
}

/// Finds nodes that have clearly and significantly more stragglers than other nodes in the same groups. Both
/// tests are needed: with few stragglers, a single one is many times the share of the other nodes; with many
/// nodes, some have more by chance.
pub(super) fn compare_stragglers(nodes: &mut [Node], settings: &Settings) {
    let mut ranked: Vec<&mut Node> = nodes.iter_mut().filter(|node| node.level.is_some()).collect();
    let by_chance: Vec<f64> =
        ranked.iter().map(|node| node.more_stragglers_by_chance.unwrap_or(1.0)).collect();
    for (node, by_chance) in ranked.iter_mut().zip(benjamini_hochberg(&by_chance)) {
        let shares = node.straggler_share.zip(node.others_straggler_share);
        let more = shares.is_some_and(|(own, others)| own >= settings.slow_straggler_ratio * others);
        node.more_stragglers_by_chance = node.more_stragglers_by_chance.map(|_| by_chance);
        node.clearly_slow |= more && by_chance <= 1.0 - settings.confidence;
    }
}

/// Suspects nodes with too few tasks to be ranked if most of their tasks were stragglers, clearly and significantly
/// more than of the same groups on other nodes. Not all need be: one usual task among many slow ones proves nothing.
pub(super) fn suspect(nodes: &mut [Node], settings: &Settings) {
    let few = |node: &&mut Node| node.level.is_none() && node.tasks >= settings.suspect_tasks.max(1);
    let mut few: Vec<&mut Node> = nodes.iter_mut().filter(few).collect();
    let by_chance: Vec<f64> = few.iter().map(|node| node.more_stragglers_by_chance.unwrap_or(1.0)).collect();
    for (node, by_chance) in few.iter_mut().zip(benjamini_hochberg(&by_chance)) {
        let shares = node.straggler_share.zip(node.others_straggler_share);
        let most = shares.is_some_and(|(own, others)| {
            own >= settings.suspect_share && own >= settings.slow_straggler_ratio * others
        });
        node.more_stragglers_by_chance = node.more_stragglers_by_chance.map(|_| by_chance);
        node.suspected = most && by_chance <= 1.0 - settings.confidence;
    }
}

/// Finds nodes that lost many of their executors, clearly and significantly more than other nodes of the same applications.
pub(super) fn find_failed(nodes: &mut [Node], settings: &Settings) {
    // All nodes are compared: those that lost most were chosen by what is tested.
    let by_chance: Vec<f64> = nodes.iter().map(|node| node.executors.p_value()).collect();
    for (node, by_chance) in nodes.iter_mut().zip(benjamini_hochberg(&by_chance)) {
        let clearly = node.executors.shares().is_some_and(|(own, others)| {
            own >= settings.failed_share && own >= settings.slow_straggler_ratio * others
        });
        let many = node.executors.hits >= settings.failed_executors.max(1);
        node.failed = many && clearly && by_chance <= 1.0 - settings.confidence;
    }
}

/// Marks the nodes to take out of service. A single application may have been slow on a node for reasons of its own.
pub(super) fn mark_excluded(nodes: &mut [Node], settings: &Settings) {
    for node in nodes {
        let is_seen_again = node.applications >= settings.exclude_applications;
        node.to_exclude = node.failed || (node.is_straggler() && is_seen_again);
    }
}

/// Failed nodes first, then suspected nodes, then ranked nodes, worst first, then the others; ties by name. By
/// [`Indicator::Name`], all nodes are in alphabetical order.
pub(super) fn order(a: &Node, b: &Node, by: Indicator) -> Ordering {
    let unranked = |node: &Node| node.level.is_none();
    let value = |node: &Node| match by {
        Indicator::Level | Indicator::Mean => node.mean,
        Indicator::Deviation => node.deviation,
        Indicator::Quantile => node.quantile,
        Indicator::ExtremeValue => node.extreme_value,
        Indicator::StragglerShare => node.straggler_share,
        Indicator::Name => None,
    };
    if by == Indicator::Name {
        return a.name.cmp(&b.name);
    }
    let level = |node: &Node| if by == Indicator::Level { node.level } else { None };
    b.failed
        .cmp(&a.failed)
        .then_with(|| b.suspected.cmp(&a.suspected))
        .then_with(|| unranked(a).cmp(&unranked(b)))
        .then_with(|| level(a).cmp(&level(b)))
        .then_with(|| descending(value(a), value(b)))
        .then_with(|| a.name.cmp(&b.name))
}

/// Greater values first, unknown values last.
fn descending(a: Option<f64>, b: Option<f64>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => b.total_cmp(&a),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}
