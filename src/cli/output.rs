//! Where reports go: standard output, or a file that appears whole or not at all.

use std::error::Error;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anstream::{AutoStream, ColorChoice};
use log::debug;
use tempfile::NamedTempFile;
use thiserror::Error;

use super::Color;
use super::interrupt::Temporary;
use crate::engine::discover;

/// What people call standard output where a file's name is asked for. As a file it would be replaced, with all that was
/// written to it before.
const STANDARD_OUTPUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
/// As many links as Linux follows.
const MAX_LINKS: usize = 40;

/// A report that could not be written.
#[derive(Debug, Error)]
pub(super) enum OutputError {
    /// The file cannot be made.
    #[error("cannot write the report to {path}: {source}; choose another --output", path = path.display())]
    Create { path: PathBuf, source: io::Error },
    /// The baseline cannot be made.
    #[error("cannot write the baseline {path}: {source}", path = path.display())]
    Baseline { path: PathBuf, source: io::Error },
    /// The report would overwrite what is read.
    #[error("the report may not overwrite {path}, which is read; choose another --output", path = path.display())]
    IsInput { path: PathBuf },
    /// The report would replace a history, wherever it is read from.
    #[error(
        "{path} is a history or configuration of a job, which a report does not replace; choose another --output",
        path = path.display()
    )]
    IsHistory { path: PathBuf },
    /// Two things would go to one place.
    #[error("{path} would be written twice; choose another --output", path = path.display())]
    Twice { path: PathBuf },
    /// Standard output or the file broke while it was written.
    #[error("cannot write the report: {0}")]
    Write(#[from] io::Error),
}

impl OutputError {
    /// The same about a baseline, which `--output` does not name.
    pub(super) fn of_baseline(self) -> Self {
        match self {
            Self::Create { path, source } => Self::Baseline { path, source },
            other => other,
        }
    }
}

/// Whether this name of a file means standard output.
pub(super) fn is_standard_output(path: &Path) -> bool {
    STANDARD_OUTPUT.iter().any(|name| path.as_os_str() == *name)
}

/// Where a report goes. Made before the work starts, so that a bad path fails early.
pub(super) enum Output {
    Stdout,
    /// Written beside its place, then renamed.
    Beside {
        temporary: Temporary,
        place: PathBuf,
    },
    /// A device or a pipe, which cannot be replaced.
    Direct(File),
}

impl Output {
    pub(super) fn open(path: Option<&Path>) -> Result<Self, OutputError> {
        let Some(path) = path.filter(|path| !is_standard_output(path)) else {
            try_standard_output()?;
            return Ok(Self::Stdout);
        };
        let failed = |source| OutputError::Create { path: path.to_owned(), source };
        // A pipe behind /dev/stdout has no path of its own.
        if fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
            return Ok(Self::Direct(File::options().write(true).open(path).map_err(failed)?));
        }
        let place = behind_links(path).map_err(failed)?;
        let is_folder = path.as_os_str().as_encoded_bytes().ends_with(b"/");
        match fs::metadata(&place) {
            Ok(meta) if meta.is_dir() => Err(failed(io::Error::from(ErrorKind::IsADirectory))),
            Err(_) if is_folder => Err(failed(io::Error::from(ErrorKind::IsADirectory))),
            Ok(_) if is_history(&place) => Err(OutputError::IsHistory { path: path.to_owned() }),
            meta => {
                let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty());
                let mut builder = tempfile::Builder::new();
                builder.prefix(".elephant-rs-");
                #[cfg(unix)]
                builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
                if meta.is_ok() {
                    // Renaming would overwrite what may not be written.
                    File::options().write(true).open(&place).map_err(failed)?;
                }
                let folder = folder.unwrap_or(Path::new("."));
                // Or else the error would name the temporary file.
                fs::metadata(folder).map_err(failed)?;
                let make = || builder.tempfile_in(folder);
                let temporary = Temporary::make(make).map_err(failed)?;
                if let Ok(meta) = meta {
                    keep_mode(temporary.file(), &meta);
                }
                Ok(Self::Beside { temporary, place })
            }
        }
    }

    /// Fails where both would be one file.
    pub(super) fn differs_from(&self, other: &Self) -> Result<(), OutputError> {
        match (self, other) {
            (Self::Beside { place: one, .. }, Self::Beside { place: other, .. })
                if spot(one) == spot(other) =>
            {
                Err(OutputError::Twice { path: one.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Whether colour makes sense here; files and pipes get it only when it is asked for.
    pub(super) fn wants_color(&self, color: Color) -> bool {
        match (color, self) {
            (Color::Always, _) => true,
            (Color::Auto, Self::Stdout) => AutoStream::choice(&io::stdout()) != ColorChoice::Never,
            (Color::Auto | Color::Never, _) => false,
        }
    }

    /// Writes the whole report through `render`.
    pub(super) fn write(
        self,
        render: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        match self {
            Self::Stdout => Ok(buffered(io::stdout().lock(), render).map(drop)?),
            Self::Direct(file) => Ok(buffered(file, render).map(drop)?),
            Self::Beside { temporary, place } => {
                buffered(temporary.file().as_file(), render)?;
                temporary.persist(&place).map_err(|source| OutputError::Create { path: place, source })
            }
        }
    }
}

/// Fails where standard output cannot be written: the standard library lets everything vanish there. What was closed when
/// the process began it has opened again by now, to nowhere, and nobody can tell.
#[cfg(unix)]
pub(super) fn try_standard_output() -> io::Result<()> {
    use std::os::fd::AsFd;
    File::from(io::stdout().as_fd().try_clone_to_owned()?).write(&[]).map(drop)
}

/// Nothing is known to vanish here.
#[cfg(not(unix))]
pub(super) fn try_standard_output() -> io::Result<()> {
    Ok(())
}

/// Whether a file is an input of this command or of the next one, whatever folder or link leads to it.
fn is_history(place: &Path) -> bool {
    let found = discover(&[place.to_owned()]);
    !found.histories.is_empty() || !found.confs.is_empty()
}

/// The place that links lead to, so that the file behind a link is replaced and not the link; it need not be there.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_owned();
    for _ in 0..MAX_LINKS {
        if let Ok(there) = fs::canonicalize(&place) {
            return Ok(there);
        }
        match fs::read_link(&place) {
            Ok(target) => {
                place = place.parent().map_or_else(|| target.clone(), |folder| folder.join(&target));
            }
            Err(_) => return Ok(place),
        }
    }
    Err(io::Error::other("too many links lead to each other"))
}

/// The folder and the name of a file that need not be there.
fn spot(place: &Path) -> (Option<PathBuf>, Option<&OsStr>) {
    let folder = place.parent().map(|folder| if folder == Path::new("") { Path::new(".") } else { folder });
    (folder.and_then(|folder| fs::canonicalize(folder).ok()), place.file_name())
}

/// Gives the new file the permissions of the one that it replaces; that it cannot have them is no reason to fail.
fn keep_mode(file: &NamedTempFile, replaced: &fs::Metadata) {
    if let Err(error) = file.as_file().set_permissions(replaced.permissions()) {
        debug!("the report has other permissions than the file that it replaces: {error}");
    }
}

fn buffered<W: Write>(writer: W, render: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<W> {
    let mut buffered = BufWriter::new(writer);
    render(&mut buffered)?;
    let mut writer = buffered.into_inner().map_err(io::IntoInnerError::into_error)?;
    writer.flush()?;
    Ok(writer)
}

/// Writes one line to standard error; that it may be closed is no reason to fail.
#[allow(clippy::let_underscore_must_use)]
pub(super) fn complain(level: &str, message: &str) {
    let _ = writeln!(io::stderr(), "elephant-rs: {level}: {}", harmless(message));
}

/// Names of files come from others: they may not move the cursor or start a new line.
pub(super) fn harmless(message: &str) -> String {
    message.replace(char::is_control, " ")
}

/// As [`complain`], without a level.
#[allow(clippy::let_underscore_must_use)]
pub(super) fn tell(message: &str) {
    let harmless = message.replace(char::is_control, " ");
    let _ = writeln!(io::stderr(), "elephant-rs: {harmless}");
}

/// Whether an error means that the reader of our output went away.
pub(super) fn is_closed_pipe(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(current) = next {
        if current.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == ErrorKind::BrokenPipe) {
            return true;
        }
        next = current.source();
    }
    false
}
