//! How far a run is, for whoever wants to show it.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::input::inventory::Source;

/// Counts that grow while histories are read, safe to look at from another thread.
///
/// ```
/// use elephant_rs::engine::{Options, Progress, analyze_with};
/// use elephant_rs::rules::RuleSet;
///
/// let progress = Progress::default();
/// analyze_with(&["testdata/hadoop1".into()], &RuleSet::built_in()?, Options::default(), &progress);
/// let so_far = progress.so_far();
/// assert_eq!((so_far.histories_read, so_far.histories_found), (1, Some(1)));
/// # Ok::<(), elephant_rs::rules::RuleError>(())
/// ```
#[derive(Debug, Default)]
pub struct Progress {
    /// One more than were found, so that 0 means nobody knows.
    found: AtomicU64,
    read: AtomicU64,
    bytes_found: AtomicU64,
    bytes_read: AtomicU64,
    findings: AtomicU64,
}

/// What [`Progress`] told at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SoFar {
    /// Histories below the paths; `None` while they are looked for.
    pub histories_found: Option<u64>,
    /// Histories that were read to their end.
    pub histories_read: u64,
    /// Bytes of all histories as they are stored; streams count nothing.
    pub bytes_found: u64,
    /// Bytes of those that were read.
    pub bytes_read: u64,
    /// Findings of at least low severity.
    pub findings: u64,
}

impl Progress {
    /// The counts of this moment.
    #[must_use]
    pub fn so_far(&self) -> SoFar {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        SoFar {
            histories_found: load(&self.found).checked_sub(1),
            histories_read: load(&self.read),
            bytes_found: load(&self.bytes_found),
            bytes_read: load(&self.bytes_read),
            findings: load(&self.findings),
        }
    }

    /// Takes note of all sources, with the bytes that each has stored.
    pub(super) fn found(&self, stored: &[u64]) {
        self.bytes_found.store(stored.iter().sum(), Ordering::Relaxed);
        self.found.store(stored.len() as u64 + 1, Ordering::Relaxed);
    }

    pub(super) fn read(&self, stored: u64) {
        self.read.fetch_add(1, Ordering::Relaxed);
        self.bytes_read.fetch_add(stored, Ordering::Relaxed);
    }

    pub(super) fn findings(&self, count: u64) {
        self.findings.fetch_add(count, Ordering::Relaxed);
    }
}

/// Bytes of a source as they are stored, 0 for streams.
pub(super) fn stored(source: &Source) -> u64 {
    source.parts.iter().filter_map(crate::input::part::Part::stored_len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_known_before_the_search_ends() {
        let progress = Progress::default();
        assert_eq!(progress.so_far(), SoFar::default());
        progress.found(&[]);
        assert_eq!(progress.so_far().histories_found, Some(0));
        progress.found(&[3, 4]);
        progress.read(4);
        progress.findings(2);
        let expected =
            SoFar { histories_found: Some(2), histories_read: 1, bytes_found: 7, bytes_read: 4, findings: 2 };
        assert_eq!(progress.so_far(), expected);
    }
}
