//! Bytes after the end of compressed data.

use std::io::{self, BufRead};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::lookahead::Lookahead;
const NONE: u8 = 0;
const PADDING: u8 = 1;
const FOREIGN: u8 = 2;
/// Zeros are skipped up to this many bytes; no real file has data after more padding.
const MOST_PADDING: usize = 16 << 20;

/// What follows the last member of a stream and was ignored; known once the stream was read to its end.
/// Clones share the result.
#[derive(Debug, Clone, Default)]
pub struct Tail(Arc<AtomicU8>);

impl Tail {
    /// Classifies what follows: tapes and block stores pad with zeros.
    ///
    /// # Errors
    /// If the bytes cannot be read.
    pub(super) fn classify(&self, rest: &mut Lookahead) -> io::Result<()> {
        let mut passed = 0;
        while passed < MOST_PADDING {
            let bytes = rest.fill_buf()?;
            let count = bytes.len();
            if count == 0 {
                break;
            }
            let kind = if bytes.iter().all(|byte| *byte == 0) { PADDING } else { FOREIGN };
            self.0.fetch_max(kind, Ordering::Relaxed);
            if kind == FOREIGN {
                break;
            }
            rest.consume(count);
            passed += count;
        }
        Ok(())
    }

    /// Whether any bytes follow.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.0.load(Ordering::Relaxed) > NONE
    }

    /// Whether the bytes are more than padding: perhaps another stream that is damaged.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        self.0.load(Ordering::Relaxed) == FOREIGN
    }
}
