//! A file or archive member that was examined.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::archive::Member;
use super::codec::Codec;
use super::error::InputError;
use super::kind::{self, Identify, Reason, SourceKind, Verification};
use super::part::Part;
use super::source_path::SourcePath;

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

impl Found {
    pub(super) fn file(
        path: PathBuf,
        part: Part,
        named_by_user: bool,
        detected: Result<(Codec, SourceKind), InputError>,
    ) -> Self {
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Self {
            part,
            folder_name: folder_name(&folder),
            folder,
            name: lossy(path.file_name()),
            path: SourcePath::File(path),
            named_by_user,
            archive_truncated: false,
            detected,
        }
    }

    pub(super) fn member(
        member: Member,
        named_by_user: bool,
        verification: &mut Verification,
        identify: Identify,
    ) -> Self {
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
        let checked = member.is_checked();
        let part = Part::member(member);
        let detected = part.open().and_then(|mut decoded| {
            let kind = kind::identified(&mut decoded, checked, verification, &path, identify)?;
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

/// The name of a folder or a file; `.` is resolved through the file system.
pub(super) fn folder_name(folder: &Path) -> String {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match folder.file_name() {
        Some(name) => lossy(Some(name)),
        None => folder.canonicalize().map(|folder| lossy(folder.file_name())).unwrap_or_default(),
    }
}

fn lossy(name: Option<&OsStr>) -> String {
    name.unwrap_or_default().to_string_lossy().into_owned()
}
