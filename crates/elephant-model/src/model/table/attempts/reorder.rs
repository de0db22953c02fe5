//! Rows in another order.

use super::super::order::Order;
use super::Attempts;

/// The place to which a row has moved.
pub(super) fn moved(row: u32, places: &[usize]) -> u32 {
    let place = usize::try_from(row).ok().and_then(|row| places.get(row));
    place.and_then(|&place| u32::try_from(place).ok()).unwrap_or(row)
}

impl Attempts {
    /// The tasks have moved to these places.
    pub(in super::super) fn rename_tasks(&mut self, places: &[usize]) {
        for task in &mut self.rows.task {
            *task = moved(*task, places);
        }
    }

    /// Puts rows into another order, and moves them to these places.
    pub(in super::super) fn reorder(&mut self, order: &Order, places: &[usize]) {
        let rows = &mut *self.rows;
        rows.task = order.iter().filter_map(|&row| rows.task.get(row).copied()).collect();
        rows.outcomes = order.iter().filter_map(|&row| rows.outcomes.get(row).copied()).collect();
        rows.times.reorder(order);
        rows.run_times = None;
        rows.labels.reorder(order);
        rows.counters.reorder(order);
        rows.others.rename(places);
        rows.progress.reorder(order);
        for (row, _) in &mut rows.diagnostics {
            *row = moved(*row, places);
        }
        let unreadable = std::mem::take(&mut rows.unreadable);
        rows.unreadable = unreadable.into_iter().map(|(row, mask)| (moved(row, places), mask)).collect();
    }
}
