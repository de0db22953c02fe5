//! Finds logs that are being written.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::log_name::{self, Marker, Role};

/// A log below a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The file, or the folder of a rolling log.
    pub path: PathBuf,
    /// Whether it is being written.
    pub in_progress: bool,
}

/// The logs below a path, by path. A path that is itself a file or a rolling log is always returned, whatever its
/// state.
///
/// # Errors
/// If the path itself cannot be read. Folders below it that cannot be read are left out.
pub fn logs(path: &Path) -> io::Result<Vec<Found>> {
    let metadata = path.metadata()?;
    if !metadata.is_dir() {
        return Ok(vec![Found { path: path.to_owned(), in_progress: is_in_progress(path) }]);
    }
    let mut found = Vec::new();
    let mut walk = WalkDir::new(path).follow_links(true).sort_by_file_name().into_iter();
    while let Some(entry) = walk.next() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) if error.depth() == 0 => return Err(error.into()),
            Err(error) => {
                log::debug!("{error}");
                continue;
            }
        };
        if entry.file_type().is_dir() {
            if log_name::is_rolling_folder(name(entry.path())) {
                walk.skip_current_dir();
                found.push(Found {
                    in_progress: is_rolling_in_progress(entry.path()),
                    path: entry.into_path(),
                });
            }
        } else if is_log(&entry) {
            found.push(Found { in_progress: is_in_progress(entry.path()), path: entry.into_path() });
        }
    }
    Ok(found)
}

/// Whether new logs may appear below a path.
#[must_use]
pub fn is_open_ended(path: &Path) -> bool {
    path.is_dir() && !log_name::is_rolling_folder(name(path))
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(OsStr::to_str).unwrap_or_default()
}

fn is_in_progress(path: &Path) -> bool {
    log_name::is_in_progress(name(path))
}

/// Whether a file may be a log, judging by its name: checksums and hidden files are not.
fn is_log(entry: &DirEntry) -> bool {
    let name = name(entry.path());
    entry.file_type().is_file() && !name.is_empty() && !name.starts_with(['.', '_'])
}

/// A rolling log without its marker is not known to be finished.
fn is_rolling_in_progress(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    let folder = name(folder);
    let is_complete = |entry: io::Result<std::fs::DirEntry>| {
        let name = entry.ok().map(|entry| entry.file_name());
        let role = name.as_ref().and_then(|name| log_name::role(folder, name.to_str()?));
        matches!(role, Some((_, Role::Marker(Marker::Complete))))
    };
    !entries.into_iter().any(is_complete)
}
