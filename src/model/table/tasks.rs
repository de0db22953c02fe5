//! The tasks of a group, one row each.

use super::Outcome;
use crate::model::{Column, Symbol};
use crate::units::Timestamp;

/// The tasks of a group, one row each.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    number: Column,
    start: Column,
    finish: Column,
    outcomes: Vec<Outcome>,
    representative: Column,
    split_hosts: Vec<Symbol>,
    split_host_starts: Column,
    split_host_counts: Column,
}

impl Tasks {
    /// Number of tasks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.outcomes.len()
    }

    /// Whether there are no tasks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.outcomes.is_empty()
    }

    /// Adds a task with its number within the job and returns its row.
    pub(crate) fn push(&mut self, number: u32) -> usize {
        let row = self.outcomes.len();
        self.outcomes.push(Outcome::Unfinished);
        self.number.push(Some(i64::from(number)));
        let len = row + 1;
        for column in [
            &mut self.start,
            &mut self.finish,
            &mut self.representative,
            &mut self.split_host_starts,
            &mut self.split_host_counts,
        ] {
            column.grow(len);
        }
        row
    }

    /// The task's number within the job, the last part of its id.
    #[must_use]
    pub fn number(&self, row: usize) -> Option<u32> {
        self.number.get(row).and_then(|n| u32::try_from(n).ok())
    }

    /// When the task was scheduled.
    #[must_use]
    pub fn start(&self, row: usize) -> Option<Timestamp> {
        self.start.get(row).map(Timestamp::from_millis)
    }

    /// When the task ended.
    #[must_use]
    pub fn finish(&self, row: usize) -> Option<Timestamp> {
        self.finish.get(row).map(Timestamp::from_millis)
    }

    /// How the task ended.
    #[must_use]
    pub fn outcome(&self, row: usize) -> Outcome {
        self.outcomes.get(row).copied().unwrap_or_default()
    }

    /// Number of tasks with this outcome.
    pub(super) fn count(&self, outcome: Outcome) -> u64 {
        self.outcomes.iter().filter(|&&o| o == outcome).count() as u64
    }

    /// The row of the task's representative attempt.
    #[must_use]
    pub fn representative(&self, row: usize) -> Option<usize> {
        self.representative.get(row).and_then(|r| usize::try_from(r).ok())
    }

    pub(crate) fn set_start(&mut self, row: usize, at: Option<Timestamp>) {
        self.start.set(row, at.map(Timestamp::as_millis));
    }

    pub(crate) fn set_finish(&mut self, row: usize, at: Option<Timestamp>) {
        self.finish.set(row, at.map(Timestamp::as_millis));
    }

    pub(crate) fn set_outcome(&mut self, row: usize, outcome: Outcome) {
        if let Some(slot) = self.outcomes.get_mut(row) {
            *slot = outcome;
        }
    }

    pub(crate) fn set_representative(&mut self, row: usize, attempt: Option<usize>) {
        self.representative.set(row, attempt.and_then(|a| i64::try_from(a).ok()));
    }

    pub(crate) fn set_split_hosts(&mut self, row: usize, hosts: impl IntoIterator<Item = Symbol>) {
        let start = self.split_hosts.len();
        self.split_hosts.extend(hosts);
        let count = self.split_hosts.len() - start;
        if count > 0 {
            self.split_host_starts.set(row, i64::try_from(start).ok());
            self.split_host_counts.set(row, i64::try_from(count).ok());
        }
    }

    pub(super) fn shrink(&mut self) {
        for column in [&mut self.number, &mut self.start, &mut self.finish, &mut self.representative] {
            column.shrink();
        }
        self.outcomes.shrink_to_fit();
        self.split_hosts.shrink_to_fit();
    }
}
