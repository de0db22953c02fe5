//! One of the pieces that a source is read from: a file, a stream, or a member of an archive.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::archive::Member;
use super::codec::{self, Codec, Decoded};
use super::error::InputError;
use super::patience::{Awaited, Patience};
use super::source::SourcePath;
use crate::units::Millis;

/// See the module.
#[derive(Debug, Clone)]
pub struct Part {
    place: Place,
}

#[derive(Debug, Clone)]
enum Place {
    File(PathBuf),
    Stream(Stream),
    Member(Member),
}

/// A stream can be opened only once, so one that was looked at waits here.
#[derive(Debug, Clone)]
struct Stream {
    path: SourcePath,
    opened: Arc<Mutex<Option<Decoded>>>,
    /// How long to wait for it, where there is a limit; counted anew when it is looked at and when it is read.
    patience: Option<Patience>,
}

impl Part {
    pub(super) fn new_file(path: PathBuf) -> Self {
        Self { place: Place::File(path) }
    }

    /// A stream that is waited for as long as `time`.
    pub(super) fn stream(path: SourcePath, time: Option<Millis>) -> Self {
        let patience = time.map(Patience::new);
        Self { place: Place::Stream(Stream { path, opened: Arc::default(), patience }) }
    }

    pub(super) fn member(member: Member) -> Self {
        Self { place: Place::Member(member) }
    }

    /// Gives an opened stream back, to be read from where it is.
    pub(super) fn put_back(&self, decoded: Decoded) {
        if let Place::Stream(stream) = &self.place {
            *stream.opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(decoded);
        }
    }

    /// Its name for people: the path, `archive!member` in an archive.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.place {
            Place::File(path) => path.display().to_string(),
            Place::Stream(stream) => stream.path.to_string(),
            Place::Member(member) => member.path().display().to_string(),
        }
    }

    /// The file on disk that holds it, the archive itself for its members; `-` is standard input.
    #[must_use]
    pub fn file(&self) -> &Path {
        match &self.place {
            Place::File(path) => path,
            Place::Stream(stream) => stream.path.as_path(),
            Place::Member(member) => member.archive_path(),
        }
    }

    /// Opens it at its start; a stream where it is.
    ///
    /// # Errors
    /// If it cannot be opened. Errors while reading come out of the result.
    pub fn open(&self) -> Result<Decoded, InputError> {
        match &self.place {
            Place::File(path) => codec::open(path),
            Place::Stream(stream) => stream.open(),
            Place::Member(member) => member.open().map(codec::decode),
        }
    }

    /// Whether an archive stores it compressed, whatever compression it has itself.
    #[must_use]
    pub fn is_packed(&self) -> bool {
        matches!(&self.place, Place::Member(member) if member.is_compressed())
    }

    /// Its length as it is stored, compressed if it is; `None` for a stream.
    #[must_use]
    pub fn stored_len(&self) -> Option<u64> {
        match &self.place {
            Place::File(path) => fs::metadata(path).ok().map(|metadata| metadata.len()),
            Place::Stream(_) => None,
            Place::Member(member) => member.stored_len(),
        }
    }

    /// The file itself with its length where the part is a file on disk without compression, so that several
    /// threads can read it by position.
    #[must_use]
    pub fn plain_file(&self) -> Option<io::Result<(File, u64)>> {
        match &self.place {
            Place::File(path) => plain_file(path).transpose(),
            Place::Stream(_) | Place::Member(_) => None,
        }
    }
}

impl Stream {
    fn open(&self) -> Result<Decoded, InputError> {
        if let Some(patience) = &self.patience {
            patience.begin();
        }
        if let Some(decoded) = self.opened.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Ok(decoded);
        }
        let path = self.path.as_path();
        let stream: io::Result<Box<dyn Read + Send>> = match (&self.path, &self.patience) {
            (SourcePath::Stdin, None) => Ok(Box::new(io::stdin())),
            (SourcePath::Stdin, Some(patience)) => awaited(|| Ok(io::stdin()), patience),
            (SourcePath::File(_) | SourcePath::Member(_), None) => return codec::open(path),
            (SourcePath::File(file) | SourcePath::Member(file), Some(patience)) => {
                let file = file.clone();
                awaited(move || File::open(file), patience)
            }
        };
        stream.map(codec::decode).map_err(|error| InputError::from_io(path, error))
    }
}

fn awaited<R: Read>(
    open: impl FnOnce() -> io::Result<R> + Send + 'static,
    patience: &Patience,
) -> io::Result<Box<dyn Read + Send>> {
    Ok(Box::new(Awaited::new(open, patience.clone())?))
}

fn plain_file(path: &Path) -> io::Result<Option<(File, u64)>> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    let mut head = Vec::new();
    (&file).take(codec::LONG_MAGIC_LEN as u64).read_to_end(&mut head)?;
    if !metadata.is_file() || Codec::from_magic(&head) != Codec::Plain {
        return Ok(None);
    }
    file.rewind()?;
    Ok(Some((file, metadata.len())))
}
