//! How many blocks of a log are in flight, given the logs that are read at the same time.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of blocks that each thread parses before all threads synchronise. Logs that are read at the same time share
/// one block for each thread, because a thread that waits for one log works on another; but each log gets at least this
/// many blocks. A single thread waits for no other, so it gets a single block, which stays in its cache.
const BLOCKS_PER_THREAD: usize = 4;

/// Number of logs that the process reads at this moment.
static BEING_READ: AtomicUsize = AtomicUsize::new(0);

/// A log that is being read, until it is dropped.
pub(super) struct BeingRead;

impl BeingRead {
    pub(super) fn start() -> Self {
        BEING_READ.fetch_add(1, Ordering::Relaxed);
        Self
    }

    /// The number of blocks of a batch. If each log had blocks for all threads, eight threads that read eight logs would hold
    /// eight times what they can parse. It changes nothing but memory and speed, so it may depend on what other threads do.
    pub(super) fn width() -> usize {
        width_among(rayon::current_num_threads(), BEING_READ.load(Ordering::Relaxed))
    }
}

impl Drop for BeingRead {
    fn drop(&mut self) {
        BEING_READ.fetch_sub(1, Ordering::Relaxed);
    }
}

fn width_among(threads: usize, logs: usize) -> usize {
    if threads == 1 {
        return 1;
    }
    let of_all = if logs > 1 { threads / logs } else { threads.saturating_mul(BLOCKS_PER_THREAD) };
    of_all.max(BLOCKS_PER_THREAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_that_are_read_together_share_the_blocks() {
        assert_eq!([1, 2, 8].map(|threads| width_among(threads, 1)), [1, 8, 32]);
        let together = [(2, 2), (8, 8), (64, 2), (64, 12)];
        assert_eq!(together.map(|(threads, logs)| width_among(threads, logs)), [4, 4, 32, 5]);
    }
}
