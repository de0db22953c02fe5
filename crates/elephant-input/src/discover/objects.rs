//! Finds the objects of storages.

use std::cell::Cell;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::{Walk, listing};
use crate::error::InputError;
use crate::named::NamedPath;
use crate::sorter::Candidate;
use crate::storage::{LeftOut, Listing, Object, Storage};

/// Objects examined at the same time. A thread mostly waits for the storage, so there may be more threads than
/// processors.
const AT_ONCE: usize = 16;

/// Threads that wait for storages; `None` if they cannot be started.
pub(super) fn pool() -> Option<ThreadPool> {
    let threads = AT_ONCE.max(rayon::current_num_threads());
    ThreadPoolBuilder::new().num_threads(threads).build().ok()
}

impl Walk<'_> {
    /// Adds an object that the user named; `true` if there is no such object, so that the name may be that of a folder.
    pub(super) fn named_object(&mut self, named: NamedPath<'_>, storage: &Arc<dyn Storage>) -> bool {
        match storage.stat(named.path) {
            Ok(stat) => self.object(Object::new(storage, named.path.to_path_buf(), stat), true),
            Err(error) if error.kind() == ErrorKind::NotFound => return true,
            Err(error) => {
                let path = storage.shown(named.path);
                self.fail(named.failed(InputError::from_io(&path, error)), true);
            }
        }
        false
    }

    /// Adds all objects below a folder of a storage. They are examined while the rest is listed.
    pub(super) fn objects(&mut self, named: NamedPath<'_>, storage: &Arc<dyn Storage>) {
        let root = named.path;
        let (mut any, mut late) = (false, None);
        let left_out = Cell::new(LeftOut::default());
        let listing = Listing { folder: root, wanted: self.wanted, left_out: &left_out };
        let listed = storage.list(listing, &mut |path, stat| {
            any = true;
            late = self.time_is_up();
            if late.is_some() {
                return ControlFlow::Break(());
            }
            // A listing has each object once, and may be too long to remember all names.
            let is_known =
                self.files.contains(&path) || self.listed.iter().any(|root| path.starts_with(root));
            if !is_known {
                self.add_object(Object::new(storage, path, stat), false);
            }
            ControlFlow::Continue(())
        });
        let left_out = left_out.get();
        self.sorter.inventory.found += left_out.files;
        self.sorter.inventory.left_out += left_out;
        let path = storage.shown(root);
        // For a `file://` address, report a missing local path.
        let missing = |path: PathBuf| match storage.scheme() {
            "file" => InputError::not_found(&path, &self.storages),
            _ => InputError::NoObject { path },
        };
        let error = match (listed, late) {
            (_, Some(reached)) => Some(InputError::SearchTooSlow { path, reached }),
            (Err(error), None) if error.kind() == ErrorKind::NotFound && error.get_ref().is_none() => {
                Some(missing(path))
            }
            (Err(error), None) => Some(InputError::from_io(&path, error)),
            (Ok(()), None) => (!any && left_out.files == 0).then(|| missing(path)),
        };
        if let Some(error) = error {
            self.fail(named.failed(error), true);
        }
        self.listed.push(root.to_path_buf());
    }

    /// Adds a single object, unless it was found before.
    pub(super) fn object(&mut self, object: Object, named_by_user: bool) {
        let is_listed = self.listed.iter().any(|root| object.address().starts_with(root));
        if !is_listed && self.files.insert(object.address().to_path_buf()) {
            self.add_object(object, named_by_user);
        }
    }

    /// Whether there is a file or an object. If the storage fails, this is reported, because the answer may then be
    /// wrong.
    pub(super) fn is_there(&mut self, path: &Path) -> bool {
        let Some(storage) = self.storages.of(path) else { return path.is_file() };
        match storage.stat(path) {
            Ok(_) => true,
            // Without permission to list a bucket, a store answers "forbidden" for missing objects.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => false,
            Err(error) => {
                let path = storage.shown(path);
                self.fail(InputError::from_io(&path, error), false);
                false
            }
        }
    }

    fn add_object(&mut self, object: Object, named_by_user: bool) {
        if let Some(listing) = &mut self.listing {
            listing.push(listing::listed_object(&object));
            return;
        }
        if self.unchanged.is_some_and(|unchanged| unchanged.contains(object.path())) {
            return;
        }
        let path = object.path().to_path_buf();
        self.candidate(Candidate { path, object: Some(object), named_by_user });
    }
}
