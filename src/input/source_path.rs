//! Where a source is: its path, or standard input.

use std::fmt;
use std::path::{Path, PathBuf};

/// The location of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SourcePath {
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
    pub(crate) fn as_path(&self) -> &Path {
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
