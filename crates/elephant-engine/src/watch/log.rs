//! A log that is followed, and the clock of its application.

use std::path::{Path, PathBuf};

use super::application::{Flag, Judges, LiveApplication};
use elephant_base::limits::Limits;
use elephant_base::units::Timestamp;
use elephant_input::follow::{FollowError, FollowedLog, Reached};
use elephant_parse::spark::{LiveEvent, LiveReader};

/// A log that is followed.
pub struct WatchedLog {
    log: FollowedLog,
    reader: LiveReader,
    application: LiveApplication,
    /// How far the application's clock is ahead of ours, at least, in milliseconds.
    ahead_ms: Option<i64>,
    unreadable: u64,
    reached: Reached,
}

impl WatchedLog {
    /// Opens a log at its start.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(path: &Path, limits: &Limits) -> Result<Self, FollowError> {
        Ok(Self {
            log: FollowedLog::open(path, limits.line_len())?,
            reader: LiveReader::new(limits),
            application: LiveApplication::default(),
            ahead_ms: None,
            unreadable: 0,
            reached: Reached::Behind,
        })
    }

    /// The file or the folder.
    pub(crate) fn path(&self) -> &Path {
        self.log.path()
    }

    /// When the log was last written.
    pub(crate) fn written_at(&self) -> Option<std::time::SystemTime> {
        self.log.written_at()
    }

    /// The memory that its tasks take, in bytes.
    pub(super) fn held(&self) -> u64 {
        self.application.held()
    }

    /// The application.
    pub(crate) const fn application(&self) -> &LiveApplication {
        &self.application
    }

    /// Lines so far that are no event of Spark's.
    pub(crate) const fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// How far the log was read.
    #[must_use]
    pub const fn reached(&self) -> Reached {
        self.reached
    }

    /// Reads the next piece, and makes the scans that it allows. `now` is our clock; without it, time passes only with
    /// events.
    ///
    /// An application's clock may differ from ours, and its log arrives in blocks. So its time is taken to be at least
    /// that of the newest event when that event was read, and to go on from there as our clock does: a scan is late
    /// rather than early.
    ///
    /// # Errors
    /// If the log cannot be read on.
    pub fn poll(
        &mut self,
        now: Option<Timestamp>,
        judges: &Judges,
        mut take: impl FnMut(Flag),
    ) -> Result<(), FollowError> {
        let Self { log, reader, application, unreadable, .. } = self;
        let mut seen = application.newest();
        self.reached = log.read(|lines| {
            *unreadable += reader.read(lines, |event: LiveEvent| application.take(event, judges));
        })?;
        let newest = application.newest();
        if let (Some(newest), Some(now)) = (newest.filter(|_| seen != newest), now) {
            let ahead = newest.as_millis().saturating_sub(now.as_millis());
            self.ahead_ms = Some(self.ahead_ms.map_or(ahead, |known| known.max(ahead)));
        }
        seen = newest;
        let (Some(newest), false) = (seen, self.reached == Reached::End || application.has_ended()) else {
            if self.reached != Reached::Behind {
                application.advance(None, judges, &mut take);
            }
            return Ok(());
        };
        let by_our_clock = now.zip(self.ahead_ms).filter(|_| self.reached == Reached::Now);
        let by_our_clock = by_our_clock.map(|(now, ahead)| now.as_millis().saturating_add(ahead));
        let known = newest.as_millis().max(by_our_clock.unwrap_or(i64::MIN));
        let settle = i64::try_from(judges.settle.get()).unwrap_or(i64::MAX);
        application.advance(Some(Timestamp::from_millis(known.saturating_sub(settle))), judges, take);
        Ok(())
    }
}

/// The key of a log, which does not depend on how its path is written, nor on its state.
pub(super) fn key(path: &Path) -> PathBuf {
    let named = last_name(path);
    let folder = match named.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    // A name such as `..` is not the last part of a log's path.
    match (folder.canonicalize(), named.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => named,
    }
}

/// The path of a log without the ending that it has while it is written.
pub(crate) fn last_name(path: &Path) -> PathBuf {
    let name = path.file_name().and_then(std::ffi::OsStr::to_str);
    match name.and_then(|name| name.strip_suffix(".inprogress")) {
        Some(name) => path.with_file_name(name),
        None => path.to_owned(),
    }
}
