//! Examines files and archive members, and sorts them into an inventory.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::archive::{self, Members, Stored};
use super::codec::Codec;
use super::error::InputError;
use super::found::Found;
use super::inventory::{ConfFile, Failure, GcLogFile, Inventory, Notice};
use super::job_id::job_id_in;
use super::kind::{self, Identify, Reason, SourceKind, Verification};
use super::log_folder::Logs;
use super::log_name;
use super::part::Part;
use super::source::{LogFolder, Source, SourcePath};
use super::spread_files;
use super::storage::Object;
use elephant_base::limits::Limits;
use elephant_gc_log::Owner;

/// A file or an object to examine.
#[derive(Clone)]
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    /// The object, if it is one.
    pub(super) object: Option<Object>,
    pub(super) named_by_user: bool,
}

/// The result of examining a file.
pub(super) enum Examined {
    File(Found),
    /// The inventory of an archive, the archive's path, and whether the user named it.
    Archive(Inventory, PathBuf, bool),
}

impl Candidate {
    pub(super) fn examine(self, limits: &Limits, identify: Identify) -> Examined {
        let Self { path, object, named_by_user } = self;
        let part = object.clone().map_or_else(|| Part::new_file(path.clone()), Part::object);
        let detected = match detect(&part, &path, identify) {
            Ok((_, SourceKind::Unrelated(Reason::Archive))) => {
                // The copy exists by now if the storage does not support ranges.
                let size = object.as_ref().and_then(Object::size);
                let copy = object.as_ref().and_then(Object::copy);
                let stored = Stored { file: &path, size, copy };
                let members =
                    part.open().and_then(|decoded| archive::members(decoded, stored, &path, limits));
                match members {
                    Ok(members) => {
                        let inventory = inventory_of(members, named_by_user, identify);
                        return Examined::Archive(inventory, path, named_by_user);
                    }
                    Err(error) => Err(error),
                }
            }
            detected => detected,
        };
        Examined::File(Found::file(path, part, named_by_user, detected))
    }

    /// The result for a file that could not be examined.
    pub(super) fn failed(self, error: impl FnOnce(&Path) -> InputError) -> Examined {
        let (part, error) = (Part::new_file(self.path.clone()), error(&self.path));
        Examined::File(Found::file(self.path, part, self.named_by_user, Err(error)))
    }
}

fn detect(part: &Part, path: &Path, identify: Identify) -> Result<(Codec, SourceKind), InputError> {
    let mut decoded = part.open()?;
    let kind = kind::identified(&mut decoded, false, &mut Verification::of_file(), path, identify)?;
    Ok((decoded.codec(), kind))
}

/// The inventory of an archive's members.
pub(super) fn inventory_of(contents: Members, named_by_user: bool, identify: Identify) -> Inventory {
    let Members { list, trouble, truncated } = contents;
    let mut sorter = Sorter::default();
    let mut verification = Verification::of_archive();
    for member in list.into_iter().filter(|member| !log_name::is_litter(member.name())) {
        sorter.sort_in(Found::member(member, named_by_user, &mut verification, identify));
    }
    let mut inventory = sorter.finish(&[]);
    let failure =
        |error: InputError| Failure { file: error.path().to_path_buf(), error, named_by_user, count: 1 };
    let is_useful = inventory.is_useful();
    // The archive's own error comes before its members': only the first is reported.
    match (trouble, truncated) {
        (None, Some(truncated)) if is_useful => inventory.notices.push(Notice { error: truncated, count: 1 }),
        (trouble, truncated) => {
            inventory.failures.splice(0..0, trouble.or(truncated).map(failure));
        }
    }
    inventory
}

/// Sorts what was found into an inventory. Possible parts of a log wait until their whole folder is known.
#[derive(Default)]
pub(super) struct Sorter {
    pub(super) inventory: Inventory,
    logs: Logs,
}

impl Sorter {
    pub(super) fn take(&mut self, examined: Examined) {
        match examined {
            Examined::File(found) => self.sort_in(found),
            Examined::Archive(members, path, named_by_user) => {
                self.inventory.take_members(members, &path, named_by_user);
            }
        }
    }

    fn sort_in(&mut self, found: Found) {
        if let Some(alone) = self.logs.offer(found, &mut self.inventory) {
            add_source(alone, &mut self.inventory);
        }
    }

    /// The inventory, once all files were added. `named_folders` are the folders that the user named.
    pub(super) fn finish(mut self, named_folders: &[&Path]) -> Inventory {
        for alone in self.logs.finish(named_folders, &mut self.inventory) {
            add_source(alone, &mut self.inventory);
        }
        spread_files::join(&mut self.inventory.histories);
        self.inventory
    }
}

/// Adds a file that is not part of a larger log.
fn add_source(found: Found, inventory: &mut Inventory) {
    let Found { part, path, name, named_by_user, detected, archive_truncated, .. } = found;
    match detected {
        Ok((_, SourceKind::JobConf)) => {
            let path = path.as_path().to_path_buf();
            inventory.confs.push(ConfFile { job_id: job_id_of_conf(&path, &name), path, part });
        }
        Ok((_, SourceKind::GcLog)) => {
            let path = path.as_path().to_path_buf();
            let owner = Owner::in_path(&path);
            inventory.gc_logs.push(GcLogFile { path, part, owner, named_by_user });
        }
        Ok((_, SourceKind::Unrelated(reason))) => {
            if let (Reason::Archive, SourcePath::Member(path)) = (reason, &path) {
                let error = InputError::NestedArchive { path: path.clone() };
                inventory.notices.push(Notice { error, count: 1 });
            } else if reason == Reason::OtherFormat {
                inventory.notice_other_format(path.as_path());
            }
            inventory.skip(reason, path.as_path(), named_by_user);
        }
        Ok((codec, kind)) => {
            let log = match kind {
                SourceKind::SparkEventLog => LogFolder { archive_truncated, ..LogFolder::of_file(&name) },
                _ => LogFolder::default(),
            };
            let parts = vec![part];
            let (kind, codec) = (Some(kind), Some(codec));
            inventory.add(Source { path, kind, codec, named_by_user, parts, log });
        }
        Err(error) => {
            let file = part.file().to_path_buf();
            inventory.failures.push(Failure { error, file, named_by_user, count: 1 });
        }
    }
}

/// The job id of a configuration. Staging folders carry the job's id and name its configuration `job.xml`.
fn job_id_of_conf(path: &Path, name: &str) -> Option<String> {
    let folder = || path.parent().and_then(Path::file_name).and_then(job_id_in);
    job_id_in(OsStr::new(name)).or_else(folder)
}
