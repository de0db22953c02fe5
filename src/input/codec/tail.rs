//! Bytes behind the end of compressed data.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

const NONE: u8 = 0;
const PADDING: u8 = 1;
const FOREIGN: u8 = 2;

/// What follows the last member of a stream and was left out; known once the stream was read to its end. Clones tell the
/// same.
#[derive(Debug, Clone, Default)]
pub struct Tail(Arc<AtomicU8>);

impl Tail {
    /// Notes that something follows, which begins with `first`.
    pub(super) fn found(&self, first: &[u8]) {
        // Tapes and block stores fill up with zeros.
        let kind = if first.iter().all(|byte| *byte == 0) { PADDING } else { FOREIGN };
        self.0.fetch_max(kind, Ordering::Relaxed);
    }

    /// Whether anything follows.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.0.load(Ordering::Relaxed) > NONE
    }

    /// Whether what follows is more than padding: another stream may have been put there, and been damaged.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        self.0.load(Ordering::Relaxed) == FOREIGN
    }
}
