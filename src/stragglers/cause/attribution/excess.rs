//! Which stragglers on a slow node the node is blamed for: as many as it has beyond the other nodes' share, the slowest first.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::LabelledGroup;
use crate::model::Symbol;
use crate::stats::descriptive::median_in_place;
use crate::stragglers::cause::node_test::{NodeTasks, SlowNode};

/// Labelled tasks by node.
pub(super) fn tasks_by_node(groups: &[LabelledGroup<'_>]) -> BTreeMap<Symbol, NodeTasks> {
    let mut nodes: BTreeMap<Symbol, NodeTasks> = BTreeMap::new();
    for group in groups {
        for (execution, label) in group.executions.tasks.iter().zip(group.stragglers) {
            if let (Some(node), Some(straggler)) = (group.group.attempts.node(execution.attempt()), label) {
                let node = nodes.entry(node).or_default();
                node.tasks += 1;
                node.stragglers += u64::from(*straggler);
            }
        }
    }
    nodes
}

/// A straggler: the index of its group, and its place in the group.
pub(super) type Place = (usize, usize);

/// The stragglers that slow nodes are blamed for. The others would have been expected on any node.
pub(super) fn blamed(
    groups: &[LabelledGroup<'_>],
    slow_nodes: &BTreeMap<Symbol, SlowNode>,
) -> FxHashSet<Place> {
    if slow_nodes.is_empty() {
        return FxHashSet::default();
    }
    let mut by_node: BTreeMap<Symbol, Vec<(f64, Place)>> = BTreeMap::new();
    for (number, group) in groups.iter().enumerate() {
        let tasks = || group.executions.tasks.iter().zip(group.stragglers).enumerate();
        let stragglers = tasks().filter(|(_, (_, label))| **label == Some(true));
        let on_slow = stragglers.filter_map(|(place, (task, _))| {
            let node = group.group.attempts.node(task.attempt())?;
            slow_nodes.contains_key(&node).then_some((node, task.duration, (number, place)))
        });
        let on_slow: Vec<(Symbol, f64, Place)> = on_slow.collect();
        if on_slow.is_empty() {
            continue;
        }
        let mut durations: Vec<f64> = group.executions.tasks.iter().map(|task| task.duration).collect();
        let usual = median_in_place(&mut durations).filter(|usual| *usual > 0.0);
        for (node, duration, place) in on_slow {
            let times_usual = usual.map_or(f64::INFINITY, |usual| duration / usual);
            by_node.entry(node).or_default().push((times_usual, place));
        }
    }
    let mut blamed = FxHashSet::default();
    for (node, mut stragglers) in by_node {
        let excess = slow_nodes.get(&node).map_or(0, SlowNode::excess);
        stragglers.sort_by(|(one, a), (other, b)| other.total_cmp(one).then(a.cmp(b)));
        blamed.extend(stragglers.into_iter().take(excess).map(|(_, place)| place));
    }
    blamed
}
