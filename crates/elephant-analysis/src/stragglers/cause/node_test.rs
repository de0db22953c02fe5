//! Nodes with significantly more stragglers than other nodes.
//!
//! A node is compared with the other nodes within each group of tasks, because groups differ in their share
//! of stragglers, and nodes differ in the groups that they run. [`Strata`] gives the probability of so many
//! stragglers if only chance decided where they ran. With many nodes, some pass any limit by chance, so a
//! node is called slow only if its p-value, adjusted for the number of nodes, is below the false discovery
//! rate. With many tasks the smallest difference is significant, so the effect must be large as well:
//! otherwise the node is only suspected.

use elephant_base::whole::Whole;
use std::collections::BTreeMap;

use super::Params;
use elephant_base::state::State;
use elephant_base::stats::false_discovery::benjamini_hochberg;
use elephant_base::stats::strata::Strata;
use elephant_model::model::Symbol;

/// Tasks of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
#[non_exhaustive]
pub struct NodeTasks {
    /// Tasks that have a label.
    pub tasks: u64,
    /// Stragglers among them.
    pub stragglers: u64,
}

/// A node with significantly more stragglers.
#[derive(Debug, Clone, Copy, PartialEq, State)]
#[non_exhaustive]
pub struct SlowNode {
    /// Its tasks, in groups that ran on other nodes, too.
    pub own: NodeTasks,
    /// Tasks of all other nodes in these groups.
    pub others: NodeTasks,
    /// How many of its tasks would be stragglers with the share of the other nodes in each group.
    pub expected: f64,
    /// Probability of at least this many stragglers on a node like the others.
    pub p_value: f64,
    /// The p-value adjusted for the number of nodes: the smallest false discovery rate at which the node is
    /// called slow.
    pub adjusted: f64,
    /// Whether the difference is too small to blame the node: its share of stragglers is small, or not much
    /// greater than the share of the other nodes.
    pub suspected: bool,
}

impl SlowNode {
    fn of(strata: &Strata, params: &Params) -> Option<Self> {
        let (own_share, others_share) = strata.shares()?;
        Some(Self {
            own: NodeTasks { tasks: strata.members, stragglers: strata.hits },
            others: NodeTasks { tasks: strata.other_members, stragglers: strata.other_hits },
            expected: strata.expected,
            p_value: strata.p_value(),
            adjusted: 1.0,
            suspected: own_share < params.node_rate_factor * others_share
                || own_share < params.node_straggler_share,
        })
    }

    /// The number of stragglers that the node is blamed for: those beyond the share of the other nodes; 0 if
    /// the node is only suspected.
    #[must_use]
    pub(crate) fn excess(&self) -> usize {
        if self.suspected {
            0
        } else {
            (self.own.stragglers as f64 - self.expected).round().max(0.0).as_usize()
        }
    }
}

/// The slow nodes of an application. Nodes with too few tasks are not tested, but still count among the other nodes.
#[must_use]
pub(crate) fn slow_nodes(nodes: &BTreeMap<Symbol, Strata>, params: &Params) -> BTreeMap<Symbol, SlowNode> {
    let tested: Vec<(Symbol, SlowNode)> = nodes
        .iter()
        .filter(|(_, own)| own.members >= params.node_min_tasks)
        .filter_map(|(&node, own)| Some((node, SlowNode::of(own, params)?)))
        .collect();
    let adjusted = benjamini_hochberg(&tested.iter().map(|(_, node)| node.p_value).collect::<Vec<f64>>());
    let with =
        tested.into_iter().zip(adjusted).map(|((id, node), adjusted)| (id, SlowNode { adjusted, ..node }));
    with.filter(|(_, node)| node.adjusted <= params.false_discovery_rate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tasks and stragglers of each node in each group.
    fn slow(groups: &[&[(u64, u64)]], params: &Params) -> BTreeMap<Symbol, SlowNode> {
        let mut nodes: BTreeMap<Symbol, Strata> = BTreeMap::new();
        for group in groups {
            let tasks = (0..).zip(*group).flat_map(|(node, &(tasks, stragglers))| {
                (0..tasks).map(move |task| (Some(Symbol::from_index(node)), task < stragglers))
            });
            for (node, strata) in Strata::of_stratum(tasks) {
                *nodes.entry(node).or_default() += strata;
            }
        }
        slow_nodes(&nodes, params)
    }

    #[test]
    fn a_slow_node_is_found() {
        let slow = slow(&[&[(8, 0), (4, 4), (9, 0)]], &Params::default());
        assert_eq!(slow.keys().copied().collect::<Vec<_>>(), [Symbol::from_index(1)]);
        let node = slow[&Symbol::from_index(1)];
        assert_eq!((node.others.tasks, node.others.stragglers), (17, 0));
        assert!(node.p_value < 1e-3 && node.adjusted >= node.p_value);
    }

    #[test]
    fn one_straggler_or_a_single_node_is_no_evidence() {
        let params = Params::default();
        assert!(slow(&[&[(5, 1), (5, 0), (5, 0)]], &params).is_empty());
        assert!(slow(&[&[(240, 1), (1680, 0)]], &params).is_empty());
        assert!(slow(&[&[(100, 50)]], &params).is_empty());
        assert!(slow(&[&[(2, 2), (100, 0)]], &params).is_empty());
        assert!(slow(&[], &params).is_empty());
        assert!(slow(&[&[(0, 0), (0, 0)]], &Params { node_min_tasks: 0, ..params }).is_empty());
    }

    #[test]
    fn a_node_is_compared_with_others_in_the_same_group() {
        let params = Params::default();
        // The first node runs most tasks of the group in which 30 % of the tasks are slow on every node.
        assert!(slow(&[&[(10, 0), (70, 0)], &[(40, 12), (28, 8)]], &params).is_empty());
        // The first node has no stragglers in the second group, where the other node has none either.
        let found = slow(&[&[(20, 14), (60, 6)], &[(20, 0), (60, 0)]], &params);
        let node = found[&Symbol::from_index(0)];
        assert_eq!((node.own.stragglers, node.suspected, node.excess()), (14, false, 12));
        assert!((node.expected - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_significant_node_without_an_effect_is_only_suspected() {
        let slow = |own, others| {
            let slow = slow(&[&[own, others]], &Params::default());
            slow.get(&Symbol::from_index(0)).map(|node| (node.suspected, node.excess()))
        };
        // 30 % against 25 %: less than one and a half times the share of the others.
        assert_eq!(slow((3000, 900), (3000, 750)), Some((true, 0)));
        // 15 % against 5 %: most tasks of the node are as fast as elsewhere.
        assert_eq!(slow((1000, 150), (1000, 50)), Some((true, 0)));
        // 30 % against 10 %: 100 of its 300 stragglers would have been expected.
        assert_eq!(slow((1000, 300), (1000, 100)), Some((false, 200)));
    }
}
