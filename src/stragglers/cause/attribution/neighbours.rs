//! A control for causes in the node: tasks of the same group that ran on it at the same time and took as long as usual.

use std::collections::BTreeMap;

use super::LabelledGroup;
use crate::model::Symbol;
use crate::model::table::TimePoint;
use crate::units::{Millis, Timestamp};

/// So many usual tasks next to a straggler refute that its node was slow. One may have had luck.
const ENOUGH: usize = 2;

/// The usual tasks of a group by node, with start and end, in the order of their starts.
pub(super) struct Neighbours {
    usual: BTreeMap<Symbol, Vec<(Timestamp, Timestamp)>>,
    /// The longest of them.
    longest: Millis,
}

impl Neighbours {
    /// Tasks that took at most `usual_to` seconds.
    pub(super) fn of(labelled: &LabelledGroup<'_>, usual_to: Option<f64>) -> Self {
        let attempts = &labelled.group.attempts;
        let mut usual: BTreeMap<Symbol, Vec<(Timestamp, Timestamp)>> = BTreeMap::new();
        let mut longest = Millis::ZERO;
        let limit = usual_to.unwrap_or(f64::NEG_INFINITY);
        for task in labelled.executions.tasks.iter().filter(|task| task.duration <= limit) {
            let row = task.attempt();
            let times = attempts.time(row, TimePoint::Start).zip(attempts.time(row, TimePoint::Finish));
            if let (Some(node), Some((start, finish))) = (attempts.node(row), times) {
                usual.entry(node).or_default().push((start, finish));
                longest = longest.max(Millis::between(start, finish).unwrap_or_default());
            }
        }
        for tasks in usual.values_mut() {
            tasks.sort_unstable();
        }
        Self { usual, longest }
    }

    /// Whether enough of them ran on `node` at some time from `start` to `finish`.
    pub(super) fn refute(&self, node: Symbol, start: Timestamp, finish: Timestamp) -> bool {
        let Some(tasks) = self.usual.get(&node) else { return false };
        // Those that started earlier than this had ended by `start`.
        let earliest = start.as_millis().saturating_sub_unsigned(self.longest.get());
        let from = tasks.partition_point(|&(began, _)| began.as_millis() < earliest);
        let tasks = tasks.get(from..).unwrap_or_default();
        let overlapping =
            tasks.iter().take_while(|&&(began, _)| began < finish).filter(|&&(_, end)| end > start);
        overlapping.take(ENOUGH).count() >= ENOUGH
    }
}
