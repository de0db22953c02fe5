//! The tasks of a group, one row each.

use std::sync::LazyLock;

use super::Outcome;
use super::rows::{Content, Rows};
use crate::model::{Column, Symbol};
use crate::units::Timestamp;

/// The tasks of a group, one row each.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    rows: Rows<TaskRows>,
}

/// The rows of a table that has some.
#[derive(Debug, Clone, Default)]
struct TaskRows {
    number: Column,
    start: Column,
    finish: Column,
    outcomes: Vec<Outcome>,
    representative: Column,
    split_hosts: Vec<Symbol>,
    split_host_starts: Column,
    split_host_counts: Column,
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
    pub(crate) fn push(&mut self, number: u32) -> usize {
        let row = self.rows.outcomes.len();
        self.rows.outcomes.push(Outcome::Unfinished);
        self.rows.number.push(Some(i64::from(number)));
        let len = row + 1;
        let rows = &mut *self.rows;
        for column in [
            &mut rows.start,
            &mut rows.finish,
            &mut rows.representative,
            &mut rows.split_host_starts,
            &mut rows.split_host_counts,
        ] {
            column.grow(len);
        }
        row
    }

    /// The task's number within the job, the last part of its id.
    #[must_use]
    pub fn number(&self, row: usize) -> Option<u32> {
        self.rows.number.get(row).and_then(|n| u32::try_from(n).ok())
    }

    /// When the task was scheduled.
    #[must_use]
    pub fn start(&self, row: usize) -> Option<Timestamp> {
        self.rows.start.get(row).map(Timestamp::from_millis)
    }

    /// When the task ended.
    #[must_use]
    pub fn finish(&self, row: usize) -> Option<Timestamp> {
        self.rows.finish.get(row).map(Timestamp::from_millis)
    }

    /// How the task ended.
    #[must_use]
    pub fn outcome(&self, row: usize) -> Outcome {
        self.rows.outcomes.get(row).copied().unwrap_or_default()
    }

    /// Number of tasks with this outcome.
    pub(super) fn count(&self, outcome: Outcome) -> u64 {
        self.rows.outcomes.iter().filter(|&&o| o == outcome).count() as u64
    }

    /// The row of the task's representative attempt.
    #[must_use]
    pub fn representative(&self, row: usize) -> Option<usize> {
        self.rows.representative.get(row).and_then(|r| usize::try_from(r).ok())
    }

    pub(crate) fn set_start(&mut self, row: usize, at: Option<Timestamp>) {
        self.rows.start.set(row, at.map(Timestamp::as_millis));
    }

    pub(crate) fn set_finish(&mut self, row: usize, at: Option<Timestamp>) {
        self.rows.finish.set(row, at.map(Timestamp::as_millis));
    }

    pub(crate) fn set_outcome(&mut self, row: usize, outcome: Outcome) {
        if let Some(slot) = self.rows.outcomes.get_mut(row) {
            *slot = outcome;
        }
    }

    pub(crate) fn set_representative(&mut self, row: usize, attempt: Option<usize>) {
        self.rows.representative.set(row, attempt.and_then(|a| i64::try_from(a).ok()));
    }

    pub(crate) fn set_split_hosts(&mut self, row: usize, hosts: impl IntoIterator<Item = Symbol>) {
        let start = self.rows.split_hosts.len();
        self.rows.split_hosts.extend(hosts);
        let count = self.rows.split_hosts.len() - start;
        if count > 0 {
            self.rows.split_host_starts.set(row, i64::try_from(start).ok());
            self.rows.split_host_counts.set(row, i64::try_from(count).ok());
        }
    }

    pub(super) fn shrink(&mut self) {
        if self.is_empty() {
            return;
        }
        let rows = &mut *self.rows;
        for column in [&mut rows.number, &mut rows.start, &mut rows.finish, &mut rows.representative] {
            column.shrink();
        }
        self.rows.outcomes.shrink_to_fit();
        self.rows.split_hosts.shrink_to_fit();
    }
}
