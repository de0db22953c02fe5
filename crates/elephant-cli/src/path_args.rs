//! Options that name the histories to read.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use clap::Args;
use thiserror::Error;

use elephant_input::list::{ListError, PathList};
use elephant_input::named::Named;

/// Where histories are read from.
#[derive(Debug, Args)]
pub(super) struct PathArgs {
    /// Files, folders and archives with event logs and job histories; - reads standard input
    #[arg(required_unless_present = "files_from", value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    list: ListArgs,
    #[command(flatten)]
    stdin: StdinArgs,
}

/// A list of paths.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Also read the paths in this file: one per line, or each followed by a NUL byte (find -print0); - reads the list
    /// from standard input
    #[arg(long, value_name = "FILE")]
    files_from: Option<PathBuf>,
}

/// How standard input is called.
#[derive(Debug, Args)]
pub(super) struct StdinArgs {
    /// Name of standard input in the report, such as the path that it was fetched from
    #[arg(long, value_name = "NAME", value_hint = clap::ValueHint::Other)]
    stdin_name: Option<PathBuf>,
}

/// Paths that cannot be read together.
#[derive(Debug, Error)]
pub(super) enum PathError {
    #[error(transparent)]
    List(#[from] ListError),
    #[error(
        "standard input cannot be both the list of --files-from and a history; save the list to a file: --files-from FILE"
    )]
    TwoInputs,
    #[error(
        "--stdin-name names standard input, which is not read; add - to the paths, or leave --stdin-name out"
    )]
    NoStdin,
}

/// The paths to read, with those of the list.
#[derive(Debug)]
pub(super) struct Inputs<'a> {
    paths: Cow<'a, [PathBuf]>,
    list: Option<PathList>,
    stdin: Option<&'a Path>,
    /// The file that contains the list.
    list_file: Option<&'a Path>,
}

impl PathArgs {
    /// Reads the list, if there is one.
    ///
    /// # Errors
    /// If the list cannot be read, or standard input is asked for twice, or named but not read.
    pub(super) fn read(&self) -> Result<Inputs<'_>, PathError> {
        self.read_with(&[])
    }

    /// The same, and also reads `more` paths.
    pub(super) fn read_with<'a>(&'a self, more: &[PathBuf]) -> Result<Inputs<'a>, PathError> {
        let inputs = self.stdin.with(&self.paths, self.list.read()?)?;
        if more.is_empty() {
            return Ok(inputs);
        }
        Ok(Inputs { paths: [inputs.paths.as_ref(), more].concat().into(), ..inputs })
    }
}

impl ListArgs {
    /// The list and its file.
    pub(super) fn read(&self) -> Result<Option<(PathList, &Path)>, PathError> {
        let Some(file) = self.files_from.as_deref() else { return Ok(None) };
        Ok(Some((PathList::read(file)?, file)))
    }
}

impl StdinArgs {
    /// The name.
    pub(super) fn name(&self) -> Option<&Path> {
        self.stdin_name.as_deref()
    }

    /// All inputs: `paths` and the paths of `list`.
    pub(super) fn with<'a>(
        &'a self,
        paths: &'a [PathBuf],
        list: Option<(PathList, &'a Path)>,
    ) -> Result<Inputs<'a>, PathError> {
        let (list, list_file) = list.unzip();
        let stdin = self.name();
        let inputs = Inputs { paths: paths.into(), list, stdin, list_file };
        if inputs.reads_stdin() && list_file.is_some_and(is_stdin) {
            return Err(PathError::TwoInputs);
        }
        if stdin.is_some() && !inputs.reads_stdin() {
            return Err(PathError::NoStdin);
        }
        Ok(inputs)
    }
}

impl<'a> Inputs<'a> {
    /// These paths.
    pub(super) fn of(paths: &'a [PathBuf]) -> Self {
        Self { paths: paths.into(), list: None, stdin: None, list_file: None }
    }
}

impl Inputs<'_> {
    /// All inputs, for the engine.
    pub(super) fn named(&self) -> Named<'_> {
        Named {
            paths: &self.paths,
            list: self.list.as_ref(),
            stdin: self.stdin,
            wanted: None,
            storages: None,
            unchanged: None,
        }
    }

    /// The paths as files of partial results, each once.
    pub(super) fn parts(&self) -> Vec<&Path> {
        let listed = self.list.iter().flat_map(|list| &list.paths).map(|(path, _)| path);
        let mut files: Vec<&Path> = self.paths.iter().chain(listed).map(PathBuf::as_path).collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    /// Whether a history is read from standard input.
    pub(super) fn reads_stdin(&self) -> bool {
        let listed = self.list.iter().flat_map(|list| &list.paths).map(|(path, _)| path);
        self.paths.iter().chain(listed).any(|path| is_stdin(path))
    }

    /// The files and folders of the command line, which no output may replace.
    pub(super) fn files(&self) -> Vec<&Path> {
        self.paths.iter().map(PathBuf::as_path).chain(self.list_file).collect()
    }
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}
