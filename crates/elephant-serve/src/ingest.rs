//! The loop that reads histories: one turn after another, and never two at once.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use elephant_base::units::Timestamp;

/// Turns begin up to this share of their distance later, so that several servers do not list a file system at once.
const JITTER: u32 = 10;

/// What a turn did, or why it failed.
pub type Turn = Result<Done, String>;

/// What a turn did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Done {
    /// In a sentence, for people.
    pub sentence: String,
    /// Files that were new or changed and could not be read.
    pub unreadable: u64,
    /// How long after their end applications were stored: the median of this turn. `None` if nothing with a known end was
    /// stored.
    pub lag: Option<Duration>,
}

/// Histories that are read again and again.
pub struct Ingest {
    /// From the end of a turn to the beginning of the next one.
    pub every: Duration,
    /// Reads what is new or changed.
    pub turn: Box<dyn FnMut() -> Turn + Send>,
}

/// How the loop is doing.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Progress {
    pub(crate) every: Duration,
    pub(crate) is_running: bool,
    pub(crate) turns: u64,
    pub(crate) failed: u64,
    /// The last turn that ended: when, and what it did.
    pub(crate) last: Option<(Timestamp, Turn)>,
    /// When the last turn that did not fail ended.
    pub(crate) succeeded: Option<Timestamp>,
    /// Files that could not be read, in all turns.
    pub(crate) unreadable: u64,
    /// The lag of the last turn that stored something.
    pub(crate) lag: Option<Duration>,
    /// How long the last turn took.
    pub(crate) took: Option<Duration>,
}

/// A loop that runs.
#[derive(Debug)]
pub(crate) struct Loop {
    progress: Arc<Mutex<Progress>>,
    running: Mutex<Option<(SyncSender<()>, JoinHandle<()>)>>,
}

impl Loop {
    /// Begins with a turn at once. `tell` is told of turns that fail.
    pub(crate) fn start(ingest: Ingest, tell: fn(&str)) -> std::io::Result<Self> {
        let progress = Arc::new(Mutex::new(Progress { every: ingest.every, ..Progress::default() }));
        // One message is enough, however often a turn is asked for.
        let (stop, stopped) = sync_channel(1);
        let shared = Arc::clone(&progress);
        let run = move || turns(ingest, &shared, &stopped, tell);
        let thread = thread::Builder::new().name("ingest".to_owned()).spawn(run)?;
        Ok(Self { progress, running: Mutex::new(Some((stop, thread))) })
    }

    pub(crate) fn progress(&self) -> Progress {
        locked(&self.progress).clone()
    }

    /// Begins a turn now, or after the one that is running.
    pub(crate) fn wake(&self) {
        if let Some((turns, _)) = &*locked(&self.running) {
            // If a turn was asked for and has not begun, it will do.
            let _ = turns.try_send(());
        }
    }

    /// Ends the loop, after the turn that is running.
    pub(crate) fn stop(&self) {
        let running = locked(&self.running).take();
        if let Some((stop, thread)) = running {
            drop(stop);
            // A turn that panicked was told to the operator by the thread itself.
            let _ = thread.join();
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn turns(mut ingest: Ingest, progress: &Mutex<Progress>, stopped: &Receiver<()>, tell: fn(&str)) {
    loop {
        locked(progress).is_running = true;
        let begin = Instant::now();
        let turn = (ingest.turn)();
        let (took, at) = (begin.elapsed(), now());
        if let Err(problem) = &turn {
            tell(&format!("ingest: {problem}"));
        }
        let mut shared = locked(progress);
        shared.is_running = false;
        shared.turns += 1;
        shared.took = Some(took);
        match &turn {
            Ok(done) => {
                shared.succeeded = Some(at);
                shared.unreadable += done.unreadable;
                shared.lag = done.lag.or(shared.lag);
            }
            Err(_) => shared.failed += 1,
        }
        shared.last = Some((at, turn));
        drop(shared);
        let next = stopped.recv_timeout(ingest.every + jitter(ingest.every));
        if next == Err(RecvTimeoutError::Disconnected) {
            return;
        }
    }
}

/// A random time up to a share of this one.
fn jitter(every: Duration) -> Duration {
    let most = every.as_millis() / u128::from(JITTER) + 1;
    let random = u128::from(RandomState::new().build_hasher().finish());
    Duration::from_millis(u64::try_from(random % most).unwrap_or_default())
}

pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn turns_follow_each_other_until_the_loop_is_stopped() {
        let counts = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
        let shared = Arc::clone(&counts);
        let turn = move || {
            let [running, done] = &*shared;
            assert_eq!(running.fetch_add(1, Ordering::SeqCst), 0, "two turns at once");
            thread::sleep(Duration::from_millis(2));
            running.fetch_sub(1, Ordering::SeqCst);
            match done.fetch_add(1, Ordering::SeqCst) {
                0 => Err("the disk is full".to_owned()),
                // Later turns store nothing.
                1 => Ok(Done { unreadable: 2, lag: Some(Duration::from_secs(90)), ..Done::default() }),
                _ => Ok(Done { unreadable: 1, ..Done::default() }),
            }
        };
        let ingest = Ingest { every: Duration::from_millis(1), turn: Box::new(turn) };
        let running = Loop::start(ingest, |_| ()).unwrap();
        while running.progress().turns < 3 {
            thread::sleep(Duration::from_millis(1));
        }
        running.stop();
        let (progress, done) = (running.progress(), counts[1].load(Ordering::SeqCst));
        assert_eq!((progress.turns, progress.failed, progress.is_running), (done, 1, false));
        assert!(progress.succeeded.is_some() && matches!(progress.last, Some((_, Ok(_)))));
        assert_eq!((progress.unreadable, progress.lag), (done, Some(Duration::from_secs(90))));
        thread::sleep(Duration::from_millis(20));
        assert_eq!(counts[1].load(Ordering::SeqCst), done);
    }

    #[test]
    fn turns_begin_at_most_a_tenth_later() {
        let every = Duration::from_secs(600);
        assert!((0..1000).all(|_| jitter(every) <= every / JITTER));
        assert_eq!(jitter(Duration::ZERO), Duration::ZERO);
    }
}
