//! Canonical paths of folders while a tree is walked.

use std::path::PathBuf;
use std::{fs, io};

use walkdir::DirEntry;

/// The canonical paths of the folders that lead to the present entry, as far as they are known.
#[derive(Debug, Default)]
pub(super) struct Ancestors(Vec<Option<PathBuf>>);

impl Ancestors {
    /// The canonical path of a folder, which becomes the last of them. Resolving each path as a whole would take time
    /// proportional to the cube of the depth.
    pub(super) fn canonical(&mut self, folder: &DirEntry) -> io::Result<PathBuf> {
        self.0.truncate(folder.depth());
        let parent = self.0.last().and_then(Option::as_ref).filter(|_| !folder.path_is_symlink());
        let canonical = match parent {
            Some(parent) => Ok(parent.join(folder.file_name())),
            None => fs::canonicalize(folder.path()),
        };
        self.0.push(canonical.as_ref().ok().cloned());
        canonical
    }
}
