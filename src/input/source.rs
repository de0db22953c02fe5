//! One history to read, and what is known of it before it is read.

use std::fmt;
use std::path::{Path, PathBuf};

use super::codec::{Codec, Decoded};
use super::error::InputError;
use super::inventory::identified;
use super::kind::{Identify, SourceKind};
use super::log_name;
use super::part::Part;
use crate::units::Millis;

/// One history to read: a file, a stream, or several files that make up one log.
#[derive(Debug, Clone)]
pub struct Source {
    /// Where it is: the folder, where that is one log.
    pub path: SourcePath,
    /// What it holds; `None` for a stream that was not looked at.
    pub kind: Option<SourceKind>,
    /// Its compression, or that of its first part; `None` for a stream that was not looked at.
    pub codec: Option<Codec>,
    /// Whether the user named this very file or folder and not just a folder above it.
    pub named_by_user: bool,
    /// The parts of an event log in the order of writing; one for everything else.
    pub parts: Vec<Part>,
    /// What the names around it tell.
    pub log: LogFolder,
}

/// What the names of files and markers around an event log tell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogFolder {
    /// Spark's version, by the marker that Spark 1.0 to 1.2 left.
    pub spark_version: Option<String>,
    /// Whether the log is still being written; `None` where nothing tells, which in a rolling log means that
    /// its marker is missing.
    pub in_progress: Option<bool>,
    /// Whether it is one of the logs that Spark rolls over from part to part.
    pub rolling: bool,
    /// Whether its first part is a compacted one, which leaves events out.
    pub compacted: bool,
    /// Numbers of parts that are not there, at most [`MAX_MISSING`] of them.
    pub missing_parts: Vec<u64>,
    /// Names of parts that are there under two names; they are left out.
    pub doubled_parts: Vec<String>,
    /// The application's id.
    pub application_id: Option<String>,
    /// The application's attempt.
    pub attempt: Option<String>,
    /// Whether the archive around it is cut, so that parts behind the cut would be missing.
    pub archive_cut: bool,
}

/// Missing parts beyond this number are not listed.
pub const MAX_MISSING: usize = 100;

impl LogFolder {
    /// What the name of a single file tells.
    pub(super) fn of_file(name: &str) -> Self {
        let (application_id, attempt) = log_name::application_of_file(name);
        let in_progress = log_name::is_in_progress(name).then_some(true);
        Self { in_progress, application_id, attempt, ..Self::default() }
    }
}

impl Source {
    /// A stream, which is looked at when it is read, and waited for as long as `time`.
    pub(super) fn stream(path: SourcePath, time: Option<Millis>) -> Self {
        let parts = vec![Part::stream(path.clone(), time)];
        Self { path, kind: None, codec: None, named_by_user: true, parts, log: LogFolder::default() }
    }

    /// Opens the source, or its first part, at its start and tells what it holds.
    ///
    /// # Errors
    /// If it cannot be opened, or breaks before it is known what it holds. Later errors come out of reading.
    pub fn open(&self, identify: Identify) -> Result<(Decoded, SourceKind), InputError> {
        let Some(part) = self.parts.first() else {
            return Err(InputError::NotFound { path: self.path.as_path().to_path_buf() });
        };
        let mut decoded = part.open()?;
        let kind = match self.kind {
            Some(SourceKind::SparkEventLog) => SourceKind::SparkEventLog,
            _ => identified(&mut decoded, self.path.as_path(), identify)?,
        };
        Ok((decoded, kind))
    }

    /// The files on disk that hold its parts, archives themselves for their members; `-` is standard input.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.parts.iter().map(Part::file)
    }
}

/// Where a source is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourcePath {
    /// A file or a folder, or a pipe or terminal that the user named.
    File(PathBuf),
    /// Standard input.
    Stdin,
    /// A file or a folder in an archive, written `archive!member`.
    Member(PathBuf),
}

impl SourcePath {
    /// The path, `-` for standard input.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        match self {
            Self::File(path) | Self::Member(path) => path,
            Self::Stdin => Path::new("-"),
        }
    }
}

impl fmt::Display for SourcePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) | Self::Member(path) => path.display().fmt(f),
            Self::Stdin => f.write_str("standard input"),
        }
    }
}
