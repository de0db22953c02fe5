//! The tasks of a group, one row each.

use std::sync::LazyLock;

use super::Outcome;
use super::columns::Columns;
use super::order::Order;
use super::rows::{Content, Rows};
use crate::model::Symbol;
use elephant_base::units::Timestamp;

/// The tasks of a group, one row each.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    rows: Rows<TaskRows>,
}

/// The rows of a table that has some.
#[derive(Debug, Clone, Default)]
struct TaskRows {
    outcomes: Vec<Outcome>,
    fields: Columns<{ Field::COUNT }>,
    split_hosts: Vec<Symbol>,
}

/// A fact about a task; each has a column.
#[derive(Debug, Clone, Copy)]
enum Field {
    Number,
    Start,
    Finish,
    Representative,
    /// Where its hosts start in the list of all split hosts, and how many they are.
    SplitHostsStart,
    SplitHostsCount,
}

impl Field {
    const COUNT: usize = 6;
}

impl Content for TaskRows {
    fn empty() -> &'static Self {
        static EMPTY: LazyLock<TaskRows> = LazyLock::new(TaskRows::default);
        &EMPTY
    }
}

impl Tasks {
    /// Number of tasks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.outcomes.len()
    }

    /// Whether there are no tasks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.outcomes.is_empty()
    }

    /// Adds a task with its number within the job and returns its row.
    #[doc(hidden)]
    pub fn push(&mut self, number: u32) -> usize {
        let row = self.rows.outcomes.len();
        self.rows.outcomes.push(Outcome::Unfinished);
        self.set(row, Field::Number, Some(i64::from(number)));
        row
    }

    /// The task's number within the job, the last part of its id.
    #[must_use]
    #[inline]
    pub fn number(&self, row: usize) -> Option<u32> {
        self.get(row, Field::Number).and_then(|n| u32::try_from(n).ok())
    }

    /// When the task was scheduled.
    #[must_use]
    pub fn start(&self, row: usize) -> Option<Timestamp> {
        self.get(row, Field::Start).map(Timestamp::from_millis)
    }

    /// When the task ended.
    #[must_use]
    pub fn finish(&self, row: usize) -> Option<Timestamp> {
        self.get(row, Field::Finish).map(Timestamp::from_millis)
    }

    /// How the task ended.
    #[must_use]
    #[inline]
    pub fn outcome(&self, row: usize) -> Outcome {
        self.rows.outcomes.get(row).copied().unwrap_or_default()
    }

    /// Number of tasks with this outcome.
    pub(super) fn count(&self, outcome: Outcome) -> u64 {
        self.rows.outcomes.iter().filter(|&&o| o == outcome).count() as u64
    }

    /// The row of the task's representative attempt.
    #[must_use]
    #[inline]
    pub fn representative(&self, row: usize) -> Option<usize> {
        self.get(row, Field::Representative).and_then(|r| usize::try_from(r).ok())
    }

    /// Sets when the task started; `None` for unknown.
    #[doc(hidden)]
    pub fn set_start(&mut self, row: usize, at: Option<Timestamp>) {
        self.set(row, Field::Start, at.map(Timestamp::as_millis));
    }

    /// Sets when the task ended; `None` for unknown.
    #[doc(hidden)]
    pub fn set_finish(&mut self, row: usize, at: Option<Timestamp>) {
        self.set(row, Field::Finish, at.map(Timestamp::as_millis));
    }

    /// Sets how the task ended.
    #[doc(hidden)]
    pub fn set_outcome(&mut self, row: usize, outcome: Outcome) {
        if let Some(slot) = self.rows.outcomes.get_mut(row) {
            *slot = outcome;
        }
    }

    /// Sets the row of the task's representative attempt.
    #[doc(hidden)]
    pub fn set_representative(&mut self, row: usize, attempt: Option<usize>) {
        self.set(row, Field::Representative, attempt.and_then(|a| i64::try_from(a).ok()));
    }

    /// Sets the nodes that hold the task's input.
    #[doc(hidden)]
    pub fn set_split_hosts(&mut self, row: usize, hosts: impl IntoIterator<Item = Symbol>) {
        let start = self.rows.split_hosts.len();
        self.rows.split_hosts.extend(hosts);
        let count = self.rows.split_hosts.len() - start;
        if count > 0 {
            self.set(row, Field::SplitHostsStart, i64::try_from(start).ok());
            self.set(row, Field::SplitHostsCount, i64::try_from(count).ok());
        }
    }

    /// Puts rows into another order.
    pub(super) fn reorder(&mut self, order: &Order) {
        let rows = &mut *self.rows;
        rows.fields.reorder(order);
        rows.outcomes = order.iter().filter_map(|&row| rows.outcomes.get(row).copied()).collect();
    }

    /// Representative attempts have moved to these places.
    pub(super) fn rename_representatives(&mut self, places: &[usize]) {
        for row in 0..self.len() {
            if let Some(place) = self.representative(row).and_then(|row| places.get(row)) {
                self.set_representative(row, Some(*place));
            }
        }
    }

    pub(super) fn shrink(&mut self) {
        if self.is_empty() {
            return;
        }
        let rows = &mut *self.rows;
        rows.fields.shrink();
        rows.outcomes.shrink_to_fit();
        rows.split_hosts.shrink_to_fit();
    }

    /// Bytes allocated.
    pub(super) fn held(&self) -> usize {
        if self.is_empty() {
            return 0;
        }
        size_of::<TaskRows>()
            + self.rows.outcomes.capacity() * size_of::<Outcome>()
            + self.rows.fields.held()
            + self.rows.split_hosts.capacity() * size_of::<Symbol>()
    }

    #[inline]
    fn get(&self, row: usize, field: Field) -> Option<i64> {
        self.rows.fields.get(field as usize, row)
    }

    fn set(&mut self, row: usize, field: Field, value: Option<i64>) {
        if row < self.len() {
            self.rows.fields.set(field as usize, row, value);
        }
    }
}
