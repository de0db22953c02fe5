//! The files of this machine by addresses such as `file:///spark-events`, as Spark and Hadoop write them.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use walkdir::WalkDir;

use super::{Listing, Stat, Storage};
use crate::remote::decoded;
use elephant_base::units::Timestamp;

const SCHEME: &str = "file";

#[derive(Debug)]
pub(super) struct LocalFiles;

/// The path of an address, with its escapes (`%20`) decoded. `localhost` is this machine, as RFC 8089 says.
fn local(address: &Path) -> io::Result<PathBuf> {
    let after = address.to_str().and_then(|address| address.split_once("://")).map(|(_, after)| after);
    let path = after.and_then(|after| {
        let (host, path) = after.split_at(after.find('/')?);
        (host.is_empty() || host.eq_ignore_ascii_case("localhost")).then_some(path)
    });
    path.map(|path| decoded(path).into())
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it names another machine"))
}

/// The address of a path: an escape for each byte that [`local`] would not read as itself.
fn address(path: &Path) -> PathBuf {
    let mut address = format!("{SCHEME}://");
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        address.push_str(&chunk.valid().replace('%', "%25"));
        address.extend(chunk.invalid().iter().map(|byte| format!("%{byte:02X}")));
    }
    address.into()
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
            // Keep only the kind of the error: the caller adds the path.
            let entry = entry.map_err(|error| io::Error::from(io::Error::from(error).kind()))?;
            match fs::metadata(entry.path()) {
                Ok(metadata) if metadata.is_file() => {
                    if found(address(entry.path()), stat(&metadata)).is_break() {
                        break;
                    }
                }
                Ok(_) => {}
                // A link to nowhere, or a file that was removed since.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    log::info!("{}: skipped: {error}", entry.path().display());
                }
                Err(error) => return Err(error),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_machine_are_paths_with_their_escapes_decoded() {
        for (address, path) in [
            ("file:///tmp/a b", Some("/tmp/a b")),
            ("file:///tmp/a%20b%2Fc", Some("/tmp/a b/c")),
            ("FILE://LocalHost/tmp/%C3%A4", Some("/tmp/ä")),
            ("file:///tmp/100%.log", Some("/tmp/100%.log")),
            ("file:///tmp/%4", Some("/tmp/%4")),
            ("file://other/tmp", None),
            ("file://localhost.example/tmp", None),
            ("file://tmp", None),
        ] {
            assert_eq!(local(Path::new(address)).ok().as_deref(), path.map(Path::new), "{address}");
        }
    }

    #[test]
    fn listed_addresses_lead_back_to_their_files() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a b", "50%", "50%20", "ä"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        #[cfg(unix)]
        fs::write(
            folder.path().join(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"\xff")),
            "x",
        )
        .unwrap();
        let mut found = Vec::new();
        let root = address(folder.path());
        let listing = Listing { folder: &root, wanted: None, left_out: &std::cell::Cell::default() };
        let each = &mut |path, _| {
            found.push(path);
            ControlFlow::Continue(())
        };
        LocalFiles.list(listing, each).unwrap();
        assert!(found.len() >= 4);
        for path in found {
            assert!(LocalFiles.stat(&path).is_ok(), "{path:?}");
        }
    }
}
