//! One object of a storage, read from its start to its end.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::{Fetched, Stat, Storage};

/// The first range is enough to see what an object holds.
const FIRST: usize = 128 << 10;
/// Each further range is larger, up to this: a range costs a round trip to the storage.
const LARGEST: usize = 8 << 20;
const GROWTH: usize = 8;

/// See the module. Clones share what was copied to this machine.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    storage: Arc<dyn Storage>,
    /// Where it is.
    address: PathBuf,
    /// How reports name it.
    path: PathBuf,
    stat: Stat,
    fetched: Arc<Mutex<Option<Fetched>>>,
}

impl Object {
    pub(crate) fn new(storage: &Arc<dyn Storage>, address: PathBuf, stat: Stat) -> Self {
        let path = storage.shown(&address);
        let Stat { size, modified, etag } = &stat;
        log::debug!("{}: {size:?} bytes, changed {modified:?}, content {etag:?}", path.display());
        Self { storage: Arc::clone(storage), address, path, stat, fetched: Arc::default() }
    }

    pub(crate) fn address(&self) -> &Path {
        &self.address
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
    pub(crate) const fn stat(&self) -> &Stat {
        &self.stat
    }

    /// Its length in bytes, if it is known by now.
    pub(crate) fn size(&self) -> Option<u64> {
        self.stat.size.or_else(|| self.copy().map(|copy| copy.size()))
    }

    /// The copy of it on this machine, if one had to be made.
    pub(crate) fn copy(&self) -> Option<Fetched> {
        self.fetched.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Its bytes. Nothing is read yet, unless the storage gives it only as a whole.
    ///
    /// # Errors
    /// If it cannot be copied.
    pub(crate) fn reader(&self) -> io::Result<Box<dyn Read + Send>> {
        match self.stat.size {
            Some(size) if self.copy().is_none() => Ok(Box::new(Ranges::of(self.clone(), size))),
            _ => Ok(Box::new(File::open(self.fetch()?.path())?)),
        }
    }

    /// Copies it to this machine, unless it was already.
    fn fetch(&self) -> io::Result<Fetched> {
        let mut fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(copy) = &*fetched {
            return Ok(copy.clone());
        }
        let copy = Fetched::new(|file| self.storage.fetch(&self.address, &self.stat, file))?;
        log::debug!("{}: copied, {} bytes", self.path.display(), copy.size());
        Ok(fetched.insert(copy).clone())
    }

    fn read_at(&self, at: u64, mut range: Vec<u8>) -> Range {
        let read = self.storage.read_at(&self.address, &self.stat, at, &mut range);
        read.map(|count| (range, count))
    }
}

/// A buffer, and the bytes in it.
type Range = io::Result<(Vec<u8>, usize)>;

/// Reads an object range by range. The next large one is requested while one is used.
struct Ranges {
    object: Object,
    size: u64,
    /// Where the next range starts.
    at: u64,
    range: Vec<u8>,
    /// Bytes of the range that were handed on.
    taken: usize,
    /// The length of the next range.
    next: usize,
    ahead: Option<JoinHandle<Range>>,
    /// Whether the object has become shorter.
    is_cut: bool,
    /// The copy that is read instead, if the storage does not give ranges.
    copy: Option<File>,
}

impl Ranges {
    fn of(object: Object, size: u64) -> Self {
        let (range, ahead, copy) = (Vec::new(), None, None);
        Self { object, size, at: 0, range, taken: 0, next: FIRST, ahead, is_cut: false, copy }
    }

    fn fetch(&mut self) -> io::Result<()> {
        let wanted = self.wanted();
        let read = if let Some(ahead) = self.ahead.take() {
            ahead.join().unwrap_or_else(|_| Err(io::Error::other("a thread ended early")))
        } else {
            let mut range = std::mem::take(&mut self.range);
            range.resize(wanted, 0);
            self.object.read_at(self.at, range)
        };
        let (mut range, count) = match read {
            Err(error) if error.kind() == ErrorKind::Unsupported => return self.use_copy(),
            read => read?,
        };
        if count < range.len() {
            // The bytes that exist are handed on before the error.
            self.size = self.at + count as u64;
            self.is_cut = true;
        }
        range.truncate(count);
        self.range = range;
        self.taken = 0;
        self.at += count as u64;
        self.next = self.next.saturating_mul(GROWTH).min(LARGEST);
        if self.next == LARGEST && self.at < self.size {
            let (object, at, len) = (self.object.clone(), self.at, self.wanted());
            let ahead = move || object.read_at(at, vec![0; len]);
            // Without another thread, the range is read when it is needed.
            self.ahead = thread::Builder::new().name("read-ahead".to_owned()).spawn(ahead).ok();
        }
        Ok(())
    }

    /// The length of the next range.
    fn wanted(&self) -> usize {
        usize::try_from(self.size - self.at).unwrap_or(usize::MAX).min(self.next)
    }

    /// Reads on from a copy.
    fn use_copy(&mut self) -> io::Result<()> {
        let mut file = File::open(self.object.fetch()?.path())?;
        file.seek(SeekFrom::Start(self.at))?;
        self.range.clear();
        self.taken = 0;
        self.copy = Some(file);
        Ok(())
    }
}

impl Read for Ranges {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.copy.is_none() && self.taken == self.range.len() && self.at < self.size {
            self.fetch()?;
        }
        if let Some(copy) = &mut self.copy {
            return copy.read(out);
        }
        if self.taken == self.range.len() && std::mem::take(&mut self.is_cut) {
            let message = "it is shorter than it was when it was listed";
            return Err(io::Error::new(ErrorKind::UnexpectedEof, message));
        }
        let rest = self.range.get(self.taken..).unwrap_or_default();
        let count = rest.len().min(out.len());
        if let Some((rest, out)) = rest.get(..count).zip(out.get_mut(..count)) {
            out.copy_from_slice(rest);
        }
        self.taken += count;
        Ok(count)
    }
}
