//! Hadoop's file system, without Java: name nodes tell where the blocks of a file are, data nodes send them. The client
//! reads Hadoop's configuration (`HADOOP_CONF_DIR`), and turns to another name node or data node if one fails.

mod place;
mod told;

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt};
use hdfs_native::client::{FileStatus, ListStatusIterator};
use hdfs_native::{Client, ClientBuilder, HdfsError};
use tokio::time::timeout;

use super::cloud::text;
use super::reason::Reason;
use super::transfer::{self, Answer, Attempts, Remote, Stopped};
use super::{Patience, runtime};
use elephant_base::units::Timestamp;
use elephant_input::storage::{Listing, Stat, Storage};
use place::Place;

/// The port of a name node if the address has none.
const PORT: u16 = 8020;

/// The file systems of one scheme.
#[derive(Debug)]
pub(super) struct Hdfs {
    scheme: &'static str,
    patience: Patience,
    /// A client for each name node or nameservice.
    clients: Mutex<BTreeMap<String, Client>>,
}

impl Hdfs {
    pub(super) fn new(scheme: &'static str, patience: Patience) -> Self {
        Self { scheme, patience, clients: Mutex::default() }
    }

    fn client(&self, authority: &str) -> Result<Client, Reason> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = clients.get(authority) {
            return Ok(known.clone());
        }
        let url = format!("{}://{authority}/", self.scheme);
        let client = match self.connected(url) {
            // The configuration has no nameservice of this name, so it is the name of a machine.
            Err(HdfsError::InvalidArgument(said)) if said.contains("No NameNode hosts") => {
                self.connected(format!("{}://{authority}:{PORT}/", self.scheme))
            }
            client => client,
        };
        let client = client.map_err(|error| told::reason(&error))?;
        clients.insert(authority.to_owned(), client.clone());
        Ok(client)
    }

    /// Makes a client; it sends nothing yet.
    fn connected(&self, url: String) -> hdfs_native::Result<Client> {
        let handle = runtime::handle().map_err(HdfsError::from)?;
        let silence = self.patience.silence.as_millis().to_string();
        // Each client retries a name node only a few times: further retries are decided in one place for all storages.
        let settings = [
            ("dfs.client.socket-timeout", silence.as_str()),
            ("dfs.client.failover.max.attempts", "3"),
            ("dfs.client.failover.sleep.base.millis", "100"),
        ];
        ClientBuilder::new().with_url(url).with_config(settings).with_io_runtime(handle).build()
    }

    async fn answer(&self, address: &str, range: Option<Range<u64>>) -> Result<Answer, Reason> {
        let place = place(address)?;
        let client = self.client(place.authority)?;
        // Ask for the blocks first, then for the state: if this is the state that was listed, the blocks belong to that
        // version.
        let blocks = client.read(&place.path).await.map_err(|error| told::reason(&error))?;
        let file = client.get_file_info(&place.path).await.map_err(|error| told::reason(&error))?;
        let stat = stat(&file);
        let range = range.unwrap_or(0..file.length as u64);
        let (start, end) = (whole(range.start)?, whole(range.end)?);
        if end > blocks.file_length() && file.length > blocks.file_length() {
            return Err(Reason::Lasting(told::UNFINISHED.to_owned()));
        }
        // If the file became shorter meanwhile, its state differs, and the bytes are not used.
        let end = end.min(blocks.file_length());
        let pieces = blocks.read_range_stream(start.min(end), end.saturating_sub(start));
        let pieces = pieces.map(|piece| match piece {
            Ok(piece) => Ok(piece.to_vec()),
            Err(error) => Err(told::reason(&error)),
        });
        Ok(Answer { starts_at: range.start, stat, pieces: pieces.boxed() })
    }

    /// Passes the entries of a folder to `take`. After a failure, the folder is listed again, and entries that were
    /// passed before are skipped. The order of the list is no help: that of Java differs from the order of Rust.
    async fn folder(
        &self,
        client: &Client,
        folder: &str,
        take: &mut dyn FnMut(FileStatus) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Stopped> {
        let mut attempts = Attempts::new(&self.patience);
        // A folder can have a million entries, so only the hashes of their names are kept.
        let (names, mut passed) = (RandomState::new(), HashSet::new());
        loop {
            let files = client.list_status_iter(folder, false);
            let mut has_progress = false;
            let reason = loop {
                match self.next(&files).await {
                    Ok(None) => return Ok(ControlFlow::Continue(())),
                    Ok(Some(file)) => {
                        let is_new = passed.insert(names.hash_one(&file.path));
                        has_progress |= is_new;
                        if is_new && take(file).is_break() {
                            return Ok(ControlFlow::Break(()));
                        }
                    }
                    Err(reason) => break reason,
                }
            };
            attempts.after(reason, has_progress).await?;
        }
    }

    async fn next(&self, files: &ListStatusIterator) -> Result<Option<FileStatus>, Reason> {
        match timeout(self.patience.failing, files.next()).await {
            Ok(file) => file.transpose().map_err(|error| told::reason(&error)),
            Err(_) => Err(Reason::Passing("no answer in time".to_owned())),
        }
    }
}

fn place(address: &str) -> Result<Place<'_>, Reason> {
    Place::of(address).map_err(|error| Reason::Lasting(error.to_string()))
}

/// Converts a length: the client uses `usize`.
fn whole(bytes: u64) -> Result<usize, Reason> {
    usize::try_from(bytes).map_err(|_| Reason::Lasting("it is too large for this machine".to_owned()))
}

fn stat(file: &FileStatus) -> Stat {
    let modified = i64::try_from(file.modification_time).ok().map(Timestamp::from_millis);
    // Modification times are compared in seconds; the etag changes with each millisecond.
    let etag = Some(file.modification_time.to_string());
    Stat { size: Some(file.length as u64), modified, etag }
}

/// Folders that could not be listed. The files in other folders are read.
#[derive(Debug, Default)]
struct Unlisted {
    first: Option<String>,
    others: usize,
}

impl Unlisted {
    fn add(&mut self, said: String) {
        match self.first {
            None => self.first = Some(said),
            Some(_) => self.others += 1,
        }
    }

    fn reason(self) -> Option<Reason> {
        let others = match self.others {
            0 => String::new(),
            1 => ", as is another folder".to_owned(),
            more => format!(", as are {more} other folders"),
        };
        Some(Reason::Refused(self.first? + &others))
    }
}

impl Remote for Hdfs {
    fn get<'a>(
        &'a self,
        address: &'a str,
        range: Option<Range<u64>>,
    ) -> BoxFuture<'a, Result<Answer, Reason>> {
        self.answer(address, range).boxed()
    }

    fn credentials(&self) -> &'static str {
        "check HADOOP_USER_NAME and the permissions; with Kerberos, HADOOP_CONF_DIR and the ticket (kinit)"
    }

    fn patience(&self) -> &Patience {
        &self.patience
    }
}

impl Storage for Hdfs {
    fn scheme(&self) -> &'static str {
        self.scheme
    }

    fn list(
        &self,
        listing: Listing<'_>,
        found: &mut dyn FnMut(PathBuf, Stat) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let root = Place::of(text(listing.folder)?)?;
        let fail = |reason: Reason| reason.error(self.credentials());
        let client = self.client(root.authority).map_err(fail)?;
        let mut folders = vec![root.path.clone()];
        let mut unlisted = Unlisted::default();
        while let Some(folder) = folders.pop() {
            let mut take = |file: FileStatus| {
                if file.isdir {
                    folders.push(file.path);
                    return ControlFlow::Continue(());
                }
                found(root.address(&file.path), stat(&file))
            };
            match runtime::wait_for(self.folder(&client, &folder, &mut take))? {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => return Ok(()),
                // Finished jobs are moved while they are listed.
                Err(Stopped::Reason(Reason::NotFound(_))) if folder != root.path => {}
                Err(Stopped::Reason(Reason::NotFound(_))) => return Err(ErrorKind::NotFound.into()),
                Err(Stopped::Reason(Reason::Refused(said))) => unlisted.add(said),
                Err(Stopped::Reason(reason)) => return Err(fail(reason)),
                Err(Stopped::Limit(reached)) => return Err(reached.into()),
                Err(Stopped::Disk(error)) => return Err(error),
            }
        }
        unlisted.reason().map_or(Ok(()), |reason| Err(fail(reason)))
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        let place = Place::of(text(path)?)?;
        let file = transfer::within(self, async {
            let mut attempts = Attempts::new(&self.patience);
            loop {
                let client = self.client(place.authority)?;
                let asked = timeout(self.patience.failing, client.get_file_info(&place.path)).await;
                let reason = match asked {
                    Ok(Ok(file)) => return Ok(Some(file)),
                    Ok(Err(error)) => told::reason(&error),
                    Err(_) => Reason::Passing("no answer in time".to_owned()),
                };
                if matches!(reason, Reason::NotFound(_)) {
                    return Ok(None);
                }
                attempts.after(reason, false).await?;
            }
        })?;
        match file {
            Some(file) if !file.isdir && !place.is_folder => Ok(stat(&file)),
            _ => Err(ErrorKind::NotFound.into()),
        }
    }

    fn read_at(&self, path: &Path, stat: &Stat, at: u64, out: &mut [u8]) -> io::Result<usize> {
        transfer::read_at(self, text(path)?, stat, (at, out))
    }
}
