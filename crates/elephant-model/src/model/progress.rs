//! Progress arrays of Hadoop's attempts: wall time, CPU time and memory per twelfth of the progress.
//!
//! `ProgressSplitsBlock` writes four arrays of (normally) twelve integers for each finished attempt. They are
//! kept for replaying stragglers, packed as zigzag varints of successive differences: about 100 bytes per
//! attempt instead of 192.

/// The four arrays of one attempt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgressSplits {
    /// Wall-clock milliseconds spent in each part of the progress (`clockSplits`).
    pub clock_ms: Vec<i32>,
    /// CPU milliseconds spent in each part (`cpuUsages`).
    pub cpu_ms: Vec<i32>,
    /// Virtual memory in KiB at each part (`vMemKbytes`).
    pub virtual_kib: Vec<i32>,
    /// Physical memory in KiB at each part (`physMemKbytes`).
    pub physical_kib: Vec<i32>,
}

#[doc(hidden)]
impl ProgressSplits {
    /// Whether all arrays are empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.arrays().into_iter().all(Vec::is_empty)
    }

    /// Clears the arrays but keeps their allocations.
    pub fn clear(&mut self) {
        for array in [&mut self.clock_ms, &mut self.cpu_ms, &mut self.virtual_kib, &mut self.physical_kib] {
            array.clear();
        }
    }

    fn arrays(&self) -> [&Vec<i32>; 4] {
        [&self.clock_ms, &self.cpu_ms, &self.virtual_kib, &self.physical_kib]
    }
}

/// The packed progress arrays of many attempts.
#[derive(Debug, Clone, Default)]
pub struct ProgressLog {
    bytes: Vec<u8>,
    /// Start of each row's bytes, plus one; 0 for a row without arrays.
    starts: Vec<u64>,
}

impl ProgressLog {
    /// Stores the arrays of `row`, replacing earlier ones.
    pub(crate) fn set(&mut self, row: usize, splits: &ProgressSplits) {
        if splits.is_empty() {
            return;
        }
        if self.starts.len() <= row {
            self.starts.resize(row + 1, 0);
        }
        let start = self.bytes.len() as u64 + 1;
        if let Some(slot) = self.starts.get_mut(row) {
            *slot = start;
        }
        for array in splits.arrays() {
            write_varint(&mut self.bytes, array.len() as u64);
            let mut previous = 0i64;
            for &value in array {
                let step = i64::from(value) - previous;
                write_varint(&mut self.bytes, zigzag(step));
                previous = i64::from(value);
            }
        }
    }

    /// Puts rows into another order.
    pub(crate) fn reorder(&mut self, order: &[usize]) {
        if !self.starts.is_empty() {
            let start = |&row: &usize| self.starts.get(row).copied().unwrap_or_default();
            self.starts = order.iter().map(start).collect();
        }
    }

    /// The arrays of `row`; `None` if the history has none.
    #[must_use]
    pub(crate) fn get(&self, row: usize) -> Option<ProgressSplits> {
        let start = usize::try_from(self.starts.get(row)?.checked_sub(1)?).ok()?;
        let mut rest = self.bytes.get(start..)?;
        let mut array = || -> Option<Vec<i32>> {
            let len = read_varint(&mut rest)?;
            let mut previous = 0i64;
            (0..len)
                .map(|_| {
                    previous += unzigzag(read_varint(&mut rest)?);
                    i32::try_from(previous).ok()
                })
                .collect()
        };
        Some(ProgressSplits {
            clock_ms: array()?,
            cpu_ms: array()?,
            virtual_kib: array()?,
            physical_kib: array()?,
        })
    }

    /// Bytes allocated.
    #[must_use]
    pub(crate) fn held(&self) -> usize {
        self.bytes.capacity() + self.starts.capacity() * size_of::<u64>()
    }

    /// Frees unused capacity.
    pub(crate) fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.starts.shrink_to_fit();
    }
}

const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

const fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -((value & 1).cast_signed())
}

fn write_varint(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            out.push(low & 0x7f);
            return;
        }
        out.push(low | 0x80);
    }
}

fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn arrays_round_trip(
            rows in prop::collection::vec(prop::collection::vec(prop::collection::vec(any::<i32>(), 0..14), 4), 1..8)
        ) {
            let mut log = ProgressLog::default();
            let rows: Vec<ProgressSplits> = rows.into_iter().map(|a| {
                let mut a = a.into_iter();
                let mut next = || a.next().unwrap_or_default();
                ProgressSplits { clock_ms: next(), cpu_ms: next(), virtual_kib: next(), physical_kib: next() }
            }).collect();
            for (row, splits) in rows.iter().enumerate() {
                log.set(row, splits);
            }
            for (row, splits) in rows.iter().enumerate() {
                let expected = (!splits.is_empty()).then(|| splits.clone());
                prop_assert_eq!(log.get(row), expected);
            }
            prop_assert_eq!(log.get(rows.len()), None);
        }
    }
}
