//! Buffers that are used again.

use std::sync::{Mutex, PoisonError};

/// Buffers that grew beyond this size for a long line are freed.
pub(super) const KEEP_LEN: usize = 2 << 20;

/// Buffers for the bytes of a file, which only a block that is being parsed needs. The one that was used last comes first,
/// because it is still in the processor's cache.
#[derive(Default)]
pub(super) struct Spare(Mutex<Vec<Vec<u8>>>);

impl Spare {
    pub(super) fn take(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    pub(super) fn give(&self, buffer: Vec<u8>) {
        if buffer.len() <= KEEP_LEN {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
        }
    }
}
