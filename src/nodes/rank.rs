//! Sorts nodes by slowness.

use std::cmp::Ordering;

use super::indicators::Node;
use super::levels::{Interval, levels};
use super::settings::{Indicator, Settings};

/// Assigns a level to every node with enough tasks and an interval.
pub(super) fn assign_levels(nodes: &mut [Node], settings: &Settings) {
    let rankable = |node: &Node| node.interval().filter(|_| node.tasks >= settings.min_node_tasks);
    let intervals: Vec<Interval> = nodes.iter().filter_map(rankable).collect();
    let mut found = levels(&intervals).into_iter();
    for node in nodes {
        node.level = rankable(node).and_then(|_| found.next());
    }
}

/// Compares each node with all others together: whether it is slower by enough to act on, or suspected.
pub(super) fn compare(nodes: &mut [Node], settings: &Settings) {
    let sums = |(tasks, stragglers), node: &Node| (tasks + node.tasks, stragglers + node.stragglers);
    let (tasks, stragglers): (u64, u64) = nodes.iter().fold((0, 0), sums);
    for node in nodes {
        let (others, other_stragglers) = (tasks - node.tasks, stragglers - node.stragglers);
        let share = (others > 0).then(|| other_stragglers as f64 / others as f64);
        let by_mean = node.mean.is_some_and(|mean| mean >= settings.slow_mean);
        let more = |(own, others): (f64, f64)| own > 0.0 && own >= settings.slow_straggler_ratio * others;
        node.others_straggler_share = share;
        node.clearly_slow = by_mean || node.straggler_share.zip(share).is_some_and(more);
        let few = node.level.is_none() && node.tasks >= settings.suspect_tasks.max(1);
        node.suspected = few && others > 0 && node.stragglers == node.tasks;
    }
}

/// Suspected nodes first, then ranked nodes, worst first, then the others; ties by name.
pub(super) fn order(a: &Node, b: &Node, by: Indicator) -> Ordering {
    let unranked = |node: &Node| node.level.is_none();
    let value = |node: &Node| match by {
        Indicator::Level | Indicator::Mean => node.mean,
        Indicator::Deviation => node.deviation,
        Indicator::Quantile => node.quantile,
        Indicator::ExtremeValue => node.extreme_value,
        Indicator::StragglerShare => node.straggler_share,
    };
    let level = |node: &Node| if by == Indicator::Level { node.level } else { None };
    b.suspected
        .cmp(&a.suspected)
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
