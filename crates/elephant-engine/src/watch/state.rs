//! The record of what was reported, kept in a file so that a restart repeats nothing and loses nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
#[cfg(feature = "http")]
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::application::Flag;
use elephant_base::address::Address;
use elephant_model::model::table::TaskKind;

/// Maximum length of a line of a state file.
const LONGEST_LINE: u64 = 1 << 20;

/// The record of what was reported. Without a file, it is lost at the end of the run.
#[derive(Debug, Default)]
pub struct State {
    file: Option<File>,
    /// Lines to write, by stage.
    lines: [Vec<u8>; Stage::COUNT],
    /// When the last run was alive.
    seen_at: Option<SystemTime>,
    flags: FxHashSet<String>,
    following: BTreeSet<PathBuf>,
    ended: BTreeSet<PathBuf>,
    /// Messages that were not accepted yet, by number.
    queued: BTreeMap<u64, Box<RawValue>>,
    last_number: u64,
}

/// The stages are written in this order: a full disk or a kill between them repeats a flag, but loses none.
#[derive(Debug, Clone, Copy)]
enum Stage {
    Messages,
    Flags,
    Logs,
}

impl Stage {
    const COUNT: usize = 3;
}

/// One line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    /// A task was flagged.
    Flag(String),
    /// A log is followed, by its last name.
    Log(PathBuf),
    /// A log has ended.
    End(PathBuf),
    /// A message is to be sent.
    Queued(u64, Box<RawValue>),
    /// A message was accepted, or refused.
    Sent(u64),
}

/// A state that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The file cannot be read or written.
    #[error("cannot use the state file {path}: {source}", path = Address::of(path))]
    Io {
        /// The file.
        path: PathBuf,
        /// The file system's error.
        source: io::Error,
    },
    /// Another run uses it.
    #[error("another run uses the state file {path}; each needs its own --state", path = Address::of(path))]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The file is not a state file.
    #[error(
        "{path}:{line}: this is not a line of a state file; choose another --state, or delete the file to start over",
        path = Address::of(path)
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
}

impl State {
    /// Opens a file, or creates it. A last line without its end, from a run that was killed while it wrote, is dropped.
    ///
    /// # Errors
    /// If the file cannot be read and written, if another run uses it, or if it is not a state file.
    pub fn open(path: &Path) -> Result<Self, StateError> {
        let failed = |source| StateError::Io { path: path.to_owned(), source };
        // Get the time before anything changes the file.
        let seen_at = path.metadata().and_then(|metadata| metadata.modified()).ok();
        let mut file =
            File::options().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StateError::InUse { path: path.to_owned() }),
            // Some network file systems have no locks.
            Err(TryLockError::Error(error)) => ::log::debug!("cannot lock {}: {error}", Address::of(path)),
        }
        let mut state = Self::default();
        state.seen_at = seen_at;
        let mut whole = 0;
        let mut reader = BufReader::new(&file);
        let mut text = Vec::new();
        for line in 1.. {
            text.clear();
            let len = reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut text).map_err(failed)?;
            if len == 0 {
                break;
            }
            if text.last() != Some(&b'\n') {
                // Drop the rest of a line that was cut, but reject a file of another kind.
                let was_cut = text.starts_with(b"{\"") && (len as u64) < LONGEST_LINE;
                if was_cut || text == b"{" {
                    break;
                }
                return Err(StateError::Foreign { path: path.to_owned(), line });
            }
            let read = serde_json::from_slice(&text);
            state.take(read.map_err(|_| StateError::Foreign { path: path.to_owned(), line })?);
            whole += len as u64;
        }
        file.set_len(whole).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        state.file = Some(file);
        Ok(state)
    }

    fn take(&mut self, line: Line) {
        match line {
            Line::Flag(key) => {
                self.flags.insert(key);
            }
            Line::Log(path) => {
                self.ended.remove(&path);
                self.following.insert(path);
            }
            Line::End(path) => {
                self.following.remove(&path);
                self.ended.insert(path);
            }
            Line::Queued(number, message) => {
                self.last_number = self.last_number.max(number);
                self.queued.insert(number, message);
            }
            Line::Sent(number) => {
                self.queued.remove(&number);
            }
        }
    }

    /// When the last run was alive; `None` if there was none, or if the time is unknown.
    pub(super) const fn seen_at(&self) -> Option<SystemTime> {
        self.seen_at
    }

    /// Notes that this run is alive, as the time of the file.
    pub(super) fn is_alive(&self) {
        // The kernel sets the time, as it does for logs: its clock for files is some milliseconds behind.
        let touch = |file: &File| file.set_len(file.metadata()?.len());
        if let Some(Err(error)) = self.file.as_ref().map(touch) {
            ::log::debug!("cannot set the time of the state file: {error}");
        }
    }

    /// Whether a flag has not been reported yet.
    pub(super) fn is_new(&self, key: &str) -> bool {
        !self.flags.contains(key)
    }

    /// Whether a log was followed when the last run ended.
    pub(super) fn was_following(&self, last_name: &Path) -> bool {
        self.following.contains(last_name)
    }

    /// Whether an earlier run followed a log.
    #[must_use]
    pub fn knows_logs(&self) -> bool {
        !self.following.is_empty() || !self.ended.is_empty()
    }

    /// Whether a log was followed to its end.
    pub(super) fn has_ended(&self, last_name: &Path) -> bool {
        self.ended.contains(last_name)
    }

    /// Records that a flag was reported.
    pub(super) fn record(&mut self, key: String) -> io::Result<()> {
        let line = Line::Flag(key);
        self.write(&line)?;
        self.take(line);
        Ok(())
    }

    /// Notes that a log is followed.
    pub(super) fn follow(&mut self, last_name: &Path) -> io::Result<()> {
        if self.was_following(last_name) {
            return Ok(());
        }
        let line = Line::Log(last_name.to_owned());
        self.write(&line)?;
        self.take(line);
        Ok(())
    }

    /// Notes that a log has ended.
    pub(super) fn end(&mut self, last_name: &Path) -> io::Result<()> {
        let line = Line::End(last_name.to_owned());
        self.write(&line)?;
        self.take(line);
        Ok(())
    }

    /// Keeps a message until it is accepted, and gives it a number.
    #[cfg(feature = "http")]
    pub(crate) fn queue(&mut self, message: Box<RawValue>) -> io::Result<u64> {
        let number = self.last_number.saturating_add(1);
        let line = Line::Queued(number, message);
        self.write(&line)?;
        self.take(line);
        Ok(number)
    }

    /// The messages with a greater number that were not accepted yet.
    #[cfg(feature = "http")]
    pub fn queued_after(&self, number: u64) -> impl Iterator<Item = (u64, Box<RawValue>)> + '_ {
        let later = self.queued.range((Bound::Excluded(number), Bound::Unbounded));
        later.map(|(number, message)| (*number, message.clone()))
    }

    /// Notes that a message need not be sent again.
    #[cfg(feature = "http")]
    pub fn sent(&mut self, number: u64) -> io::Result<()> {
        let line = Line::Sent(number);
        self.write(&line)?;
        self.take(line);
        Ok(())
    }

    fn write(&mut self, line: &Line) -> io::Result<()> {
        if self.file.is_none() {
            return Ok(());
        }
        let stage = match line {
            Line::Queued(..) | Line::Sent(_) => Stage::Messages,
            Line::Flag(_) => Stage::Flags,
            Line::Log(_) | Line::End(_) => Stage::Logs,
        };
        if let Some(lines) = self.lines.get_mut(stage as usize) {
            serde_json::to_writer(&mut *lines, line)?;
            lines.push(b'\n');
        }
        Ok(())
    }

    /// Writes everything to the file.
    ///
    /// # Errors
    /// If that fails. Nothing is written any more then, because the last line may be cut.
    pub fn flush(&mut self) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let written = self.lines.iter_mut().try_for_each(|lines| {
            let written = if lines.is_empty() { Ok(()) } else { file.write_all(lines) };
            lines.clear();
            written
        });
        if written.is_err() {
            self.file = None;
        }
        written
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if let Err(error) = self.flush() {
            ::log::debug!("cannot write the state: {error}");
        }
    }
}

/// The key of a flag, the same in all runs. Ids of applications are not unique across clusters, so the time of the
/// launch is part of it.
pub(super) fn key(flag: &Flag, source: &str) -> String {
    let (launch, detector) = (&flag.flagged.launch, flag.detector);
    let application = flag.application.id.as_deref().unwrap_or(source);
    let attempt = flag.application.attempt.as_deref().unwrap_or_default();
    let at = launch.at.as_millis();
    let group = match flag.group {
        TaskKind::Stage(stage) => stage.to_string(),
        kind => kind.name().to_owned(),
    };
    format!("{application} {attempt} {group} {} {} {at} {detector}", launch.task, launch.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_written_before_its_flag_and_a_flag_before_the_end_of_its_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let mut state = State::open(&path).unwrap();
        assert_eq!(state.seen_at(), None);
        state.end(Path::new("log")).unwrap();
        state.record("one".to_owned()).unwrap();
        state.write(&Line::Queued(1, serde_json::from_str("{}").unwrap())).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "");
        state.flush().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "{\"queued\":[1,{}]}\n{\"flag\":\"one\"}\n{\"end\":\"log\"}\n");
        drop(state);
        assert!(State::open(&path).unwrap().seen_at().is_some());
    }

    #[test]
    fn a_state_survives_a_line_that_was_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let mut state = State::open(&path).unwrap();
        state.record("one".to_owned()).unwrap();
        state.follow(Path::new("log")).unwrap();
        state.flush().unwrap();
        assert!(matches!(State::open(&path), Err(StateError::InUse { .. })));
        drop(state);
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"flag\":\"tw").unwrap();
        let mut state = State::open(&path).unwrap();
        assert!(!state.is_new("one") && state.is_new("tw") && state.was_following(Path::new("log")));
        state.record("two".to_owned()).unwrap();
        state.end(Path::new("log")).unwrap();
        drop(state);
        let state = State::open(&path).unwrap();
        assert!(!state.is_new("two") && state.has_ended(Path::new("log")));
        assert!(!state.was_following(Path::new("log")));
    }

    #[test]
    fn another_file_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes");
        std::fs::write(&path, "{\"flag\":\"one\"}\nbuy milk\n").unwrap();
        assert!(matches!(State::open(&path), Err(StateError::Foreign { line: 2, .. })));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"flag\":\"one\"}\nbuy milk\n");
        std::fs::write(&path, "buy milk").unwrap();
        assert!(matches!(State::open(&path), Err(StateError::Foreign { line: 1, .. })));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "buy milk");
    }
}
