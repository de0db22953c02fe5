//! A piece of a source: a file, a stream, or an archive member.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::archive::Member;
use super::codec::{self, Codec, Decoded};
use super::error::InputError;
use super::read_timeout::{ReadTimeout, TimedStream};
use super::source_path::SourcePath;
use super::storage::Object;
use elephant_base::units::Millis;

/// See the module.
#[derive(Debug, Clone)]
pub struct Part {
    place: Place,
}

#[derive(Debug, Clone)]
enum Place {
    File(PathBuf),
    Object(Object),
    Stream(Stream),
    Member(Member),
}

/// A stream can be opened only once, so one that was examined is kept here.
#[derive(Debug, Clone)]
struct Stream {
    path: SourcePath,
    opened: Arc<Mutex<Option<Decoded>>>,
    /// How long to wait for it, if limited; restarts when it is examined and when it is read.
    read_timeout: Option<ReadTimeout>,
}

impl Part {
    pub(super) fn new_file(path: PathBuf) -> Self {
        Self { place: Place::File(path) }
    }

    pub(super) fn object(object: Object) -> Self {
        Self { place: Place::Object(object) }
    }

    /// A stream with a read timeout of `time`.
    pub(super) fn stream(path: SourcePath, time: Option<Millis>) -> Self {
        let read_timeout = time.map(ReadTimeout::new);
        Self { place: Place::Stream(Stream { path, opened: Arc::default(), read_timeout }) }
    }

    pub(super) fn member(member: Member) -> Self {
        Self { place: Place::Member(member) }
    }

    /// Returns an opened stream, to be read on from where it is.
    pub(super) fn put_back(&self, decoded: Decoded) {
        if let Place::Stream(stream) = &self.place {
            *stream.opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(decoded);
        }
    }

    /// Its name for messages: the path, or `archive!member`.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.place {
            Place::File(path) => path.display().to_string(),
            Place::Object(object) => object.path().display().to_string(),
            Place::Stream(stream) => stream.path.to_string(),
            Place::Member(member) => member.path().display().to_string(),
        }
    }

    /// The file on disk that holds it, the archive for a member; `-` is standard input.
    #[must_use]
    pub fn file(&self) -> &Path {
        match &self.place {
            Place::File(path) => path,
            Place::Object(object) => object.path(),
            Place::Stream(stream) => stream.path.as_path(),
            Place::Member(member) => member.archive_path(),
        }
    }

    /// Opens it at its start; a stream at its current position.
    ///
    /// # Errors
    /// If it cannot be opened. Later errors are returned by reading.
    pub fn open(&self) -> Result<Decoded, InputError> {
        match &self.place {
            Place::File(path) => open_file(path),
            Place::Object(object) => open_object(object),
            Place::Stream(stream) => stream.open(),
            Place::Member(member) => member.open().map(codec::decode),
        }
    }

    /// Whether an archive stores it compressed, in addition to any compression of its own.
    #[must_use]
    pub fn is_packed(&self) -> bool {
        matches!(&self.place, Place::Member(member) if member.is_compressed())
    }

    /// Whether it can be read only once.
    #[must_use]
    pub const fn is_stream(&self) -> bool {
        matches!(self.place, Place::Stream(_))
    }

    /// Its stored length in bytes, compressed if it is; `None` for a stream.
    #[must_use]
    pub fn stored_len(&self) -> Option<u64> {
        match &self.place {
            Place::File(path) => fs::metadata(path).ok().map(|metadata| metadata.len()),
            Place::Object(object) => object.size(),
            Place::Stream(_) => None,
            Place::Member(member) => member.stored_len(),
        }
    }

    /// The open file and its length in bytes if the part is an uncompressed file on disk, so that several
    /// threads can read it by position.
    #[must_use]
    pub fn plain_file(&self) -> Option<io::Result<(File, u64)>> {
        match &self.place {
            Place::File(path) => plain_file(path).transpose(),
            Place::Object(_) | Place::Stream(_) | Place::Member(_) => None,
        }
    }
}

impl Stream {
    fn open(&self) -> Result<Decoded, InputError> {
        if let Some(read_timeout) = &self.read_timeout {
            read_timeout.restart();
        }
        if let Some(decoded) = self.opened.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Ok(decoded);
        }
        let path = self.path.as_path();
        let stream: io::Result<Box<dyn Read + Send>> = match (&self.path, &self.read_timeout) {
            (SourcePath::Stdin(_), None) => Ok(Box::new(io::stdin())),
            (SourcePath::Stdin(_), Some(read_timeout)) => timed_stream(|| Ok(io::stdin()), read_timeout),
            (SourcePath::File(_) | SourcePath::Member(_), None) => return open_file(path),
            (SourcePath::File(file) | SourcePath::Member(file), Some(read_timeout)) => {
                let file = file.clone();
                timed_stream(move || File::open(file), read_timeout)
            }
        };
        stream.map(codec::decode).map_err(|error| InputError::from_io(path, error))
    }
}

fn open_file(path: &Path) -> Result<Decoded, InputError> {
    codec::open(path).map_err(|error| InputError::from_io(path, error))
}

fn open_object(object: &Object) -> Result<Decoded, InputError> {
    let reader = object.reader().map_err(|error| InputError::from_io(object.path(), error))?;
    // After `reader`, the size is known even for an object of unknown size, because a copy was made.
    Ok(codec::decode_sized(reader, object.size()))
}

fn timed_stream<R: Read>(
    open: impl FnOnce() -> io::Result<R> + Send + 'static,
    read_timeout: &ReadTimeout,
) -> io::Result<Box<dyn Read + Send>> {
    Ok(Box::new(TimedStream::new(open, read_timeout.clone())?))
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
