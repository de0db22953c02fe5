//! What the user named.
use std::fs;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;

use super::error::InputError;
use super::inventory::by_bytes;
use super::list::PathList;
use super::storage::{Storages, Wanted};

/// Paths of the command line and of a list, and a name for standard input.
#[derive(Debug, Clone, Copy, Default)]
pub struct Named<'a> {
    /// Paths of files and folders; `-` is standard input.
    pub paths: &'a [PathBuf],
    /// A list of more paths.
    pub list: Option<&'a PathList>,
    /// The name of standard input in reports.
    pub stdin: Option<&'a Path>,
    /// Files that are left out unopened, as if they were not there.
    pub unchanged: Option<&'a FxHashSet<PathBuf>>,
    /// Which applications are read, for storages that know them.
    pub wanted: Option<&'a dyn Wanted>,
    /// The storages that addresses may be in; `None` for the files of this machine.
    pub storages: Option<&'a Storages>,
}

/// A path, and where a list names it.
#[derive(Debug, Clone, Copy)]
pub(super) struct NamedPath<'a> {
    pub(super) path: &'a Path,
    /// The line, and the name of the list.
    pub(super) line: Option<(u64, &'a str)>,
}

impl NamedPath<'_> {
    /// The error with the line of the list.
    pub(super) fn failed(self, error: InputError) -> InputError {
        match self.line {
            Some((line, list)) => InputError::Listed { error: Box::new(error), line, list: list.to_owned() },
            None => error,
        }
    }
}

impl<'a> Named<'a> {
    /// Whether a path is standard input or a pipe, which can be read only once.
    #[must_use]
    pub fn has_streams(self) -> bool {
        let is_stream = |path: &Path| {
            let is_file = |metadata: fs::Metadata| metadata.is_file() || metadata.is_dir();
            path == Path::new("-") || fs::metadata(path).is_ok_and(|metadata| !is_file(metadata))
        };
        self.sorted().iter().any(|named| is_stream(named.path))
    }

    /// Each path once, in the order of their bytes.
    pub(super) fn sorted(self) -> Vec<NamedPath<'a>> {
        let given = self.paths.iter().map(|path| NamedPath { path, line: None });
        let listed = self.list.iter().flat_map(|list| {
            list.paths.iter().map(|(path, line)| NamedPath { path, line: Some((*line, &list.name)) })
        });
        let mut all: Vec<NamedPath<'a>> = given.chain(listed).collect();
        // The sort is stable, so the first line of a path stays.
        all.sort_by(|a, b| by_bytes(a.path, b.path));
        all.dedup_by(|later, first| later.path == first.path);
        all
    }
}

impl<'a> From<&'a [PathBuf]> for Named<'a> {
    fn from(paths: &'a [PathBuf]) -> Self {
        Self { paths, ..Self::default() }
    }
}
