//! Bytes behind the end of compressed data.

use std::io::{self, BufRead};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::input::lookahead::Lookahead;

const NONE: u8 = 0;
const PADDING: u8 = 1;
const FOREIGN: u8 = 2;
/// Zeros are passed over as far as this; behind more of them nobody has put a history.
const MOST_PADDING: usize = 16 << 20;

/// What follows the last member of a stream and was left out; known once the stream was read to its end. Clones tell the
/// same.
#[derive(Debug, Clone, Default)]
pub struct Tail(Arc<AtomicU8>);

impl Tail {
    /// Notes what follows: tapes and block stores fill up with zeros.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn look_at(&self, rest: &mut Lookahead) -> io::Result<()> {
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
