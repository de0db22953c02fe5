//! The files of this machine by addresses such as `file:///spark-events`, as Spark and Hadoop write them.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use walkdir::WalkDir;

use super::{Listing, Stat, Storage};
use crate::units::Timestamp;

const SCHEME: &str = "file";

#[derive(Debug)]
pub(super) struct LocalFiles;

/// The path of an address.
fn local(address: &Path) -> io::Result<PathBuf> {
    let path = address.to_str().and_then(|address| address.split_once("://")).map(|(_, path)| path);
    path.filter(|path| path.starts_with('/')).map(PathBuf::from).ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidInput, "it names another machine; write file:///PATH")
    })
}

fn stat(metadata: &Metadata) -> Stat {
    let modified = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let modified = modified.and_then(|since| i64::try_from(since.as_millis()).ok());
    Stat { size: Some(metadata.len()), modified: modified.map(Timestamp::from_millis), etag: None }
}

impl Storage for LocalFiles {
    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn list(
        &self,
        listing: Listing<'_>,
        found: &mut dyn FnMut(PathBuf, Stat) -> ControlFlow<()>,
    ) -> io::Result<()> {
        for entry in WalkDir::new(local(listing.folder)?) {
            let entry = entry.map_err(io::Error::other)?;
            let metadata = fs::metadata(entry.path())?;
            if metadata.is_file() {
                let mut address = std::ffi::OsString::from(format!("{SCHEME}://"));
                address.push(entry.path());
                if found(address.into(), stat(&metadata)).is_break() {
                    break;
                }
            }
        }
        Ok(())
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        let metadata = fs::metadata(local(path)?)?;
        if metadata.is_file() { Ok(stat(&metadata)) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    fn read_at(&self, path: &Path, _: &Stat, at: u64, out: &mut [u8]) -> io::Result<usize> {
        let mut file = File::open(local(path)?)?;
        file.seek(SeekFrom::Start(at))?;
        let mut read = 0;
        while let Some(room) = out.get_mut(read..).filter(|room| !room.is_empty()) {
            match file.read(room)? {
                0 => break,
                count => read += count,
            }
        }
        Ok(read)
    }
}
