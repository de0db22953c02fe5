//! A control for causes in the node: tasks of the same group that ran on it at the same time and took as long as usual.
//!
//! While a node is slow, none of its tasks takes the usual time. Outside that period, a straggler needs at
//! most the usual time for its work. So two observations show that the node was not slow: other tasks did all
//! of their work during the straggler, or other tasks show that the node was as fast as usual for longer than
//! the straggler's work takes. Tasks that only overlap a straggler's start or end show neither: they may have
//! ended when the node became slow, or started when it recovered.

use std::collections::BTreeMap;

use super::LabelledGroup;
use crate::model::Symbol;
use crate::model::table::TimePoint;
use crate::units::{Millis, Timestamp};

/// This many usual tasks next to a straggler show that its node was not slow. A single one may be chance.
const ENOUGH: usize = 2;
/// A task did its work during another if it ran at the same time for this share of its own time. Tasks that start together
/// are launched a little apart.
const ALL: f64 = 0.9;
/// A task that ran at the same time for a smaller share of its own time only touched the straggler.
const MUCH: f64 = 0.5;

/// The usual tasks of a group by node, with start and end, in the order of their starts.
pub(super) struct Neighbours {
    usual: BTreeMap<Symbol, Vec<(Timestamp, Timestamp)>>,
    /// The longest duration of these tasks.
    longest: Millis,
    /// The longest duration that counts as usual, in seconds.
    usual_to: f64,
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
        Self { usual, longest, usual_to }
    }

    /// Whether the neighbours show that `node` was not slow for a task from `start` to `finish`.
    pub(super) fn refute(&self, node: Symbol, start: Timestamp, finish: Timestamp) -> bool {
        let Some(tasks) = self.usual.get(&node) else { return false };
        // Tasks that started earlier than this had ended by `start`.
        let earliest = start.as_millis().saturating_sub_unsigned(self.longest.get());
        let from = tasks.partition_point(|&(began, _)| began.as_millis() < earliest);
        let tasks = tasks.get(from..).unwrap_or_default();
        let (mut inside, mut beside) = (0, 0);
        // Seconds in which at least one of the tasks ran, counted up to `until`.
        let (mut covered, mut until) = (0.0, start);
        for &(began, end) in tasks.iter().take_while(|&&(began, _)| began < finish) {
            let together = seconds(began.max(start), end.min(finish));
            let share = together / seconds(began, end);
            inside += usize::from(share >= ALL);
            beside += usize::from(share >= MUCH);
            covered += seconds(began.max(until), end.min(finish));
            until = until.max(end.min(finish));
            if inside >= ENOUGH || (beside >= ENOUGH && covered > self.usual_to) {
                return true;
            }
        }
        false
    }
}

/// Seconds from `from` to `to`; 0 if `to` is earlier.
fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    Millis::between(from, to).unwrap_or_default().as_f64() / 1000.0
}
