//! Storages of objects, such as object stores and web servers: they are listed, looked up and read by ranges. Paths in
//! them are addresses, `SCHEME://…`. Local files that are named by paths do not use this module: they are walked and
//! read directly.

mod failure;
mod fetched;
mod local;
mod object;
mod watched;

use std::cell::Cell;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io};

use elephant_base::address::Address;
use elephant_base::state::State;
use elephant_base::units::Timestamp;

pub use failure::StorageFailure;
pub(super) use fetched::Fetched;
pub use fetched::remove_all as remove_fetched;
pub(super) use object::Object;
pub use watched::BrokenOff;

/// Facts about an object that are known without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Its length in bytes; `None` if it is known only once the object was read.
    pub size: Option<u64>,
    /// When it was last changed.
    pub modified: Option<Timestamp>,
    /// The version tag of its content, if the storage has one.
    pub etag: Option<String>,
}

/// Facts about an application that are known before its history is read. `None` means unknown.
#[derive(Debug, Clone, Copy)]
pub struct Announced<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its name.
    pub name: Option<&'a str>,
    /// Who ran it.
    pub user: Option<&'a str>,
    /// When it started.
    pub start: Option<Timestamp>,
}

/// Which applications are read, for storages that know them. The rest need not be listed.
pub trait Wanted: fmt::Debug + Sync {
    /// Whether an application may be one of those that are read.
    fn may_be(&self, app: Announced<'_>) -> bool;
}

/// The objects to list.
#[derive(Debug, Clone, Copy)]
pub struct Listing<'a> {
    /// An address; all objects below it are listed.
    pub folder: &'a Path,
    /// Which applications are read; `None` for all.
    pub wanted: Option<&'a dyn Wanted>,
    /// Counts the objects that are not listed.
    pub left_out: &'a Cell<LeftOut>,
}

/// Objects that a storage did not list, because their applications are not read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, State)]
pub struct LeftOut {
    /// How many objects there are.
    pub files: u64,
    /// Attempts of these applications; each counts like an application.
    pub applications: u64,
}

impl std::ops::AddAssign for LeftOut {
    fn add_assign(&mut self, other: Self) {
        self.files += other.files;
        self.applications += other.applications;
    }
}

/// A storage. All calls block; they come from several threads.
pub trait Storage: fmt::Debug + Send + Sync {
    /// The scheme of its addresses, in lower case.
    fn scheme(&self) -> &'static str;

    /// An address as reports name it, without passwords and signatures.
    fn shown(&self, address: &Path) -> PathBuf {
        Address::of(address).to_string().into()
    }

    /// Passes each object below a folder to `found`, in any order, until `found` returns `Break`. The folder need not
    /// exist: a store may only have objects whose names begin with it.
    ///
    /// # Errors
    /// If they cannot be listed.
    fn list(
        &self,
        listing: Listing<'_>,
        found: &mut dyn FnMut(PathBuf, Stat) -> ControlFlow<()>,
    ) -> io::Result<()>;

    /// The facts about one object.
    ///
    /// # Errors
    /// `NotFound` if there is no such object, though there may be others below that name.
    fn stat(&self, path: &Path) -> io::Result<Stat>;

    /// Reads from an offset. Returns fewer bytes than fit into `out` only at the end of the object. `stat` has the
    /// facts known before: it is an error if the object has changed since.
    ///
    /// # Errors
    /// If the bytes cannot be read, even after the retries of the storage. `Unsupported` if the storage only delivers
    /// whole objects.
    fn read_at(&self, path: &Path, stat: &Stat, at: u64, out: &mut [u8]) -> io::Result<usize>;

    /// Copies a whole object to an empty file. Only for objects that cannot be read by ranges.
    ///
    /// # Errors
    /// If it cannot be copied, even after the retries of the storage.
    fn fetch(&self, path: &Path, stat: &Stat, to: &mut File) -> io::Result<()> {
        let (_, _, _) = (path, stat, to);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// The storages by their schemes.
#[derive(Debug, Clone)]
pub struct Storages(Vec<Arc<dyn Storage>>);

impl Default for Storages {
    /// The files of this machine by their addresses.
    fn default() -> Self {
        Self::local_and([])
    }
}

impl Storages {
    /// The files of this machine by their addresses, and `others`.
    #[must_use]
    pub fn local_and(others: impl IntoIterator<Item = Arc<dyn Storage>>) -> Self {
        let local: Arc<dyn Storage> = Arc::new(local::LocalFiles);
        Self(std::iter::once(local).chain(others).collect())
    }

    /// Only `storage`.
    pub fn only(storage: Arc<dyn Storage>) -> Self {
        Self(vec![storage])
    }

    /// The same storages; objects that they do not deliver completely are added to `broken_off`.
    #[must_use]
    pub fn watched(&self, broken_off: &BrokenOff) -> Self {
        let watched = |storage: &Arc<dyn Storage>| {
            let (storage, broken_off) = (Arc::clone(storage), broken_off.clone());
            Arc::new(watched::Watched { storage, broken_off }) as Arc<dyn Storage>
        };
        Self(self.0.iter().map(watched).collect())
    }

    /// Whether a path is the address of an object.
    #[must_use]
    pub fn has(&self, path: &Path) -> bool {
        self.of(path).is_some()
    }

    /// A path as messages name it, without passwords and signatures.
    #[must_use]
    pub fn shown(&self, path: &Path) -> PathBuf {
        match self.of(path) {
            Some(storage) => storage.shown(path),
            // A path of this machine need not be valid UTF-8.
            None if path.to_str().is_some() => Address::of(path).to_string().into(),
            None => path.to_path_buf(),
        }
    }

    /// The addresses that these storages read, for people.
    pub(super) fn readable(&self) -> &'static str {
        let has = |scheme| self.0.iter().any(|storage| storage.scheme() == scheme);
        if has("hdfs") {
            "this program reads s3://, s3a://, gs://, abfs://, https://, hdfs:// and local files only"
        } else if has("s3") {
            "this build reads s3://, s3a://, gs://, abfs://, https:// and local files only (with --features hdfs also hdfs://)"
        } else {
            "this build reads local files only (cargo install --path . --features hdfs reads s3://, gs://, abfs://, https:// and \
             hdfs://)"
        }
    }

    /// The storage that an address is in; `None` for a path of this machine.
    pub(super) fn of(&self, path: &Path) -> Option<&Arc<dyn Storage>> {
        let (scheme, _) = path.to_str()?.split_once("://")?;
        self.0.iter().find(|storage| scheme.eq_ignore_ascii_case(storage.scheme()))
    }
}
