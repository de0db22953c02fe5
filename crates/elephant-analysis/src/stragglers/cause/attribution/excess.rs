//! Selects the stragglers that a slow node is blamed for: the slowest ones, as many as it has beyond the
//! share of the other nodes.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::warm_up::Place;
use super::{LabelledGroup, StragglerCause};
use crate::stragglers::cause::Cause;
use crate::stragglers::cause::node_test::SlowNode;
use elephant_base::stats::descriptive::median_in_place;
use elephant_base::stats::strata::Strata;
use elephant_model::model::Symbol;

/// The stragglers that their data or garbage collection explains, whatever node they run on. Causes such as a
/// slow disk or network are not included, because they may be the node's own.
pub(super) fn slow_on_any_node<'a>(
    groups: &'a [LabelledGroup<'_>],
    causes: &'a [Vec<StragglerCause>],
) -> impl Iterator<Item = Place> + 'a {
    groups.iter().zip(causes).enumerate().flat_map(|(number, (group, causes))| {
        let own = causes.iter().filter(|cause| matches!(cause.primary, Cause::DataSkew | Cause::Gc));
        let rows: FxHashSet<usize> = own.map(|cause| cause.task).collect();
        let tasks = group.executions.tasks.iter().enumerate();
        tasks.filter(move |(_, task)| rows.contains(&task.task())).map(move |(place, _)| (number, place))
    })
}

/// Labelled tasks by node, compared within each group, without tasks that something else explains.
pub(super) fn tasks_by_node(
    groups: &[LabelledGroup<'_>],
    explained: &FxHashSet<Place>,
) -> BTreeMap<Symbol, Strata> {
    let mut nodes: BTreeMap<Symbol, Strata> = BTreeMap::new();
    for (number, group) in groups.iter().enumerate() {
        let tasks = group.executions.tasks.iter().zip(group.stragglers).enumerate();
        let labelled = tasks.filter_map(|(place, (execution, label))| {
            let counts = !explained.contains(&(number, place));
            Some((group.group.attempts.node(execution.attempt()), (*label)?)).filter(|_| counts)
        });
        for (node, strata) in Strata::of_stratum(labelled) {
            *nodes.entry(node).or_default() += strata;
        }
    }
    nodes
}

/// The stragglers that slow nodes are blamed for. Other stragglers would have been expected on any node.
pub(super) fn blamed(
    groups: &[LabelledGroup<'_>],
    slow_nodes: &BTreeMap<Symbol, SlowNode>,
    explained: &FxHashSet<Place>,
) -> FxHashSet<Place> {
    if slow_nodes.is_empty() {
        return FxHashSet::default();
    }
    let mut by_node: BTreeMap<Symbol, Vec<(f64, Place)>> = BTreeMap::new();
    for (number, group) in groups.iter().enumerate() {
        let tasks = || group.executions.tasks.iter().zip(group.stragglers).enumerate();
        let stragglers = tasks()
            .filter(|(place, (_, label))| **label == Some(true) && !explained.contains(&(number, *place)));
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
