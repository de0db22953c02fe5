//! Storages of objects, besides the folders of this machine: they are listed, looked up and read by ranges. Paths in them
//! are addresses, `SCHEME://…`. Local files named by their paths do not come here: they are walked and read directly.

mod local;
mod object;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::units::Timestamp;

pub(super) use object::Object;

/// What is known of an object without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stat {
    /// Its length in bytes.
    pub(crate) size: u64,
    /// When it was last changed.
    pub(crate) modified: Option<Timestamp>,
    /// A name of its content, if the storage gives one.
    pub(crate) etag: Option<String>,
}

/// A storage. All calls block; they come from several threads.
pub(crate) trait Storage: fmt::Debug + Send + Sync {
    /// The scheme of its addresses, in lower case.
    fn scheme(&self) -> &'static str;

    /// Passes each object below a folder to `found`, in any order. There need not be a folder: objects may only have
    /// names that begin with it.
    ///
    /// # Errors
    /// If they cannot be listed.
    fn list(&self, folder: &Path, found: &mut dyn FnMut(PathBuf, Stat)) -> io::Result<()>;

    /// What is known of one object.
    ///
    /// # Errors
    /// `NotFound` if there is no such object, though there may be others below that name.
    fn stat(&self, path: &Path) -> io::Result<Stat>;

    /// Reads from an offset; fewer bytes than fit only at the end of the object.
    ///
    /// # Errors
    /// If they cannot be read, after what attempts the storage makes.
    fn read_at(&self, path: &Path, at: u64, out: &mut [u8]) -> io::Result<usize>;
}

/// The storages by their schemes.
#[derive(Debug, Clone)]
pub(crate) struct Storages(Vec<Arc<dyn Storage>>);

impl Default for Storages {
    /// Those that are built in.
    fn default() -> Self {
        Self(vec![Arc::new(local::LocalFiles)])
    }
}

impl Storages {
    /// Only this one.
    #[cfg(test)]
    pub(crate) fn only(storage: Arc<dyn Storage>) -> Self {
        Self(vec![storage])
    }

    /// The storage that an address is in; `None` for a path of this machine.
    pub(super) fn of(&self, path: &Path) -> Option<&Arc<dyn Storage>> {
        let (scheme, _) = path.to_str()?.split_once("://")?;
        self.0.iter().find(|storage| scheme.eq_ignore_ascii_case(storage.scheme()))
    }
}
