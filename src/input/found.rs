//! Examined files and archive members, and where each of them goes in the inventory.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::archive::{self, Member, Members};
use super::codec::{self, Codec};
use super::error::InputError;
use super::inventory::{ConfFile, Failure, Inventory, identified};
use super::job_id::job_id_in;
use super::kind::{Identify, Reason, SourceKind};
use super::log_folder::Logs;
use super::log_name;
use super::part::Part;
use super::source::{LogFolder, Source, SourcePath};
use crate::limits::Limits;

/// A file to examine.
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    pub(super) named_by_user: bool,
}

/// The result of examining a file.
pub(super) enum Examined {
    File(Found),
    /// The inventory of an archive, the archive's path, and whether the user named it.
    Archive(Inventory, PathBuf, bool),
}

/// A file or archive member with its detected kind.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) part: Part,
    pub(super) path: SourcePath,
    /// The folder, or the archive if the member is at its top level.
    pub(super) folder: PathBuf,
    pub(super) folder_name: String,
    pub(super) name: String,
    pub(super) named_by_user: bool,
    pub(super) archive_truncated: bool,
    pub(super) detected: Result<(Codec, SourceKind), InputError>,
}

impl Candidate {
    pub(super) fn examine(self, limits: &Limits, identify: Identify) -> Examined {
        let Self { path, named_by_user } = self;
        let detected = match detect(&path, identify) {
            Ok((_, SourceKind::Unrelated(Reason::Archive))) => match members(&path, limits) {
                Ok(members) => {
                    return Examined::Archive(
                        inventory_of(members, named_by_user, identify),
                        path,
                        named_by_user,
                    );
                }
                Err(error) => Err(error),
            },
            detected => detected,
        };
        Examined::File(Found::file(path, named_by_user, detected))
    }
}

fn members(path: &Path, limits: &Limits) -> Result<Members, InputError> {
    archive::members(codec::open(path)?, path, path, limits)
}

fn detect(path: &Path, identify: Identify) -> Result<(Codec, SourceKind), InputError> {
    let mut decoded = codec::open(path)?;
    let kind = identified(&mut decoded, path, identify)?;
    Ok((decoded.codec(), kind))
}

/// The inventory of an archive's members.
pub(super) fn inventory_of(contents: Members, named_by_user: bool, identify: Identify) -> Inventory {
    let Members { list, trouble, truncated } = contents;
    let mut sorter = Sorter::default();
    for member in list.into_iter().filter(|member| !log_name::is_litter(member.name())) {
        sorter.sort_in(Found::member(member, named_by_user, identify));
    }
    let mut inventory = sorter.finish(&[]);
    let failure = |error: InputError| Failure { file: error.path().to_path_buf(), error, named_by_user };
    let is_useful = !inventory.histories.is_empty() || !inventory.confs.is_empty();
    // The archive's own error comes before its members': only the first is reported.
    inventory.failures.splice(0..0, trouble.or(truncated.filter(|_| !is_useful)).map(failure));
    inventory
}

impl Found {
    fn file(path: PathBuf, named_by_user: bool, detected: Result<(Codec, SourceKind), InputError>) -> Self {
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Self {
            part: Part::new_file(path.clone()),
            folder_name: folder_name(&folder),
            folder,
            name: lossy(path.file_name()),
            path: SourcePath::File(path),
            named_by_user,
            archive_truncated: false,
            detected,
        }
    }

    fn member(member: Member, named_by_user: bool, identify: Identify) -> Self {
        let in_archive = Path::new(member.name());
        let (folder, folder_name) = match in_archive.parent().filter(|parent| !parent.as_os_str().is_empty())
        {
            Some(parent) => {
                (member.path().parent().unwrap_or(Path::new("")).to_path_buf(), lossy(parent.file_name()))
            }
            None => (member.shown_archive().to_path_buf(), lossy(member.shown_archive().file_name())),
        };
        let (name, path) = (lossy(in_archive.file_name()), member.path().to_path_buf());
        let archive_truncated = member.is_in_truncated_archive();
        let part = Part::member(member);
        let detected = part.open().and_then(|mut decoded| {
            let kind = identified(&mut decoded, &path, identify)?;
            Ok((decoded.codec(), kind))
        });
        let path = SourcePath::Member(path);
        Self { part, path, folder, folder_name, name, named_by_user, archive_truncated, detected }
    }

    pub(super) fn is_spark_log(&self) -> bool {
        matches!(self.detected, Ok((_, SourceKind::SparkEventLog)))
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(self.detected, Ok((_, SourceKind::Unrelated(Reason::Empty))))
    }
}

/// The name of a folder; `.` is resolved through the file system.
fn folder_name(folder: &Path) -> String {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match folder.file_name() {
        Some(name) => lossy(Some(name)),
        None => folder.canonicalize().map(|folder| lossy(folder.file_name())).unwrap_or_default(),
    }
}

fn lossy(name: Option<&OsStr>) -> String {
    name.unwrap_or_default().to_string_lossy().into_owned()
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
        Ok((_, SourceKind::Unrelated(reason))) => inventory.skip(reason, path.as_path(), named_by_user),
        Ok((codec, kind)) => {
            let log = match kind {
                SourceKind::SparkEventLog => LogFolder { archive_truncated, ..LogFolder::of_file(&name) },
                _ => LogFolder::default(),
            };
            let parts = vec![part];
            let (kind, codec) = (Some(kind), Some(codec));
            inventory.histories.push(Source { path, kind, codec, named_by_user, parts, log });
        }
        Err(error) => {
            let file = part.file().to_path_buf();
            inventory.failures.push(Failure { error, file, named_by_user });
        }
    }
}

/// The job id of a configuration. Staging folders carry the job's id and name its configuration `job.xml`.
fn job_id_of_conf(path: &Path, name: &str) -> Option<String> {
    let folder = || path.parent().and_then(Path::file_name).and_then(job_id_in);
    job_id_in(OsStr::new(name)).or_else(folder)
}
