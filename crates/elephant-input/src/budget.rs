//! The remaining budget (bytes, time) for reading one log, shared by its parts and by the threads that read
//! them.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use elephant_base::limits::{LimitReached, Limits};
use elephant_base::units::{Bytes, Millis};

/// See the module. Clones share one budget.
#[derive(Debug, Clone)]
pub struct Budget(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    left: AtomicU64,
    size: LimitReached,
    deadline: Option<(Instant, Millis)>,
}

impl Budget {
    /// The budget of a log with `stored` compressed bytes; `None` if it is not compressed or the size is
    /// unknown. The clock starts now.
    #[must_use]
    pub fn new(limits: &Limits, stored: Option<Bytes>) -> Self {
        let decoded = limits.decoded.unwrap_or(Bytes::new(u64::MAX));
        let of_ratio = stored.zip(limits.ratio).map(|(stored, ratio)| {
            let decoded = Bytes::new(stored.get().saturating_mul(ratio)).max(Limits::FREE_OF_RATIO);
            (decoded, LimitReached::Ratio { ratio, decoded })
        });
        let (most, size) = match of_ratio {
            Some((of_ratio, reached)) if of_ratio < decoded => (of_ratio, reached),
            _ => (decoded, LimitReached::Decoded(decoded)),
        };
        let end = |time: Millis| Some((Instant::now().checked_add(Duration::from_millis(time.get()))?, time));
        let deadline = limits.time.and_then(end);
        Self(Arc::new(Inner { left: AtomicU64::new(most.get()), size, deadline }))
    }

    /// A budget without limits.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::new(&Limits::NONE, None)
    }

    /// Takes `wanted` bytes, or as many as are left.
    ///
    /// # Errors
    /// If the time is up, or nothing is left.
    pub fn take(&self, wanted: u64) -> Result<u64, LimitReached> {
        let Inner { left, size, deadline } = &*self.0;
        if let Some((deadline, time)) = deadline
            && Instant::now() >= *deadline
        {
            return Err(LimitReached::Time(*time));
        }
        let subtract = |left: u64| Some(left.saturating_sub(wanted));
        let before =
            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, subtract).unwrap_or_else(|left| left);
        if before == 0 && wanted > 0 { Err(*size) } else { Ok(wanted.min(before)) }
    }

    fn give_back(&self, bytes: u64) {
        self.0.left.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// A reader that fails once its budget is spent, or if the file turns out shorter than when it was opened.
pub struct Metered<R> {
    reader: R,
    budget: Budget,
    /// Length of the file when it was opened, if known and not compressed.
    expected: Option<u64>,
    read: u64,
}

impl<R: Read> Metered<R> {
    /// Reads `reader` within `budget`; `expected` is the number of bytes it must yield, if known.
    pub fn new(reader: R, budget: Budget, expected: Option<u64>) -> Self {
        Self { reader, budget, expected, read: 0 }
    }

    fn read_within(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.budget.take(out.len() as u64) {
            Ok(granted) => {
                let room = out.get_mut(..usize::try_from(granted).unwrap_or(usize::MAX));
                let read = self.reader.read(room.unwrap_or_default());
                let used = read.as_ref().map_or(0, |count| *count as u64);
                self.budget.give_back(granted.saturating_sub(used));
                read
            }
            // A log that ends exactly at its limit is complete.
            Err(reached @ (LimitReached::Decoded(_) | LimitReached::Ratio { .. })) => {
                let more = self.reader.read(&mut [0])?;
                if more == 0 { Ok(0) } else { Err(reached.into()) }
            }
            Err(reached) => Err(reached.into()),
        }
    }
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        let count = self.read_within(out)?;
        self.read += count as u64;
        if count == 0
            && let Some(expected) = self.expected.take()
            && self.read < expected
        {
            return Err(became_shorter());
        }
        Ok(count)
    }
}

/// The error for a file that shrank while it was read.
#[must_use]
pub fn became_shorter() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the file shrank while it was being read")
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::limits::behind;

    fn limits(decoded: u64) -> Limits {
        Limits { decoded: Some(Bytes::new(decoded)), ..Limits::NONE }
    }

    fn read(bytes: &[u8], budget: &Budget, expected: Option<u64>) -> (Vec<u8>, Option<io::Error>) {
        let mut out = Vec::new();
        let result = Metered::new(bytes, budget.clone(), expected).read_to_end(&mut out);
        (out, result.err())
    }

    #[test]
    fn a_source_at_its_limit_is_complete_and_one_beyond_is_truncated() {
        for (limit, whole) in [(5, true), (4, false), (0, false)] {
            let (out, error) = read(b"abcde", &Budget::new(&limits(limit), None), None);
            assert_eq!(out.len() as u64, limit);
            assert_eq!(error.is_none(), whole, "{error:?}");
            if let Some(error) = error {
                assert_eq!(behind(&error), Some(LimitReached::Decoded(Bytes::new(limit))));
            }
        }
    }

    #[test]
    fn parts_share_one_budget() {
        let budget = Budget::new(&limits(7), None);
        assert!(read(b"abcde", &budget, None).1.is_none());
        let (out, error) = read(b"abcde", &budget, None);
        assert_eq!(out, b"ab");
        assert!(error.is_some());
    }

    #[test]
    fn the_compression_ratio_is_limited_only_above_a_minimum_size() {
        let limits = Limits { ratio: Some(10), ..Limits::NONE };
        let most =
            |stored: u64| Budget::new(&limits, Some(Bytes::new(stored))).0.left.load(Ordering::Relaxed);
        assert_eq!(most(1), Limits::FREE_OF_RATIO.get());
        assert_eq!(most(1 << 30), 10 << 30);
        assert_eq!(most(u64::MAX), u64::MAX);
    }

    #[test]
    fn the_time_limit_ends_reading() {
        let limits = Limits { time: Some(Millis::ZERO), ..Limits::NONE };
        let error = read(b"abc", &Budget::new(&limits, None), None).1.unwrap();
        assert_eq!(behind(&error), Some(LimitReached::Time(Millis::ZERO)));
        let never = Limits { time: Some(Millis::new(u64::MAX)), ..Limits::NONE };
        assert!(read(b"abc", &Budget::new(&never, None), None).1.is_none());
    }

    #[test]
    fn a_file_that_shrank_is_reported_once() {
        let (out, error) = read(b"abc", &Budget::unlimited(), Some(4));
        assert_eq!(out, b"abc");
        assert_eq!(error.unwrap().kind(), io::ErrorKind::UnexpectedEof);
        assert!(read(b"abcd", &Budget::unlimited(), Some(4)).1.is_none());
        assert!(read(b"abcde", &Budget::unlimited(), Some(4)).1.is_none());
    }
}
