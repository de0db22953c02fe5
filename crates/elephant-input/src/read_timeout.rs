//! Read timeouts for streams that may block for ever: a pipe without a writer, a terminal without input.
//!
//! A blocking read cannot be cancelled, so a separate thread reads, and the consumer waits for that thread
//! until the timeout. A thread that is still blocked then stays blocked until the process ends.

use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use elephant_base::limits::LimitReached;
use elephant_base::units::Millis;

/// Capacity of a pipe.
const PORTION: usize = 64 * 1024;
/// Number of portions that may wait for the consumer.
const PORTIONS: usize = 4;

/// Deadline for reading a stream.
#[derive(Debug, Clone)]
pub(super) struct ReadTimeout {
    time: Millis,
    /// `None` if the deadline is beyond the range of the clock.
    deadline: Arc<Mutex<Option<Instant>>>,
}

impl ReadTimeout {
    /// A timeout of `time`, starting now.
    pub(super) fn new(time: Millis) -> Self {
        let read_timeout = Self { time, deadline: Arc::default() };
        read_timeout.restart();
        read_timeout
    }

    /// Restarts the timeout.
    pub(super) fn restart(&self) {
        *self.deadline() = Instant::now().checked_add(Duration::from_millis(self.time.get()));
    }

    fn deadline(&self) -> MutexGuard<'_, Option<Instant>> {
        self.deadline.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn left(&self) -> Duration {
        self.deadline().map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()))
    }
}

/// A stream that is read on its own thread.
pub(super) struct TimedStream {
    portions: Receiver<io::Result<Vec<u8>>>,
    portion: Vec<u8>,
    start: usize,
    read_timeout: ReadTimeout,
}

impl TimedStream {
    /// Opens and reads a stream on its own thread, since opening a pipe blocks until something writes to it.
    ///
    /// # Errors
    /// If no thread can be started. An error from `open` is returned by reading.
    pub(super) fn new<R: Read>(
        open: impl FnOnce() -> io::Result<R> + Send + 'static,
        read_timeout: ReadTimeout,
    ) -> io::Result<Self> {
        let (sender, portions) = sync_channel(PORTIONS);
        thread::Builder::new().name("stream".to_owned()).spawn(move || pass_on(open, &sender))?;
        Ok(Self { portions, portion: Vec::new(), start: 0, read_timeout })
    }
}

/// Reads until the end, an error, or until the consumer is gone.
fn pass_on<R: Read>(open: impl FnOnce() -> io::Result<R>, portions: &SyncSender<io::Result<Vec<u8>>>) {
    let mut stream = match open() {
        Ok(stream) => stream,
        Err(error) => return drop(portions.send(Err(error))),
    };
    loop {
        let mut portion = vec![0; PORTION];
        let read = match stream.read(&mut portion) {
            Ok(0) => return,
            Ok(count) => {
                portion.truncate(count);
                Ok(portion)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let failed = read.is_err();
        if portions.send(read).is_err() || failed {
            return;
        }
    }
}

impl Read for TimedStream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.start >= self.portion.len() {
            self.portion = match self.portions.recv_timeout(self.read_timeout.left()) {
                Ok(portion) => portion?,
                Err(RecvTimeoutError::Timeout) => {
                    return Err(LimitReached::Time(self.read_timeout.time).into());
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            };
            self.start = 0;
        }
        let count = self.portion.get(self.start..).unwrap_or_default().read(out)?;
        self.start += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::limits::behind;

    const LONG: Millis = Millis::from_secs(3600);

    #[test]
    fn bytes_that_arrive_in_time_are_read() {
        let text: Vec<u8> = (0..251).cycle().take(300_000).collect();
        let source = text.clone();
        let mut read = Vec::new();
        let mut stream = TimedStream::new(|| Ok(io::Cursor::new(source)), ReadTimeout::new(LONG)).unwrap();
        stream.read_to_end(&mut read).unwrap();
        assert!(read == text);
        let mut refused = TimedStream::new(
            || Err::<io::Empty, _>(ErrorKind::PermissionDenied.into()),
            ReadTimeout::new(LONG),
        )
        .unwrap();
        assert_eq!(refused.read(&mut [0; 9]).unwrap_err().kind(), ErrorKind::PermissionDenied);
        assert_eq!(refused.read(&mut [0; 9]).unwrap(), 0);
    }

    #[test]
    fn reading_fails_after_the_timeout() {
        let silent = |read_timeout: ReadTimeout| {
            let (keep, opened) = sync_channel::<()>(0);
            let open = move || {
                opened.recv().ok();
                Ok(io::empty())
            };
            (keep, TimedStream::new(open, read_timeout).unwrap())
        };
        let (_keep, mut stream) = silent(ReadTimeout::new(Millis::ZERO));
        let error = stream.read(&mut [0; 9]).unwrap_err();
        assert_eq!(behind(&error), Some(LimitReached::Time(Millis::ZERO)));
        assert!(ReadTimeout::new(Millis::new(u64::MAX)).left() > Duration::from_secs(1 << 30));
    }
}
