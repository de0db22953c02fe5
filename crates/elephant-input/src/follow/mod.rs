//! Reads event logs while they are written: files that end in `.inprogress`, and folders of rolling logs. Logs that are
//! finished are read to their end.

mod file;
mod find;
mod lines;
mod rolling;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use file::{FileError, Growing};
use lines::Lines;
use rolling::Rolling;

pub use find::{Found, is_open_ended, logs};

/// A log that is read as it grows.
pub struct FollowedLog {
    /// The file or the folder.
    path: PathBuf,
    source: Source,
    lines: Lines,
}

enum Source {
    File(Growing),
    Rolling(Rolling),
}

/// How far a log was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {
    /// More data can be read at once.
    Behind,
    /// All data that is available now; the log may grow.
    Now,
    /// The end: its writer has finished it.
    End,
}

/// Why a log cannot be read on.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {source}", path = path.display())]
pub struct FollowError {
    path: PathBuf,
    source: FileError,
}

impl FollowError {
    /// Whether the log became shorter, because its writer started it again.
    #[must_use]
    pub const fn is_shorter(&self) -> bool {
        matches!(self.source, FileError::Shorter)
    }
}

impl FollowedLog {
    /// Opens a log at its start. A line longer than `max_line_len` bytes may be passed on without its end; it still
    /// exceeds that length.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(path: &Path, max_line_len: usize) -> Result<Self, FollowError> {
        let source = if path.is_dir() {
            Source::Rolling(Rolling::new(path))
        } else {
            let file = Growing::open(path).map_err(|source| FollowError { path: path.to_owned(), source })?;
            Source::File(file)
        };
        Ok(Self { path: path.to_owned(), source, lines: Lines::new(max_line_len) })
    }

    /// The file or the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// When the file that is read was last written.
    #[must_use]
    pub fn written_at(&self) -> Option<SystemTime> {
        match &self.source {
            Source::File(file) => file.written_at(),
            Source::Rolling(rolling) => rolling.written_at(),
        }
    }

    /// Reads the next piece, and passes on its whole lines. At the end of the log the last line may lack its line feed.
    ///
    /// # Errors
    /// If a file cannot be read or decoded, or has become shorter.
    pub fn read(&mut self, mut take: impl FnMut(&[u8])) -> Result<Reached, FollowError> {
        let Self { source, lines, path } = self;
        let mut decoded = |bytes: &[u8]| lines.add(bytes, &mut take);
        let reached = match source {
            Source::File(file) => {
                file.read(&mut decoded).map_err(|source| FollowError { path: path.clone(), source })
            }
            Source::Rolling(rolling) => {
                rolling.read(&mut decoded).map_err(|(path, source)| FollowError { path, source })
            }
        }?;
        if reached == Reached::End {
            self.lines.end(take);
        }
        Ok(reached)
    }
}
