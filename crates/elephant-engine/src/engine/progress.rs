//! The progress of a run, for progress bars.

use std::sync::atomic::{AtomicU64, Ordering};

use elephant_input::inventory::Source;

/// Counters that grow while histories are read. Any thread may read them.
///
/// ```
/// use elephant_engine::engine::{Options, Progress, analyze_with};
/// use elephant_ruleset::RuleSet;
///
/// let progress = Progress::default();
/// analyze_with(&["../../testdata/hadoop1".into()], &RuleSet::new(elephant_heuristics::BUILT_IN)?, Options::default(), &progress);
/// let so_far = progress.so_far();
/// assert_eq!((so_far.histories_read, so_far.histories_found), (1, Some(1)));
/// # Ok::<(), elephant_ruleset::RuleError>(())
/// ```
#[derive(Debug, Default)]
pub struct Progress {
    /// The count plus one; 0 means that the count is not known yet.
    found: AtomicU64,
    read: AtomicU64,
    bytes_found: AtomicU64,
    bytes_read: AtomicU64,
    findings: AtomicU64,
}

/// The values of [`Progress`] at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SoFar {
    /// Histories below the paths; `None` during the search for files.
    pub histories_found: Option<u64>,
    /// Histories that were read to the end.
    pub histories_read: u64,
    /// Stored bytes of all histories; streams count as 0.
    pub bytes_found: u64,
    /// Stored bytes of the histories that were read.
    pub bytes_read: u64,
    /// Findings of at least low severity.
    pub findings: u64,
}

impl Progress {
    /// The current values.
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

    /// Records more sources, with the stored bytes of each.
    pub(super) fn found(&self, stored: &[u64]) {
        self.bytes_found.fetch_add(stored.iter().sum(), Ordering::Relaxed);
        let is_first = u64::from(self.found.load(Ordering::Relaxed) == 0);
        self.found.fetch_add(stored.len() as u64 + is_first, Ordering::Relaxed);
    }

    pub(super) fn read(&self, stored: u64) {
        self.read.fetch_add(1, Ordering::Relaxed);
        self.bytes_read.fetch_add(stored, Ordering::Relaxed);
    }

    /// Forgets the findings, because all histories are judged again.
    pub(super) fn start_again(&self) {
        self.findings.store(0, Ordering::Relaxed);
    }

    pub(super) fn findings(&self, count: u64) {
        self.findings.fetch_add(count, Ordering::Relaxed);
    }
}

/// Stored bytes of a source, 0 for streams.
pub(super) fn stored(source: &Source) -> u64 {
    source.parts.iter().filter_map(elephant_input::part::Part::stored_len).sum()
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
        progress.found(&[3]);
        progress.found(&[4]);
        progress.read(4);
        progress.findings(2);
        let expected =
            SoFar { histories_found: Some(2), histories_read: 1, bytes_found: 7, bytes_read: 4, findings: 2 };
        assert_eq!(progress.so_far(), expected);
    }
}
