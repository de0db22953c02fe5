//! A control for contention: tasks of the same group that ran on the node at the same time and took as long as usual.
//!
//! While a node is busy, all of its tasks take longer. Tasks that only overlap a straggler's start or end do not tell:
//! they may have ended when the node became busy, or started when it was free again. So a task counts if at least half of
//! its own time lies within the straggler's.

use std::collections::BTreeMap;

use super::LabelledGroup;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::Symbol;
use elephant_model::model::table::TimePoint;

/// This many usual tasks next to a straggler show that its node was not busy. A single one may be chance.
const ENOUGH: usize = 2;
/// A task that ran at the same time for a smaller share of its own time only touched the straggler.
const MUCH: f64 = 0.5;

/// The usual tasks of a group by node, with start and end, in the order of their starts.
pub(super) struct Neighbours {
    usual: BTreeMap<Symbol, Vec<(Timestamp, Timestamp)>>,
    /// The longest duration of these tasks.
    longest: Millis,
}

impl Neighbours {
    /// Tasks that took at most `usual_to` seconds.
    pub(super) fn of(labelled: &LabelledGroup<'_>, usual_to: Option<f64>) -> Self {
        let attempts = &labelled.group.attempts;
        let mut usual: BTreeMap<Symbol, Vec<(Timestamp, Timestamp)>> = BTreeMap::new();
        let mut longest = Millis::ZERO;
        let usual_to = usual_to.unwrap_or(f64::NEG_INFINITY);
        for task in labelled.executions.tasks.iter().filter(|task| task.duration <= usual_to) {
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

    /// Whether the neighbours show that `node` was not busy for a task from `start` to `finish`.
    pub(super) fn refute(&self, node: Symbol, start: Timestamp, finish: Timestamp) -> bool {
        let Some(tasks) = self.usual.get(&node) else { return false };
        // Tasks that started earlier than this had ended by `start`.
        let earliest = start.as_millis().saturating_sub_unsigned(self.longest.get());
        let from = tasks.partition_point(|&(began, _)| began.as_millis() < earliest);
        let tasks = tasks.get(from..).unwrap_or_default();
        let together = |&(began, end): &(Timestamp, Timestamp)| {
            let shared = seconds(began.max(start), end.min(finish));
            shared > 0.0 && shared >= MUCH * seconds(began, end)
        };
        let began_before = tasks.iter().take_while(|&&(began, _)| began < finish);
        began_before.filter(|task| together(task)).nth(ENOUGH - 1).is_some()
    }
}

/// Seconds from `from` to `to`; 0 if `to` is earlier.
fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    Millis::between(from, to).unwrap_or_default().as_f64() / 1000.0
}
