//! Columns of a table, most of them without values.

use crate::model::Column;

/// Up to `N` columns, of which only those with values take space, because an application may have a hundred
/// thousand groups.
#[derive(Debug, Clone)]
pub(super) struct Columns<const N: usize> {
    /// The index into `present` plus one; 0 for a column without values.
    slots: [u8; N],
    present: Vec<Column>,
}

impl<const N: usize> Default for Columns<N> {
    fn default() -> Self {
        Self { slots: [0; N], present: Vec::new() }
    }
}

impl<const N: usize> Columns<N> {
    /// The column at `index`, if it has a value.
    pub(super) fn column(&self, index: usize) -> Option<&Column> {
        let slot = usize::from(*self.slots.get(index)?);
        self.present.get(slot.checked_sub(1)?)
    }

    pub(super) fn get(&self, index: usize, row: usize) -> Option<i64> {
        self.column(index)?.get(row)
    }

    #[inline]
    pub(super) fn set(&mut self, index: usize, row: usize, value: Option<i64>) {
        let Some(slot) = self.slots.get_mut(index) else { return };
        if *slot == 0 {
            let Some(next) = u8::try_from(self.present.len() + 1).ok().filter(|_| value.is_some()) else {
                return;
            };
            self.present.push(Column::default());
            *slot = next;
        }
        if let Some(column) = self.present.get_mut(usize::from(*slot) - 1) {
            column.put(row, value);
        }
    }

    /// Whether a row has any value.
    pub(super) fn any(&self, row: usize) -> bool {
        self.present.iter().any(|column| column.get(row).is_some())
    }

    pub(super) fn shrink(&mut self) {
        self.present.iter_mut().for_each(Column::shrink);
        self.present.shrink_to_fit();
    }
}
