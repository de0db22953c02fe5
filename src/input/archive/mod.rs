//! Archives: the members of zip and tar files, read in place and never unpacked by name.
//!
//! Both need to be read by position, so an archive that comes compressed or from a pipe is first written to a
//! temporary file without a name. An archive in an archive is not entered.

mod inflate;
mod region;
mod spool;
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
use crate::limits::Limits;
use crate::units::Bytes;
use inflate::Inflate;
use region::Region;
use spool::Spooled;

/// Members beyond this number are not looked at.
const MAX_MEMBERS: usize = 100_000;

/// An archive that members are read from.
#[derive(Debug)]
struct Archive {
    /// The file on disk, `-` for standard input.
    file: PathBuf,
    /// The same for people.
    shown: PathBuf,
    /// Its bytes, if they are not those of the file.
    spooled: Option<Arc<File>>,
    cut: bool,
}

/// A member and where its bytes are.
#[derive(Debug, Clone)]
pub(super) struct Member {
    archive: Arc<Archive>,
    name: String,
    path: PathBuf,
    entry: Entry,
}

/// What the table of an archive tells of a member.
#[derive(Debug, Clone)]
struct Entry {
    name: String,
    /// Where its bytes start.
    at: u64,
    /// How many there are as stored; `None` if the archive is cut before it tells.
    stored_len: Option<u64>,
    packing: Packing,
    checksum: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Stored,
    Deflated,
    /// Encrypted, or compressed by a method that nobody uses for logs.
    Foreign,
}

/// The members of an archive in their order, and whether it is cut.
#[derive(Debug, Default)]
struct Listing {
    entries: Vec<Entry>,
    cut: bool,
    /// Whether members were left out because they lie in others: a few bytes would count a thousand times.
    overlap: bool,
    /// Whether there are more than [`MAX_MEMBERS`].
    more: bool,
}

/// What an archive holds, and what is wrong with it nevertheless.
pub(super) struct Members {
    pub(super) list: Vec<Member>,
    pub(super) trouble: Option<InputError>,
    /// The error for an archive that is cut, if nothing that is there can be used.
    pub(super) cut: Option<InputError>,
}

/// The files in an archive whose first bytes are in `head`.
///
/// # Errors
/// If it cannot be read, or is so damaged that no member is found.
pub(super) fn members(
    decoded: Decoded,
    file: &Path,
    shown: &Path,
    limits: &Limits,
) -> Result<Members, InputError> {
    let is_on_disk = decoded.codec() == Codec::Plain && file.is_file();
    let stored = fs::metadata(file).ok().filter(Metadata::is_file).map(|metadata| Bytes::new(metadata.len()));
    let budget = Budget::new(limits, stored);
    let Spooled { file: bytes, cut: spool_cut, reached } = if is_on_disk {
        Spooled { file: open(file)?, cut: false, reached: None }
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
        spooled: (!is_on_disk).then_some(bytes),
        cut: listing.cut || spool_cut,
    });
    let trouble = match reached {
        Some(reached) => Some(InputError::ArchiveTooLarge { path: shown.to_path_buf(), reached }),
        None if listing.more => {
            Some(InputError::TooManyMembers { path: shown.to_path_buf(), most: MAX_MEMBERS })
        }
        None if listing.overlap => {
            Some(broken(shown, "members that lie in each other were left out".to_owned()))
        }
        None => None,
    };
    let list = listing.entries.into_iter().map(|entry| Member::new(&archive, entry)).collect();
    let cut = archive
        .cut
        .then(|| broken(shown, "it is cut or damaged, and no history is in front of that".to_owned()));
    Ok(Members { list, trouble, cut })
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
    if listing.entries.is_empty() && listing.cut {
        return Err("it is cut before the end of its first member".to_owned());
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

    /// The archive for people.
    pub(super) fn shown_archive(&self) -> &Path {
        &self.archive.shown
    }

    pub(super) fn archive_path(&self) -> &Path {
        &self.archive.file
    }

    pub(super) fn is_in_cut_archive(&self) -> bool {
        self.archive.cut
    }

    pub(super) fn is_compressed(&self) -> bool {
        self.entry.packing == Packing::Deflated
    }

    pub(super) fn stored_len(&self) -> Option<u64> {
        self.entry.stored_len
    }

    /// Its bytes, unpacked.
    pub(super) fn open(&self) -> Result<Box<dyn Read + Send>, InputError> {
        let bytes = match &self.archive.spooled {
            Some(bytes) => Arc::clone(bytes),
            None => open(&self.archive.file)?,
        };
        let region = Region::new(&bytes, self.entry.at, self.entry.stored_len);
        match self.entry.packing {
            Packing::Stored => Ok(Box::new(region)),
            Packing::Deflated => Ok(Box::new(Inflate::new(region, self.entry.checksum))),
            Packing::Foreign => Err(InputError::ForeignMember { path: self.path.clone() }),
        }
    }
}
