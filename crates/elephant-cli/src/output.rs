//! Writes reports to standard output, or to a file that appears whole or not at all.

use std::borrow::Cow;
use std::error::Error;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anstream::{AutoStream, ColorChoice};
use log::debug;
use tempfile::NamedTempFile;
use terminal_size::{Width, terminal_size_of};
use thiserror::Error;

use super::interrupt::Temporary;
use super::{Color, locale};
use elephant_base::address::{Address, without_secrets};
use elephant_engine::engine::discover;
use elephant_report::TextOptions;
use elephant_report::ascii::to_ascii;
use elephant_report::wrap::clean;

/// File names that mean standard output. Treated as files, they would be replaced, with everything that other commands
/// had written to them.
const STANDARD_OUTPUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
/// Longer lines are hard to read.
const MOST_COLUMNS: usize = 120;
/// Maximum number of symbolic links to follow, as in Linux.
const MAX_LINKS: usize = 40;

/// A report that could not be written.
#[derive(Debug, Error)]
pub(super) enum OutputError {
    /// The file cannot be created.
    #[error("cannot write the report to {path}: {source}; choose another --output", path = Address::of(path))]
    Create { path: PathBuf, source: io::Error },
    /// The baseline cannot be created.
    #[error("cannot write the baseline {path}: {source}", path = Address::of(path))]
    Baseline { path: PathBuf, source: io::Error },
    /// The report would overwrite an input.
    #[error("the report would overwrite {path}, which is an input; choose another --output", path = Address::of(path))]
    IsInput { path: PathBuf },
    /// The report would replace a history, even if this command does not read it.
    #[error(
        "{path} is an event log, a job history or a job configuration, which a report must not replace; choose \
         another --output",
        path = Address::of(path)
    )]
    IsHistory { path: PathBuf },
    /// Two outputs have the same path.
    #[error("{path} would be written twice; choose another --output", path = Address::of(path))]
    Twice { path: PathBuf },
    /// Writing to standard output or to the file failed.
    #[error("cannot write the report: {0}")]
    Write(#[from] io::Error),
}

impl OutputError {
    /// The same error for the baseline, which `--output` does not name.
    pub(super) fn of_baseline(self) -> Self {
        match self {
            Self::Create { path, source } => Self::Baseline { path, source },
            other => other,
        }
    }
}

/// Whether this file name means standard output.
pub(super) fn is_standard_output(path: &Path) -> bool {
    STANDARD_OUTPUT.iter().any(|name| path.as_os_str() == *name)
}

/// Where a report goes. It is opened before the work starts, so that a wrong path fails early.
pub(super) enum Output {
    Stdout,
    /// A temporary file in the folder of `place`, renamed when it is complete.
    Staged {
        temporary: Temporary,
        place: PathBuf,
    },
    /// A device or a pipe, which cannot be replaced.
    Direct(File),
}

impl Output {
    /// Opens a file that must be none of the `others`, which need not exist.
    pub(super) fn open_apart<'p>(
        path: Option<&Path>,
        others: impl IntoIterator<Item = &'p Path>,
    ) -> Result<Self, OutputError> {
        if let Some(path) = path.filter(|path| !is_standard_output(path)) {
            let same = |other: &Path| at(other).is_some_and(|other| at(path) == Some(other));
            if others.into_iter().any(same) {
                return Err(OutputError::IsInput { path: path.to_owned() });
            }
        }
        Self::open(path)
    }

    pub(super) fn open(path: Option<&Path>) -> Result<Self, OutputError> {
        let Some(path) = path.filter(|path| !is_standard_output(path)) else {
            try_standard_output()?;
            return Ok(Self::Stdout);
        };
        let failed = |source| OutputError::Create { path: path.to_owned(), source };
        // Check this before links are resolved: a link such as /dev/fd/2 may lead to a pipe without a path.
        if fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
            return Ok(Self::Direct(File::options().write(true).open(path).map_err(failed)?));
        }
        let place = resolve_links(path).map_err(failed)?;
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
                    // Renaming would replace even a file without write permission.
                    File::options().write(true).open(&place).map_err(failed)?;
                }
                let folder = folder.unwrap_or(Path::new("."));
                // Check the folder first, because otherwise the error would name the temporary file.
                fs::metadata(folder).map_err(failed)?;
                let temporary = Temporary::create(|| builder.tempfile_in(folder)).map_err(failed)?;
                if let Ok(meta) = meta {
                    keep_mode(temporary.file(), &meta);
                }
                Ok(Self::Staged { temporary, place })
            }
        }
    }

    /// Fails if both are the same file.
    pub(super) fn differs_from(&self, other: &Self) -> Result<(), OutputError> {
        match (self, other) {
            (Self::Staged { place: one, .. }, Self::Staged { place: other, .. })
                if folder_and_name(one) == folder_and_name(other) =>
            {
                Err(OutputError::Twice { path: one.clone() })
            }
            _ => Ok(()),
        }
    }

    /// How text is laid out here: as wide as the terminal, in the characters of the locale.
    pub(super) fn text_options(&self, color: Color) -> TextOptions {
        let columns = match self {
            Self::Stdout => terminal_size_of(io::stdout()).map(|(Width(columns), _)| columns),
            Self::Staged { .. } | Self::Direct(_) => None,
        };
        let default = TextOptions::default();
        TextOptions {
            columns: columns.map_or(default.columns, |columns| usize::from(columns).min(MOST_COLUMNS)),
            color: self.wants_color(color),
            ascii: locale::is_ascii(),
            ..default
        }
    }

    /// Whether to use colour. Files and pipes get it only with `--color always`.
    fn wants_color(&self, color: Color) -> bool {
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
            Self::Stdout => Ok(write_buffered(io::stdout().lock(), render).map(drop)?),
            Self::Direct(file) => Ok(write_buffered(file, render).map(drop)?),
            Self::Staged { temporary, place } => {
                write_buffered(temporary.file().as_file(), render)?;
                temporary.persist(&place).map_err(|source| OutputError::Create { path: place, source })
            }
        }
    }
}

/// Fails if standard output cannot be written. The standard library ignores that error and loses the output. If standard
/// output was closed when the process began, the standard library has replaced it by `/dev/null`, which cannot be detected.
#[cfg(unix)]
pub(super) fn try_standard_output() -> io::Result<()> {
    use std::os::fd::AsFd;
    File::from(io::stdout().as_fd().try_clone_to_owned()?).write(&[]).map(drop)
}

/// No such loss is known on other systems.
#[cfg(not(unix))]
pub(super) fn try_standard_output() -> io::Result<()> {
    Ok(())
}

/// Whether the file is a history or a job configuration, also if this command does not read it.
fn is_history(place: &Path) -> bool {
    let found = discover(&[place.to_owned()]);
    !found.histories.is_empty() || !found.confs.is_empty()
}

/// The path that symbolic links lead to, so that the target is replaced and not the link. It need not exist.
fn resolve_links(path: &Path) -> io::Result<PathBuf> {
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
    Err(io::Error::other("too many symbolic links"))
}

/// Where a file is, or where one will be that does not exist yet.
fn at(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok().or_else(|| {
        let (folder, name) = folder_and_name(path);
        Some(folder?.join(name?))
    })
}

/// The canonical folder and the name of a file that need not exist.
fn folder_and_name(place: &Path) -> (Option<PathBuf>, Option<&OsStr>) {
    let folder = place.parent().map(|folder| if folder == Path::new("") { Path::new(".") } else { folder });
    (folder.and_then(|folder| fs::canonicalize(folder).ok()), place.file_name())
}

/// Gives the new file the permissions of the file that it replaces. A failure is only logged.
fn keep_mode(file: &NamedTempFile, replaced: &fs::Metadata) {
    if let Err(error) = file.as_file().set_permissions(replaced.permissions()) {
        debug!("cannot keep the permissions of the replaced file: {error}");
    }
}

fn write_buffered<W: Write>(
    writer: W,
    render: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<W> {
    let mut buffered = BufWriter::new(writer);
    render(&mut buffered)?;
    let mut writer = buffered.into_inner().map_err(io::IntoInnerError::into_error)?;
    writer.flush()?;
    Ok(writer)
}

/// Writes one line to standard error. Write errors are ignored, because standard error may be closed.
pub(super) fn print_message(level: &str, message: &str) {
    let _ = writeln!(io::stderr(), "elephant-rs: {level}: {}", printable(message));
}

/// Hides secrets of addresses, which errors of the operating system and of libraries may repeat. Replaces control
/// characters and commands, because a file name in a message must not move the cursor, start a new line or direct a
/// program that reads it, and characters that the terminal cannot show.
pub(super) fn printable(message: &str) -> String {
    in_locale(&clean(&without_secrets(message))).into_owned()
}

/// Text in the characters of the locale.
pub(super) fn in_locale(text: &str) -> Cow<'_, str> {
    if locale::is_ascii() { to_ascii(text) } else { Cow::Borrowed(text) }
}

/// Like [`print_message`], without a level.
pub(super) fn print_note(message: &str) {
    let _ = writeln!(io::stderr(), "elephant-rs: {}", printable(message));
}

/// Whether the error means that the reader of our output closed the pipe.
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
