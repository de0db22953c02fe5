//! The parts of a rolling log, one after the other.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::Reached;
use super::file::{FileError, Growing};
use crate::log_name::{self, Marker, Order, Role};

/// A folder with the parts of a log.
pub(super) struct Rolling {
    folder: PathBuf,
    current: Option<(u64, Growing)>,
}

/// What the folder holds now.
#[derive(Default)]
struct Listed {
    /// The parts by number, and whether each is compacted. A compacted part contains the remaining events of itself and
    /// of all earlier parts.
    parts: Vec<(u64, bool, PathBuf)>,
    finished: bool,
}

impl Rolling {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), current: None }
    }

    pub(super) fn written_at(&self) -> Option<SystemTime> {
        match &self.current {
            Some((_, file)) => file.written_at(),
            None => self.folder.metadata().ok()?.modified().ok(),
        }
    }

    /// Reads the next piece of the current part, or goes on to the next one.
    pub(super) fn read(&mut self, take: &mut impl FnMut(&[u8])) -> Result<Reached, (PathBuf, FileError)> {
        let listed = self.list().map_err(|error| (self.folder.clone(), error.into()))?;
        let Some((number, file)) = &mut self.current else { return self.open_after(None, &listed) };
        let number = *number;
        // A part is finished when the next one begins.
        let is_last = !listed.parts.iter().any(|(other, _, _)| *other > number);
        if !is_last || listed.finished {
            file.finish();
        }
        match file.read(take).map_err(|error| (self.folder.clone(), error))? {
            Reached::End if is_last && listed.finished => Ok(Reached::End),
            Reached::End => self.open_after(Some(number), &listed),
            reached => Ok(reached),
        }
    }

    /// Opens the first part after a number.
    fn open_after(&mut self, number: Option<u64>, listed: &Listed) -> Result<Reached, (PathBuf, FileError)> {
        let compacted = listed.parts.iter().rev().find(|(_, compacted, _)| *compacted);
        let from = number.or_else(|| compacted.map(|(number, _, _)| number.saturating_sub(1)));
        let next = listed.parts.iter().find(|(other, compacted, _)| {
            from.is_none_or(|from| *other > from) && (number.is_none() || !*compacted)
        });
        let Some((number, _, path)) = next else {
            return Ok(if listed.finished { Reached::End } else { Reached::Now });
        };
        let file = Growing::open_part(path).map_err(|error| (path.clone(), error))?;
        self.current = Some((*number, file));
        Ok(Reached::Behind)
    }

    fn list(&self) -> io::Result<Listed> {
        let folder = self.folder.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let mut listed = Listed::default();
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let Some((_, role)) = name.to_str().and_then(|name| log_name::role(folder, name)) else {
                continue;
            };
            match role {
                Role::Part { order: Order::Number(number), compacted } => {
                    listed.parts.push((number, compacted, entry.path()));
                }
                Role::Marker(Marker::Complete) => listed.finished = true,
                Role::Part { .. } | Role::Marker(_) => {}
            }
        }
        // If two parts have the same number, keep the compacted one, which contains the other.
        listed.parts.sort_by_key(|(number, compacted, _)| (*number, !compacted));
        listed.parts.dedup_by_key(|(number, _, _)| *number);
        Ok(listed)
    }
}
