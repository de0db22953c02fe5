//! Finds the objects of storages.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use super::Walk;
use crate::input::error::InputError;
use crate::input::sorter::Candidate;
use crate::input::storage::{Object, Storage};

impl Walk<'_> {
    /// Adds all objects below a folder of a storage.
    pub(super) fn objects(&mut self, root: &Path, storage: &Arc<dyn Storage>) {
        let before = self.sorter.inventory.found;
        let listed = storage.list(root, &mut |path, stat| {
            self.object(Object::new(storage, path, &stat), false);
        });
        match listed {
            Err(error) if error.kind() == ErrorKind::NotFound => self.fail(InputError::not_found(root), true),
            Err(error) => self.fail(InputError::from_io(root, error), true),
            Ok(()) if self.sorter.inventory.found == before => self.fail(InputError::not_found(root), true),
            Ok(()) => {}
        }
    }

    pub(super) fn object(&mut self, object: Object, named_by_user: bool) {
        let path = object.path().to_path_buf();
        if self.files.insert(path.clone()) {
            self.candidate(Candidate { path, object: Some(object), named_by_user });
        }
    }
}
