//! Nodes with significantly more stragglers than other nodes.
//!
//! `s` of the `n` tasks on a node were stragglers. If the node were like the others, `s` would be binomial
//! with the straggler share of the others, and the one-sided p-value is `P(X >= s)`. With many nodes some
//! pass any limit by chance, so a node is called slow only if its p-value passes the procedure of Y.
//! Benjamini and Y. Hochberg, "Controlling the false discovery rate", 1995, over the nodes of the
//! application. With many tasks the smallest difference is significant, so there must be an effect as well:
//! otherwise the node is only suspected.

use std::collections::BTreeMap;

use super::Params;
use crate::model::Symbol;
use crate::state::state;

/// Tasks of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct NodeTasks {
    /// Tasks that have a label.
    pub tasks: u64,
    /// Stragglers among them.
    pub stragglers: u64,
}

state!(struct NodeTasks { tasks, stragglers });

/// A node with significantly more stragglers.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SlowNode {
    /// Its tasks.
    pub own: NodeTasks,
    /// Tasks of all other nodes.
    pub others: NodeTasks,
    /// Probability of at least this many stragglers on a node like the others.
    pub p_value: f64,
    /// The p-value adjusted for the number of nodes: the smallest false discovery rate at which the node is
    /// called slow.
    pub adjusted: f64,
    /// Whether the difference is too small to blame the node: its share of stragglers is not much greater than that of the
    /// other nodes, or it is small.
    pub suspected: bool,
}

state!(struct SlowNode { own, others, p_value, adjusted, suspected });

impl SlowNode {
    /// How many of its stragglers the node is blamed for: those beyond the share of the other nodes, none if it is only
    /// suspected.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most its stragglers
    pub(crate) fn excess(&self) -> usize {
        let expected = self.others.share().unwrap_or_default() * self.own.tasks as f64;
        if self.suspected { 0 } else { (self.own.stragglers as f64 - expected).round().max(0.0) as usize }
    }
}

impl NodeTasks {
    /// The share of stragglers.
    fn share(self) -> Option<f64> {
        (self.tasks > 0).then(|| self.stragglers as f64 / self.tasks as f64)
    }
}

/// The slow nodes of an application. Nodes with too few tasks are not tested, but still count among the other nodes.
#[must_use]
pub(crate) fn slow_nodes(nodes: &BTreeMap<Symbol, NodeTasks>, params: &Params) -> BTreeMap<Symbol, SlowNode> {
    let all = nodes.values().fold(NodeTasks::default(), |sum, node| NodeTasks {
        tasks: sum.tasks + node.tasks,
        stragglers: sum.stragglers + node.stragglers,
    });
    let tested: Vec<(Symbol, SlowNode)> = nodes
        .iter()
        .filter(|(_, own)| own.tasks >= params.node_min_tasks.max(1))
        .filter_map(|(&node, &own)| Some((node, compare(own, all, params)?)))
        .collect();
    let adjusted = benjamini_hochberg(&tested.iter().map(|(_, node)| node.p_value).collect::<Vec<f64>>());
    let with =
        tested.into_iter().zip(adjusted).map(|((id, node), adjusted)| (id, SlowNode { adjusted, ..node }));
    with.filter(|(_, node)| node.adjusted <= params.false_discovery_rate).collect()
}

/// `None` if nothing ran on other nodes.
fn compare(own: NodeTasks, all: NodeTasks, params: &Params) -> Option<SlowNode> {
    let others =
        NodeTasks { tasks: all.tasks - own.tasks, stragglers: all.stragglers.checked_sub(own.stragglers)? };
    if others.tasks == 0 {
        return None;
    }
    // With a share of zero a single straggler would convict a node, so half a straggler is added, as in
    // Jeffreys' estimate.
    let share = (others.stragglers as f64 + 0.5) / (others.tasks as f64 + 1.0);
    let p_value = binomial_upper_tail(own.tasks, own.stragglers, share);
    let (own_share, others_share) = (own.share()?, others.share()?);
    let suspected =
        own_share < params.node_rate_factor * others_share || own_share < params.node_straggler_share;
    Some(SlowNode { own, others, p_value, adjusted: 1.0, suspected })
}

/// `P(X >= s)` for `X` binomial with `n` trials of probability `p`.
///
/// Sums the tail without the mean from its largest term on, each term from the one before: `P(k + 1) / P(k) =
/// (n − k) / (k + 1) · p / (1 − p)`.
#[must_use]
pub(crate) fn binomial_upper_tail(n: u64, s: u64, p: f64) -> f64 {
    if s == 0 || p >= 1.0 {
        return 1.0;
    }
    if s > n || p <= 0.0 {
        return 0.0;
    }
    let odds = p / (1.0 - p);
    if s as f64 > n as f64 * p {
        let mut term = binomial_term(n, s, p);
        let mut sum = 0.0;
        for k in s..=n {
            sum += term;
            term *= (n - k) as f64 / (k + 1) as f64 * odds;
            if term < sum * f64::EPSILON {
                break;
            }
        }
        return sum.min(1.0);
    }
    let mut term = binomial_term(n, s - 1, p);
    let mut sum = 0.0;
    for k in (0..s).rev() {
        sum += term;
        term *= k as f64 / ((n - k + 1) as f64 * odds);
        if term < sum * f64::EPSILON {
            break;
        }
    }
    (1.0 - sum).clamp(0.0, 1.0)
}

/// `C(n, k) · p^k · (1 − p)^(n − k)`, with the product taken as a sum of logarithms.
fn binomial_term(n: u64, k: u64, p: f64) -> f64 {
    let few = k.min(n - k);
    let choose: f64 = (1..=few).map(|i| ((n - few + i) as f64 / i as f64).ln()).sum();
    (choose + k as f64 * p.ln() + (n - k) as f64 * (-p).ln_1p()).exp()
}

/// P-values adjusted for their number: for sorted values `p_(i)`, `min over j >= i of m / j · p_(j)`, at most
/// 1.
#[must_use]
pub(crate) fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let count = p_values.len() as f64;
    let mut order: Vec<(usize, f64)> = p_values.iter().copied().enumerate().collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut least = 1.0f64;
    for (rank, (place, p_value)) in order.into_iter().enumerate().rev() {
        least = least.min(p_value * (count / (rank + 1) as f64));
        if let Some(slot) = adjusted.get_mut(place) {
            *slot = least;
        }
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() <= 1e-12 * one.abs().max(other.abs()).max(1e-300)
    }

    #[test]
    fn tails_of_small_binomials() {
        assert!(close(binomial_upper_tail(3, 2, 0.5), 0.5));
        assert!(close(binomial_upper_tail(4, 4, 0.1), 1e-4));
        assert!(close(binomial_upper_tail(5, 1, 0.2), 1.0 - 0.8f64.powi(5)));
        assert!(close(binomial_upper_tail(10, 0, 0.3), 1.0));
        assert!(close(binomial_upper_tail(2, 3, 0.3), 0.0));
        assert!(close(binomial_upper_tail(2, 1, 0.0), 0.0));
        // The normal approximation 1 − Φ is far off here; this is the exact sum of 50 choose 40.. over 2^50.
        assert!((binomial_upper_tail(50, 40, 0.5) - 1.193_066_582_5e-5).abs() < 1e-12);
    }

    #[test]
    fn adjusted_values_of_benjamini_and_hochberg() {
        // m = 4: 0.01·4/1, 0.02·4/2, 0.03·4/3, 0.5·4/4.
        let adjusted = benjamini_hochberg(&[0.5, 0.01, 0.03, 0.02]);
        for (adjusted, expected) in adjusted.iter().zip([0.5, 0.04, 0.04, 0.04]) {
            assert!(close(*adjusted, expected), "{adjusted} {expected}");
        }
        assert_eq!(benjamini_hochberg(&[]), Vec::<f64>::new());
        assert_eq!(benjamini_hochberg(&[1.0]), [1.0]);
    }

    fn nodes(counts: &[(u64, u64)]) -> BTreeMap<Symbol, NodeTasks> {
        let node = |(index, &(tasks, stragglers)): (u32, &(u64, u64))| {
            (Symbol::from_index(index), NodeTasks { tasks, stragglers })
        };
        (0..).zip(counts).map(node).collect()
    }

    #[test]
    fn a_slow_node_is_found() {
        let slow = slow_nodes(&nodes(&[(8, 0), (4, 4), (9, 0)]), &Params::default());
        assert_eq!(slow.keys().copied().collect::<Vec<_>>(), [Symbol::from_index(1)]);
        let node = slow[&Symbol::from_index(1)];
        assert_eq!((node.others.tasks, node.others.stragglers), (17, 0));
        assert!(node.p_value < 1e-5 && node.adjusted >= node.p_value);
    }

    #[test]
    fn one_straggler_or_a_single_node_is_no_evidence() {
        assert!(slow_nodes(&nodes(&[(5, 1), (5, 0), (5, 0)]), &Params::default()).is_empty());
        assert!(slow_nodes(&nodes(&[(100, 50)]), &Params::default()).is_empty());
        assert!(slow_nodes(&nodes(&[(2, 2), (100, 0)]), &Params::default()).is_empty());
        assert!(slow_nodes(&BTreeMap::new(), &Params::default()).is_empty());
        assert!(
            slow_nodes(&nodes(&[(0, 0), (0, 0)]), &Params { node_min_tasks: 0, ..Params::default() })
                .is_empty()
        );
    }

    #[test]
    fn a_significant_node_without_an_effect_is_only_suspected() {
        let slow = |own, others| {
            let slow = slow_nodes(&nodes(&[own, others]), &Params::default());
            slow.get(&Symbol::from_index(0)).map(|node| (node.suspected, node.excess()))
        };
        // 30 % against 25 %: less than one and a half times the share of the others.
        assert_eq!(slow((3000, 900), (3000, 750)), Some((true, 0)));
        // 15 % against 5 %: most tasks of the node are as fast as elsewhere.
        assert_eq!(slow((1000, 150), (1000, 50)), Some((true, 0)));
        // 30 % against 10 %: 100 of its 300 stragglers would have been expected.
        assert_eq!(slow((1000, 300), (1000, 100)), Some((false, 200)));
    }

    proptest! {
        #[test]
        fn tails_decrease_and_sum_to_the_mean(n in 1u64..300, p in 0.001f64..0.999) {
            let tails: Vec<f64> = (0..=n + 1).map(|s| binomial_upper_tail(n, s, p)).collect();
            prop_assert!(tails.windows(2).all(|pair| pair[0] >= pair[1] - 1e-12));
            // The expectation is the sum of the tails.
            let mean: f64 = tails[1..].iter().sum();
            prop_assert!((mean - n as f64 * p).abs() < 1e-8 * n as f64);
        }

        #[test]
        fn adjusted_values_are_not_lower_and_keep_their_order(p_values in prop::collection::vec(0.0f64..=1.0, 0..30)) {
            let adjusted = benjamini_hochberg(&p_values);
            for (i, p) in p_values.iter().enumerate() {
                prop_assert!(adjusted[i] >= *p && adjusted[i] <= 1.0);
                for (j, other) in p_values.iter().enumerate() {
                    prop_assert!(p > other || adjusted[i] <= adjusted[j]);
                }
            }
        }
    }
}
