//! Remembers the objects that a storage did not deliver completely, whatever a reader made of the bytes that arrived.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashSet;

use super::{Listing, Stat, Storage};

/// Objects by the paths that reports have for them. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct BrokenOff(Arc<Mutex<FxHashSet<PathBuf>>>);

impl BrokenOff {
    /// Whether an object, or the archive that it is a member of, was not read to its end.
    pub fn has(&self, path: &Path) -> bool {
        let broken_off = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let archives = || {
            let path = path.to_str()?;
            Some(path.match_indices('!').filter_map(|(at, _)| path.get(..at)))
        };
        !broken_off.is_empty()
            && (broken_off.contains(path)
                || archives().into_iter().flatten().any(|path| broken_off.contains(Path::new(path))))
    }

    fn add(&self, path: PathBuf) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path);
    }
}

/// A storage whose failures are remembered.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) storage: Arc<dyn Storage>,
    pub(super) broken_off: BrokenOff,
}

impl Watched {
    fn noted<T>(&self, path: &Path, read: io::Result<T>) -> io::Result<T> {
        // If the storage only delivers whole objects, the object is fetched next.
        if read.as_ref().is_err_and(|error| error.kind() != ErrorKind::Unsupported) {
            self.broken_off.add(self.storage.shown(path));
        }
        read
    }
}

impl Storage for Watched {
    fn scheme(&self) -> &'static str {
        self.storage.scheme()
    }

    fn shown(&self, address: &Path) -> PathBuf {
        self.storage.shown(address)
    }

    fn list(
        &self,
        listing: Listing<'_>,
        found: &mut dyn FnMut(PathBuf, Stat) -> ControlFlow<()>,
    ) -> io::Result<()> {
        self.storage.list(listing, found)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.storage.stat(path)
    }

    fn read_at(&self, path: &Path, stat: &Stat, at: u64, out: &mut [u8]) -> io::Result<usize> {
        self.noted(path, self.storage.read_at(path, stat, at, out))
    }

    fn fetch(&self, path: &Path, stat: &Stat, to: &mut File) -> io::Result<()> {
        self.noted(path, self.storage.fetch(path, stat, to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_an_archive_break_off_with_it() {
        let broken_off = BrokenOff::default();
        assert!(!broken_off.has(Path::new("s3://b/a.zip")));
        broken_off.add(PathBuf::from("s3://b/a.zip"));
        assert!(broken_off.has(Path::new("s3://b/a.zip")) && broken_off.has(Path::new("s3://b/a.zip!x!y")));
        assert!(!broken_off.has(Path::new("s3://b/a.zip2")) && !broken_off.has(Path::new("s3://b/a")));
    }
}
