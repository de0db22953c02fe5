//! Where a source is: its path, or standard input.

use std::fmt;
use std::path::{Path, PathBuf};

/// The location of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourcePath {
    /// A file or a folder, or a pipe or terminal that the user named.
    File(PathBuf),
    /// Standard input, with the name that the user gave it.
    Stdin(Option<PathBuf>),
    /// A file or a folder in an archive, written `archive!member`.
    Member(PathBuf),
}

impl SourcePath {
    /// The path, `-` for standard input without a name.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        match self {
            Self::File(path) | Self::Member(path) | Self::Stdin(Some(path)) => path,
            Self::Stdin(None) => Path::new("-"),
        }
    }
}

impl fmt::Display for SourcePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) | Self::Member(path) | Self::Stdin(Some(path)) => path.display().fmt(f),
            Self::Stdin(None) => f.write_str("standard input"),
        }
    }
}
