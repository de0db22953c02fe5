//! One object of a storage, read from its start to its end.

use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Stat, Storage};

/// The first range is enough to see what an object holds.
const FIRST: usize = 128 << 10;
/// Each further range is larger, up to this: a range costs a round trip to the storage.
const LARGEST: usize = 8 << 20;
const GROWTH: usize = 8;

/// See the module.
#[derive(Debug, Clone)]
pub(in crate::input) struct Object {
    storage: Arc<dyn Storage>,
    path: PathBuf,
    size: u64,
}

impl Object {
    pub(in crate::input) fn new(storage: &Arc<dyn Storage>, path: PathBuf, stat: &Stat) -> Self {
        let Stat { size, modified, etag } = stat;
        log::debug!("{}: {size} bytes, changed {modified:?}, content {etag:?}", path.display());
        Self { storage: Arc::clone(storage), path, size: *size }
    }

    pub(in crate::input) fn path(&self) -> &Path {
        &self.path
    }

    pub(in crate::input) const fn size(&self) -> u64 {
        self.size
    }

    /// Its bytes. Nothing is read yet.
    pub(in crate::input) fn reader(&self) -> impl Read + Send + 'static {
        Ranges { object: self.clone(), at: 0, range: Vec::new(), taken: 0, next: FIRST, is_cut: false }
    }
}

/// Reads an object range by range.
struct Ranges {
    object: Object,
    /// Where the next range starts.
    at: u64,
    range: Vec<u8>,
    /// Bytes of the range that were handed on.
    taken: usize,
    /// The length of the next range.
    next: usize,
    /// Whether the object has become shorter.
    is_cut: bool,
}

impl Ranges {
    fn fetch(&mut self) -> io::Result<()> {
        let left = usize::try_from(self.object.size - self.at).unwrap_or(usize::MAX);
        self.range.resize(left.min(self.next), 0);
        let count = self.object.storage.read_at(&self.object.path, self.at, &mut self.range)?;
        if count < self.range.len() {
            // What there is will be handed on first.
            self.object.size = self.at + count as u64;
            self.is_cut = true;
        }
        self.range.truncate(count);
        self.taken = 0;
        self.at += count as u64;
        self.next = self.next.saturating_mul(GROWTH).min(LARGEST);
        Ok(())
    }
}

impl Read for Ranges {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.range.len() && self.at < self.object.size {
            self.fetch()?;
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
