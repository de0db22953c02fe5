//! Streams that may keep a reader waiting for ever: a pipe that nobody writes to, a terminal that nobody types at.
//!
//! No reading call can be told to give up, so a thread of its own makes them, and whoever reads waits for that thread
//! only as long as there is time. A thread that still waits then does so until the process ends.

use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::limits::LimitReached;
use crate::units::Millis;

/// What a pipe holds.
const PORTION: usize = 64 * 1024;
/// Portions that may wait for their reader.
const PORTIONS: usize = 4;

/// Until when to wait for a stream.
#[derive(Debug, Clone)]
pub(super) struct Patience {
    time: Millis,
    /// `None` where the time is longer than the clock can tell.
    until: Arc<Mutex<Option<Instant>>>,
}

impl Patience {
    /// Waits for `time` from now on.
    pub(super) fn new(time: Millis) -> Self {
        let patience = Self { time, until: Arc::default() };
        patience.begin();
        patience
    }

    /// Counts the time from now on.
    pub(super) fn begin(&self) {
        *self.until() = Instant::now().checked_add(Duration::from_millis(self.time.get()));
    }

    fn until(&self) -> MutexGuard<'_, Option<Instant>> {
        self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn left(&self) -> Duration {
        self.until().map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()))
    }
}

/// A stream that is read on a thread of its own.
pub(super) struct Awaited {
    portions: Receiver<io::Result<Vec<u8>>>,
    portion: Vec<u8>,
    start: usize,
    patience: Patience,
}

impl Awaited {
    /// Reads what `open` opens, both on a thread of its own, as opening a pipe waits for somebody to write to it.
    ///
    /// # Errors
    /// If there can be no more threads. That the stream cannot be opened comes out of reading.
    pub(super) fn new<R: Read>(
        open: impl FnOnce() -> io::Result<R> + Send + 'static,
        patience: Patience,
    ) -> io::Result<Self> {
        let (sender, portions) = sync_channel(PORTIONS);
        thread::Builder::new().name("stream".to_owned()).spawn(move || pass_on(open, &sender))?;
        Ok(Self { portions, portion: Vec::new(), start: 0, patience })
    }
}

/// Reads until the end, an error, or until nobody wants any more.
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

impl Read for Awaited {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.start >= self.portion.len() {
            self.portion = match self.portions.recv_timeout(self.patience.left()) {
                Ok(portion) => portion?,
                Err(RecvTimeoutError::Timeout) => return Err(LimitReached::Time(self.patience.time).into()),
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
    use crate::limits::behind;

    const LONG: Millis = Millis::from_secs(3600);

    #[test]
    fn what_comes_in_time_is_read_as_it_comes() {
        let text: Vec<u8> = (0..251).cycle().take(300_000).collect();
        let source = text.clone();
        let mut read = Vec::new();
        let mut stream = Awaited::new(|| Ok(io::Cursor::new(source)), Patience::new(LONG)).unwrap();
        stream.read_to_end(&mut read).unwrap();
        assert!(read == text);
        let mut refused =
            Awaited::new(|| Err::<io::Empty, _>(ErrorKind::PermissionDenied.into()), Patience::new(LONG))
                .unwrap();
        assert_eq!(refused.read(&mut [0; 9]).unwrap_err().kind(), ErrorKind::PermissionDenied);
        assert_eq!(refused.read(&mut [0; 9]).unwrap(), 0);
    }

    #[test]
    fn waiting_ends_when_the_time_is_over() {
        let silent = |patience: Patience| {
            let (keep, opened) = sync_channel::<()>(0);
            let open = move || {
                opened.recv().ok();
                Ok(io::empty())
            };
            (keep, Awaited::new(open, patience).unwrap())
        };
        let (_keep, mut stream) = silent(Patience::new(Millis::ZERO));
        let error = stream.read(&mut [0; 9]).unwrap_err();
        assert_eq!(behind(&error), Some(LimitReached::Time(Millis::ZERO)));
        assert!(Patience::new(Millis::new(u64::MAX)).left() > Duration::from_secs(1 << 30));
    }
}
