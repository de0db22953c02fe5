//! One event log or job history to read, and what is known before reading it.

use std::ffi::OsStr;
use std::path::Path;

use super::codec::{Codec, Decoded};
use super::error::InputError;
use super::kind::{self, Identify, SourceKind, Verification};
use super::log_name;
use super::part::Part;
pub use super::source_path::SourcePath;
use elephant_base::units::Millis;

/// One event log or job history: a file, a stream, or several files that form one log.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its path; the folder, if the folder is one log.
    pub path: SourcePath,
    /// Its kind; `None` for a stream that was not examined.
    pub kind: Option<SourceKind>,
    /// Its compression, or that of its first compressed part; `None` for a stream that was not examined.
    pub codec: Option<Codec>,
    /// Whether the user named this file or folder itself, not a folder above it.
    pub named_by_user: bool,
    /// The parts of an event log in the order written; a single part for everything else.
    pub parts: Vec<Part>,
    /// Facts from the names of files and folders.
    pub log: LogFolder,
}

/// Facts about an event log from the names of its files and markers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogFolder {
    /// Spark's version, from the marker file of Spark 1.0 to 1.2.
    pub spark_version: Option<String>,
    /// Whether the log is still being written; `None` if unknown, which for a rolling log means that its
    /// marker is missing.
    pub in_progress: Option<bool>,
    /// Whether Spark wrote it as a rolling log.
    pub rolling: bool,
    /// Whether its first part is compacted, so that events are missing.
    pub compacted: bool,
    /// Numbers of missing parts, at most `MAX_MISSING` of them.
    pub missing_parts: Vec<u64>,
    /// Names of duplicate parts; they are not read.
    pub duplicate_parts: Vec<String>,
    /// The application's id.
    pub application_id: Option<String>,
    /// The application's attempt.
    pub attempt: Option<String>,
    /// Whether its archive is truncated, so that later parts may be missing.
    pub archive_truncated: bool,
}

/// Maximum number of missing parts that are listed.
pub(crate) const MAX_MISSING: usize = 100;

impl LogFolder {
    /// Facts from the last name of a path.
    pub(super) fn of_path(path: &Path) -> Self {
        path.file_name().and_then(OsStr::to_str).map(Self::of_file).unwrap_or_default()
    }

    /// Facts from the name of a single file.
    pub(super) fn of_file(name: &str) -> Self {
        let (application_id, attempt) = log_name::application_of_file(name);
        let in_progress = log_name::is_in_progress(name).then_some(true);
        Self { in_progress, application_id, attempt, ..Self::default() }
    }
}

impl Source {
    /// A stream, examined only when it is read, with a read timeout of `time`.
    pub(super) fn stream(path: SourcePath, time: Option<Millis>) -> Self {
        let parts = vec![Part::stream(path.clone(), time)];
        Self { path, kind: None, codec: None, named_by_user: true, parts, log: LogFolder::default() }
    }

    /// Opens the source, or its first part, and detects what it holds.
    ///
    /// # Errors
    /// If it cannot be opened, or breaks before its kind is known. Later errors are returned by reading.
    pub fn open(&self, identify: Identify) -> Result<(Decoded, SourceKind), InputError> {
        let Some(part) = self.parts.first() else {
            return Err(InputError::NotFound { path: self.path.as_path().to_path_buf() });
        };
        let mut decoded = part.open()?;
        let kind = match self.kind {
            Some(SourceKind::SparkEventLog) => SourceKind::SparkEventLog,
            // A stream is the only source without history, and its detection may have read it to the end.
            Some(unrelated @ SourceKind::Unrelated(_)) => unrelated,
            _ => kind::identified(
                &mut decoded,
                false,
                &mut Verification::of_file(),
                self.path.as_path(),
                identify,
            )?,
        };
        Ok((decoded, kind))
    }

    /// The files on disk that hold its parts, archives for their members; `-` is standard input.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.parts.iter().map(Part::file)
    }
}
