//! What is known of an application before its stragglers are looked at one by one: failures, warm-up, slow nodes.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::LabelledGroup;
use super::excess::{blamed, tasks_by_node};
use super::warm_up::{Place, WarmUp, warm_up};
use crate::stragglers::cause::Params;
use crate::stragglers::cause::faults::Faults;
use crate::stragglers::cause::node_test::{SlowNode, slow_nodes};
use elephant_model::model::{Application, Symbol};

/// What the causes of an application's stragglers rest on, besides the tasks of their own group.
#[derive(Debug)]
pub struct Grounds {
    pub(super) faults: Faults,
    pub(super) blame: Blame,
    /// The stragglers that warm-up explains.
    pub(super) warm: FxHashMap<Place, WarmUp>,
}

impl Grounds {
    /// Looks for failures, warm-up and slow nodes.
    #[must_use]
    pub fn of(app: &Application, groups: &[LabelledGroup<'_>], params: &Params) -> Self {
        let warm = warm_up(app, groups, params);
        let blame = Blame::of(groups, &warm.keys().copied().collect(), params);
        Self { faults: Faults::of(app), blame, warm }
    }

    /// Whether a node may be the cause of a straggler.
    #[must_use]
    pub fn suspect_nodes(&self) -> bool {
        !self.blame.slow_nodes.is_empty() || !self.faults.is_empty()
    }
}

/// Slow nodes, and what they are blamed for.
#[derive(Debug)]
pub(super) struct Blame {
    pub(super) slow_nodes: BTreeMap<Symbol, SlowNode>,
    /// The stragglers that `slow_nodes` are blamed for.
    pub(super) stragglers: FxHashSet<Place>,
}

impl Blame {
    pub(super) fn of(groups: &[LabelledGroup<'_>], explained: &FxHashSet<Place>, params: &Params) -> Self {
        let slow_nodes = slow_nodes(&tasks_by_node(groups, explained), params);
        let stragglers = blamed(groups, &slow_nodes, explained);
        Self { slow_nodes, stragglers }
    }
}
