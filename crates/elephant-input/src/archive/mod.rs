//! Archives: zip and tar members, read in place. Nothing is unpacked to disk under a member's name.
//!
//! Both formats need random access, so a compressed archive, or one from a pipe, is first written to an
//! unnamed temporary file. Archives inside archives are not opened.

mod inflate;
mod region;
mod spool;
mod stored;
mod tar;
mod zip;
mod zip_walk;

use std::fs::{self, File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::budget::{Budget, Metered};
use super::codec::{Codec, Decoded};
use super::error::InputError;
use super::storage::Fetched;
use elephant_base::limits::Limits;
use elephant_base::units::Bytes;
use inflate::Inflate;
use region::Region;
use spool::Spooled;
use stored::StoredMember;

/// Members after this many are ignored.
const MAX_MEMBERS: usize = 100_000;

/// An archive whose members are being read.
#[derive(Debug)]
struct Archive {
    /// The file on disk, `-` for standard input.
    file: PathBuf,
    /// Its path as shown to the user.
    shown: PathBuf,
    /// A copy of an object on this machine.
    copy: Option<Fetched>,
    /// The unpacked bytes, if they differ from those on disk.
    spooled: Option<Arc<File>>,
    truncated: bool,
}

/// A member and the position of its bytes.
#[derive(Debug, Clone)]
pub(super) struct Member {
    archive: Arc<Archive>,
    name: String,
    path: PathBuf,
    entry: Entry,
}

/// What the archive's index says about a member.
#[derive(Debug, Clone)]
struct Entry {
    name: String,
    /// Offset of its first byte.
    at: u64,
    /// Stored length in bytes; `None` if the archive is truncated before the length is known.
    stored_len: Option<u64>,
    packing: Packing,
    checksum: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Stored,
    Deflated,
    /// Encrypted, or compressed by an unsupported method.
    Foreign,
    /// A sparse file of a tar archive, or part of a file that continues in another archive.
    Scattered,
}

/// The members of an archive in order, and whether the archive is truncated.
#[derive(Debug, Default)]
struct Listing {
    entries: Vec<Entry>,
    truncated: bool,
    /// Whether members were left out because they overlap others; otherwise the same bytes could count a
    /// thousand times.
    overlap: bool,
    /// Whether there are more than [`MAX_MEMBERS`] members.
    more: bool,
    /// Whether the archive's directory lacks members, or gives a wrong place for one.
    lost: bool,
}

/// Where an archive is.
#[derive(Debug)]
pub(super) struct Stored<'a> {
    /// The file, the address of an object, or `-` for standard input.
    pub(super) file: &'a Path,
    /// The size of an object, if it is one.
    pub(super) size: Option<u64>,
    /// The copy of an object on this machine, if there is one.
    pub(super) copy: Option<Fetched>,
}

/// The members of an archive, and the problems met while listing them.
pub(super) struct Members {
    pub(super) list: Vec<Member>,
    pub(super) trouble: Option<InputError>,
    /// The error for a truncated archive; only a warning if some of the members are useful.
    pub(super) truncated: Option<InputError>,
}

/// Lists the files of an archive that starts with `head`.
///
/// # Errors
/// If it cannot be read, or is too damaged to find a member.
pub(super) fn members(
    decoded: Decoded,
    Stored { file, size, copy }: Stored<'_>,
    shown: &Path,
    limits: &Limits,
) -> Result<Members, InputError> {
    let on_disk = copy.as_ref().map_or(file, Fetched::path);
    let is_on_disk = decoded.codec() == Codec::Plain && on_disk.is_file();
    let file_size = || fs::metadata(file).ok().filter(Metadata::is_file).map(|metadata| metadata.len());
    let stored = size.or_else(file_size).map(Bytes::new);
    let budget = Budget::new(limits, stored);
    let Spooled { file: bytes, truncated: spool_truncated, reached } = if is_on_disk {
        Spooled { file: open(on_disk)?, truncated: false, reached: None }
    } else {
        spool::write(Metered::new(decoded, budget.clone(), None)).map_err(|reason| broken(shown, reason))?
    };
    let listing = list(&bytes, &budget).map_err(|reason| match reached {
        Some(reached) => InputError::ArchiveTooLarge { path: shown.to_path_buf(), reached },
        None => broken(shown, reason),
    })?;
    let archive = Arc::new(Archive {
        file: file.to_path_buf(),
        shown: shown.to_path_buf(),
        copy,
        spooled: (!is_on_disk).then_some(bytes),
        truncated: listing.truncated || spool_truncated,
    });
    let trouble = match reached {
        Some(reached) => Some(InputError::ArchiveTooLarge { path: shown.to_path_buf(), reached }),
        None if listing.more => {
            Some(InputError::TooManyMembers { path: shown.to_path_buf(), most: MAX_MEMBERS })
        }
        None if listing.lost => {
            Some(broken(shown, "its directory is damaged, and members were lost".to_owned()))
        }
        None if listing.overlap => Some(broken(shown, "overlapping members were left out".to_owned())),
        None => None,
    };
    let list = listing.entries.into_iter().map(|entry| Member::new(&archive, entry)).collect();
    let truncated = archive
        .truncated
        .then(|| broken(shown, "it is truncated or damaged, and members may be missing".to_owned()));
    Ok(Members { list, trouble, truncated })
}

fn open(path: &Path) -> Result<Arc<File>, InputError> {
    File::open(path).map(Arc::new).map_err(|error| InputError::from_io(path, error))
}

fn broken(path: &Path, reason: String) -> InputError {
    InputError::BrokenArchive { path: path.to_path_buf(), reason }
}

fn list(bytes: &Arc<File>, budget: &Budget) -> Result<Listing, String> {
    let mut head = [0; 4];
    let is_zip = Region::new(bytes, 0, None).read_exact(&mut head).is_ok() && head.starts_with(b"PK");
    let listing =
        if is_zip { zip::list(bytes).or_else(|_| zip_walk::list(bytes, budget)) } else { tar::list(bytes) };
    let listing = listing.map_err(|error| error.to_string())?;
    if listing.entries.is_empty() && listing.truncated {
        return Err("it is truncated in its first member".to_owned());
    }
    Ok(listing)
}

impl Member {
    fn new(archive: &Arc<Archive>, mut entry: Entry) -> Self {
        let name = std::mem::take(&mut entry.name);
        let name = name.strip_prefix("./").map(str::to_owned).unwrap_or(name);
        let mut path = archive.shown.clone().into_os_string();
        path.push("!");
        path.push(&name);
        Self { archive: Arc::clone(archive), name, path: path.into(), entry }
    }

    /// Its name in the archive.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// `archive!member`.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The archive's path as shown to the user.
    pub(super) fn shown_archive(&self) -> &Path {
        &self.archive.shown
    }

    pub(super) fn archive_path(&self) -> &Path {
        &self.archive.file
    }

    pub(super) fn is_in_truncated_archive(&self) -> bool {
        self.archive.truncated
    }

    pub(super) fn is_compressed(&self) -> bool {
        self.entry.packing == Packing::Deflated
    }

    /// Whether reading the member to its end detects damage.
    pub(super) fn is_checked(&self) -> bool {
        self.is_compressed() || self.entry.checksum.is_some()
    }

    pub(super) fn stored_len(&self) -> Option<u64> {
        self.entry.stored_len
    }

    /// Opens its unpacked bytes.
    pub(super) fn open(&self) -> Result<Box<dyn Read + Send>, InputError> {
        let bytes = match &self.archive.spooled {
            Some(bytes) => Arc::clone(bytes),
            None => open(self.archive.copy.as_ref().map_or(&self.archive.file, Fetched::path))?,
        };
        let region = Region::new(&bytes, self.entry.at, self.entry.stored_len);
        match self.entry.packing {
            Packing::Stored => Ok(Box::new(StoredMember::new(region, self.entry.checksum))),
            Packing::Scattered => Err(InputError::ScatteredMember { path: self.path.clone() }),
            Packing::Deflated => Ok(Box::new(Inflate::new(region, self.entry.checksum))),
            Packing::Foreign => Err(InputError::ForeignMember { path: self.path.clone() }),
        }
    }
}
