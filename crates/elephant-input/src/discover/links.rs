//! Links to files.

use std::fs;

use super::Walk;
use crate::error::InputError;
use crate::kind::Reason;

impl Walk<'_> {
    /// Examines links whose target was not found in a walked folder.
    pub(super) fn linked_files(&mut self) {
        for link in std::mem::take(&mut self.links) {
            if self.is_pseudo(&link, None) {
                self.sorter.inventory.found += 1;
                self.sorter.inventory.skip(Reason::SpecialFile, &link, false);
                continue;
            }
            match fs::canonicalize(&link) {
                Ok(target) => {
                    let in_walked_folder =
                        target.parent().is_some_and(|parent| self.folders.contains(parent));
                    if !in_walked_folder && self.files.insert(target) {
                        self.file(link, false);
                    }
                }
                Err(error) => {
                    self.sorter.inventory.found += 1;
                    self.fail(InputError::from_io(&link, error), false);
                }
            }
        }
    }
}
