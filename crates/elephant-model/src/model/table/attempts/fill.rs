//! What parsers write into the table of attempts.

use super::super::{EndReason, Locality, Outcome, TimePoint};
use super::{Attempts, Label, MAX_COUNTER_VALUE};
use crate::model::counters::{Counter, CounterSet};
use crate::model::{ProgressSplits, Symbol};
use elephant_base::units::Timestamp;

#[doc(hidden)]
impl Attempts {
    /// Sets how the attempt ended.
    pub fn set_outcome(&mut self, row: usize, outcome: Outcome) {
        if let Some(slot) = self.rows.outcomes.get_mut(row) {
            *slot = outcome;
        }
    }

    /// Sets when the attempt reached a point; `None` for unknown.
    pub fn set_time(&mut self, row: usize, point: TimePoint, at: Option<Timestamp>) {
        self.rows.times.set(point as usize, row, at.map(Timestamp::as_millis));
        self.rows.run_times = None;
    }

    /// Sets the node that the attempt ran on.
    pub fn set_node(&mut self, row: usize, node: Option<Symbol>) {
        self.set_label(Label::Node, row, node.map(|s| i64::from(s.index())));
    }

    /// Sets the rack of that node.
    pub fn set_rack(&mut self, row: usize, rack: Option<Symbol>) {
        self.set_label(Label::Rack, row, rack.map(|s| i64::from(s.index())));
    }

    /// Sets how far the attempt was from its data.
    pub fn set_locality(&mut self, row: usize, locality: Option<Locality>) {
        self.set_label(Label::Locality, row, locality.map(|l| l as i64));
    }

    /// Sets whether the attempt is a speculative copy; `None` for unknown.
    pub fn set_speculative(&mut self, row: usize, speculative: Option<bool>) {
        self.set_label(Label::Speculative, row, speculative.map(i64::from));
    }

    /// Sets the executor that the attempt ran on.
    pub fn set_executor(&mut self, row: usize, executor: Option<Symbol>) {
        self.set_label(Label::Executor, row, executor.map(|s| i64::from(s.index())));
    }

    /// Sets the own numeric id of the attempt ("Task ID" in Spark).
    pub fn set_id(&mut self, row: usize, id: Option<u64>) {
        self.set_label(Label::Id, row, id.and_then(|id| i64::try_from(id).ok()));
    }

    /// Sets why the attempt ended.
    pub fn set_end_reason(&mut self, row: usize, reason: Option<EndReason>) {
        self.set_label(Label::Reason, row, reason.map(|reason| reason as i64));
    }

    /// Sets all counters of the set; others stay as they are.
    pub fn set_counters(&mut self, row: usize, counters: &CounterSet) {
        for (counter, value) in counters.iter() {
            self.set_counter(row, counter, Some(value));
        }
        if counters.is_damaged() {
            counters.unreadable().iter().for_each(|counter| self.mark_unreadable(row, counter));
        }
        self.rows.others.note_unreadable(counters);
    }

    /// Sets a counter; an impossible value is recorded as unreadable.
    #[inline]
    pub fn set_counter(&mut self, row: usize, counter: Counter, value: Option<i64>) {
        let known = match value {
            Some(value) if !(0..=MAX_COUNTER_VALUE).contains(&value) => {
                self.mark_unreadable(row, counter);
                Some(value).filter(|value| *value < 0)
            }
            known => known,
        };
        self.rows.counters.set(counter.index(), row, known);
        self.set_beyond(row, counter, 0);
    }

    /// Records that a counter is present but cannot be read.
    #[cold]
    pub fn mark_unreadable(&mut self, row: usize, counter: Counter) {
        if let Ok(row) = u32::try_from(row) {
            self.rows.unreadable.entry(row).or_default().insert(counter);
            self.rows.any_unreadable.insert(counter);
        }
    }

    /// Records that the value of a counter is impossible, and so unknown.
    #[cold]
    pub fn forget_counter(&mut self, row: usize, counter: Counter) {
        self.rows.counters.set(counter.index(), row, None);
        self.set_beyond(row, counter, 0);
        self.mark_unreadable(row, counter);
    }

    /// Adds the diagnostics of an attempt.
    pub fn set_diagnostics(&mut self, row: usize, text: Symbol) {
        if let Ok(row) = u32::try_from(row) {
            self.rows.diagnostics.push((row, text));
        }
    }

    /// Sets the attempt's progress arrays.
    pub fn set_progress(&mut self, row: usize, splits: &ProgressSplits) {
        self.rows.progress.set(row, splits);
    }
}
