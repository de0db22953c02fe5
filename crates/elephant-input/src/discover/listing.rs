//! Lists files without opening one.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::Walk;
use crate::named::{Named, NamedPath};
use crate::storage::Object;
use elephant_base::limits::Limits;

/// The files that were found, unopened.
#[derive(Debug, Default)]
pub struct FileList {
    /// In the order of the walk; a file that cannot be examined is missing.
    pub files: Vec<Listed>,
    /// The folders that the user named.
    folders: Vec<PathBuf>,
    /// What could not be listed, or only in part.
    failed: Vec<PathBuf>,
}

impl FileList {
    /// The folders that the user named and that can be listed whole.
    #[must_use]
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// What could not be listed, or only in part.
    #[must_use]
    pub fn failed(&self) -> &[PathBuf] {
        &self.failed
    }

    /// Whether a file would be among these if it were still there: its folder was listed.
    #[must_use]
    pub fn covers(&self, path: &Path) -> bool {
        let is_below = |folders: &[PathBuf]| folders.iter().any(|folder| path.starts_with(folder));
        is_below(&self.folders) && !is_below(&self.failed)
    }
}

/// Lists the files that [`super::discover`] would examine, without opening one.
#[must_use]
pub fn list(named: Named<'_>, limits: &Limits) -> FileList {
    let storages = named.storages.cloned().unwrap_or_default();
    let walk = Walk::new(*limits, |_, _| None, storages.clone());
    let mut walk = Walk { listing: Some(Vec::new()), wanted: named.wanted, ..walk };
    let named_paths = named.sorted().into_iter();
    let folders: Vec<NamedPath<'_>> =
        named_paths.filter(|path| path.path != Path::new("-") && walk.named_path(*path, None)).collect();
    for folder in &folders {
        walk.folder(*folder);
    }
    walk.linked_files();
    let shown = |path: &Path| storages.of(path).map_or_else(|| path.to_path_buf(), |it| it.shown(path));
    // A server leaves out what is not wanted.
    let folders = folders.iter().filter(|_| named.wanted.is_none()).map(|folder| shown(folder.path));
    let failed = walk.sorter.inventory.failures.iter().map(|failure| failure.error.path().to_path_buf());
    FileList { folders: folders.collect(), failed: failed.collect(), files: walk.listing.unwrap_or_default() }
}

/// A file, unopened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Where it is; an address if it is in a storage.
    pub path: PathBuf,
    /// What tells whether it changed.
    pub state: FileState,
}

/// What changes when a file is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileState {
    /// Bytes.
    pub size: u64,
    /// When it was last modified, in nanoseconds since 1970; `None` if the file system does not record it.
    pub modified: Option<i64>,
    /// The version tag of its content, if the storage has one.
    pub etag: Option<String>,
}

impl FileState {
    /// Whether a file has the same content, as far as can be told without opening it.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        // Compare etags only if both are known: old stores have none.
        let is_renamed = self.etag.as_ref().zip(other.etag.as_ref()).is_some_and(|(own, other)| own != other);
        (self.size, self.modified) == (other.size, other.modified) && !is_renamed
    }
}

pub(super) fn listed(path: PathBuf) -> Option<Listed> {
    let metadata = fs::metadata(&path).ok()?;
    let modified = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let modified = modified.and_then(|since| i64::try_from(since.as_nanos()).ok());
    Some(Listed { path, state: FileState { size: metadata.len(), modified, etag: None } })
}

pub(super) fn listed_object(object: &Object) -> Listed {
    let stat = object.stat();
    let modified = stat.modified.and_then(|at| at.as_millis().checked_mul(1_000_000));
    // A log that a server creates on request has a time, but no size.
    let size = stat.size.unwrap_or_default();
    // Listings and responses quote etags differently.
    let etag =
        stat.etag.as_deref().map(|name| name.strip_prefix("W/").unwrap_or(name).trim_matches('"').to_owned());
    Listed { path: object.path().to_path_buf(), state: FileState { size, modified, etag } }
}
