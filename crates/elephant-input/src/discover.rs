//! Finds the files under the paths that the user named.
//!
//! Every folder is entered once, whatever names and links lead to it, so link loops end and each file counts
//! once. Only named files and link targets can then appear twice, so only their canonical paths are kept: a
//! tree of a million files needs no memory for skipped ones.

mod canonical;
mod links;
mod listing;
mod objects;

use std::ffi::OsStr;
use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use rustc_hash::FxHashSet;
use walkdir::{DirEntry, WalkDir};

use canonical::Ancestors;

use super::error::InputError;
use super::inventory::{Failure, Inventory, Notice, by_bytes};
use super::kind::{Identify, Reason, SourceKind};
use super::mounts::{self, PseudoFileSystems};
use super::named::{Named, NamedPath};
use super::sorter::{Candidate, Examined, Sorter};
use super::source::{Source, SourcePath};
use super::storage::{Object, Storages, Wanted};
use super::{blocking, job_id};
use elephant_base::limits::{LimitReached, Limits};
use elephant_base::units::Millis;
pub use listing::{FileList, FileState, Listed, list};

/// Files examined in parallel; also the number held in memory.
const BATCH: usize = 1024;

/// Finds all files under the named paths (files, folders, `-` for standard input) and detects their kind.
///
/// The result does not depend on the order of the paths or of the file system's listings. Unreadable files go
/// to [`Inventory::failures`] and do not stop the search.
#[must_use]
pub fn discover(named: Named<'_>, limits: &Limits, identify: Identify) -> Inventory {
    let storages = named.storages.cloned().unwrap_or_default();
    let walk = Walk::new(*limits, identify, storages);
    let mut walk = Walk { unchanged: named.unchanged, wanted: named.wanted, ..walk };
    let named_paths = named.sorted().into_iter();
    let folders: Vec<NamedPath<'_>> =
        named_paths.filter(|path| walk.named_path(*path, named.stdin)).collect();
    for folder in &folders {
        walk.folder(*folder);
    }
    walk.linked_files();
    walk.examine_batch();
    walk.confs_beside_named_histories();
    let folders: Vec<&Path> = folders.iter().map(|named| named.path).collect();
    let mut inventory = walk.sorter.finish(&folders);
    inventory.sort();
    inventory
}

struct Walk<'a> {
    sorter: Sorter,
    /// The files left out.
    unchanged: Option<&'a FxHashSet<PathBuf>>,
    /// The files so far, if files are only listed and not examined.
    listing: Option<Vec<Listed>>,
    storages: Storages,
    /// Which applications are read, for storages that know them.
    wanted: Option<&'a dyn Wanted>,
    /// Folders of storages that were listed.
    listed: Vec<PathBuf>,
    pseudo: PseudoFileSystems,
    /// When the search ends, if its time is limited.
    deadline: Option<(Instant, Millis)>,
    limits: Limits,
    identify: Identify,
    batch: Vec<Candidate>,
    /// Canonical paths of folders that were entered or, if named, will be.
    folders: FxHashSet<PathBuf>,
    /// Canonical paths of files that a folder could list again.
    files: FxHashSet<PathBuf>,
    /// Links to files, resolved once all folders are known.
    links: Vec<PathBuf>,
}

impl Walk<'_> {
    fn new(limits: Limits, identify: Identify, storages: Storages) -> Self {
        let deadline = limits
            .time
            .and_then(|time| Some((Instant::now().checked_add(Duration::from_millis(time.get()))?, time)));
        Self {
            pseudo: PseudoFileSystems::mounted(),
            deadline,
            limits,
            identify,
            sorter: Sorter::default(),
            unchanged: None,
            listing: None,
            storages,
            wanted: None,
            listed: Vec::new(),
            batch: Vec::new(),
            folders: FxHashSet::default(),
            files: FxHashSet::default(),
            links: Vec::new(),
        }
    }

    /// Adds a path that the user named; `true` if it is a folder to walk.
    fn named_path(&mut self, named: NamedPath<'_>, stdin: Option<&Path>) -> bool {
        let path = named.path;
        if path == Path::new("-") {
            self.stream(SourcePath::Stdin(stdin.map(Path::to_path_buf)));
            return false;
        }
        if let Some(storage) = self.storages.of(path).cloned() {
            return self.named_object(named, &storage);
        }
        let file_type = match fs::metadata(path) {
            Ok(metadata) => metadata.file_type(),
            // A dangling link exists; its error is reported by the next arm.
            Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => {
                self.fail(named.failed(InputError::not_found(path, &self.storages)), true);
                return false;
            }
            Err(error) => {
                self.fail(named.failed(InputError::from_io(path, error)), true);
                return false;
            }
        };
        // A shell's `<(command)` has no canonical path, and appears only once anyway.
        let canonical = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        if file_type.is_dir() {
            return self.folders.insert(canonical);
        }
        if !self.files.insert(canonical) {
            return false;
        }
        if file_type.is_file() {
            self.file(path.to_path_buf(), true);
        } else if is_stream(file_type) {
            self.stream(SourcePath::File(path.to_path_buf()));
        } else {
            self.sorter.inventory.found += 1;
            self.fail(named.failed(InputError::NotReadableAsFile { path: path.to_path_buf() }), true);
        }
        false
    }

    fn stream(&mut self, path: SourcePath) {
        self.sorter.inventory.found += 1;
        self.sorter.inventory.histories.push(Source::stream(path, self.limits.time));
    }

    fn folder(&mut self, named: NamedPath<'_>) {
        let root = named.path;
        if let Some(storage) = self.storages.of(root).cloned() {
            return self.objects(named, &storage);
        }
        let metadata = fs::metadata(root).ok();
        let named_device = metadata.as_ref().and_then(mounts::device);
        // Links of processes lead to all other file systems.
        let is_pseudo = metadata.is_some_and(|metadata| self.pseudo.type_of(&metadata).is_some());
        let mut entries = WalkDir::new(root).follow_links(!is_pseudo).sort_by_file_name().into_iter();
        let mut ancestors = Ancestors::default();
        while let Some(entry) = entries.next() {
            if let Some(reached) = self.time_is_up() {
                self.fail(InputError::SearchTooSlow { path: root.to_path_buf(), reached }, true);
                return;
            }
            match entry {
                Ok(entry) if entry.file_type().is_dir() => {
                    let canonical = ancestors.canonical(&entry);
                    let enters = entry.depth() == 0
                        || (!self.is_pseudo(entry.path(), named_device)
                            && self.enter(entry.path(), canonical));
                    if !enters {
                        entries.skip_current_dir();
                    }
                }
                Ok(entry) => self.found_file(entry),
                Err(error) => self.walk_error(root, error),
            }
        }
    }

    fn time_is_up(&self) -> Option<LimitReached> {
        let (deadline, time) = self.deadline?;
        (Instant::now() >= deadline).then_some(LimitReached::Time(time))
    }

    /// Whether a path leads into a pseudo file system. A pseudo file system that the user named is searched, so it does
    /// not count.
    fn is_pseudo(&mut self, path: &Path, named_device: Option<u64>) -> bool {
        let Ok(metadata) = fs::metadata(path) else { return false };
        if mounts::device(&metadata) == named_device {
            return false;
        }
        let Some(kind) = self.pseudo.type_of(&metadata).map(str::to_owned) else { return false };
        let notices = &mut self.sorter.inventory.notices;
        let known =
            notices.iter_mut().find(|known| matches!(known.error, InputError::PseudoFileSystem { .. }));
        let error = InputError::PseudoFileSystem { path: path.to_path_buf(), kind };
        match known {
            Some(known) => {
                known.count += 1;
                if by_bytes(path, known.error.path()).is_lt() {
                    known.error = error;
                }
            }
            None => notices.push(Notice { error, count: 1 }),
        }
        true
    }

    /// Whether a folder is new and should be entered.
    fn enter(&mut self, folder: &Path, canonical: io::Result<PathBuf>) -> bool {
        match canonical {
            Ok(canonical) => self.folders.insert(canonical),
            Err(error) => {
                self.fail(InputError::from_io(folder, error), false);
                false
            }
        }
    }

    fn found_file(&mut self, entry: DirEntry) {
        if !entry.file_type().is_file() {
            // Opening a pipe would block until something writes to it.
            self.sorter.inventory.found += 1;
            self.sorter.inventory.skip(Reason::SpecialFile, entry.path(), false);
        } else if entry.path_is_symlink() {
            self.links.push(entry.into_path());
        } else if !self.was_named(entry.path()) {
            self.file(entry.into_path(), false);
        }
    }

    fn was_named(&self, path: &Path) -> bool {
        !self.files.is_empty() && fs::canonicalize(path).is_ok_and(|path| self.files.contains(&path))
    }

    fn walk_error(&mut self, root: &Path, error: walkdir::Error) {
        if error.loop_ancestor().is_some() {
            // The link points to a folder that is already being walked.
            return;
        }
        let path = error.path().unwrap_or(root).to_path_buf();
        if path.is_dir() {
            if let Ok(canonical) = fs::canonicalize(&path) {
                // Its files can be reached only through links, so these must not count as files of a known folder.
                self.folders.remove(&canonical);
            }
        } else {
            self.sorter.inventory.found += 1;
        }
        let named_by_user = error.depth() == 0;
        let source = error.into_io_error().unwrap_or_else(|| io::Error::other("the folder cannot be listed"));
        self.fail(InputError::Unreadable { path, source }, named_by_user);
    }

    /// Finds the configurations of job histories that were named without their folder: Hadoop writes them next to the
    /// history, or in the folder above.
    fn confs_beside_named_histories(&mut self) {
        let known: FxHashSet<&str> =
            self.sorter.inventory.confs.iter().filter_map(|conf| conf.job_id.as_deref()).collect();
        let histories = self.sorter.inventory.histories.iter().filter(|source| {
            let is_job = matches!(
                source.kind,
                Some(SourceKind::JhistJson | SourceKind::JhistBinary | SourceKind::Hadoop1History)
            );
            is_job && source.named_by_user && matches!(source.path, SourcePath::File(_))
        });
        let id = |source: &&Source| source.path.as_path().file_name().and_then(job_id::job_id_in);
        let without_conf =
            histories.filter(|source| id(source).is_some_and(|id| !known.contains(id.as_str())));
        let candidates: Vec<_> =
            without_conf.map(|source| job_id::confs_beside(source.path.as_path())).collect();
        for confs in candidates {
            let Some(conf) = confs.into_iter().find(|conf| self.is_there(conf)) else { continue };
            if let Some(storage) = self.storages.of(&conf).cloned() {
                if let Ok(stat) = storage.stat(&conf) {
                    self.object(Object::new(&storage, conf, stat), false);
                }
                continue;
            }
            let Ok(canonical) = fs::canonicalize(&conf) else { continue };
            let is_walked = canonical.parent().is_some_and(|folder| self.folders.contains(folder));
            if !is_walked && self.files.insert(canonical) {
                self.file(conf, false);
            }
        }
        self.examine_batch();
    }

    fn file(&mut self, path: PathBuf, named_by_user: bool) {
        if let Some(listing) = &mut self.listing {
            listing.extend(listing::listed(path));
            return;
        }
        if self.unchanged.is_some_and(|unchanged| unchanged.contains(&path)) {
            return;
        }
        self.candidate(Candidate { path, object: None, named_by_user });
    }

    fn candidate(&mut self, candidate: Candidate) {
        self.sorter.inventory.found += 1;
        if let Some(reason) = candidate.path.file_name().and_then(by_name) {
            self.sorter.inventory.skip(reason, &candidate.path, candidate.named_by_user);
            return;
        }
        self.batch.push(candidate);
        if self.batch.len() >= BATCH {
            self.examine_batch();
        }
    }

    /// Examines the files of the batch in parallel, and keeps their order.
    fn examine_batch(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        let examine = |candidate: Candidate| match self.time_is_up().filter(|_| !candidate.named_by_user) {
            None => Ok(self.examine(candidate)),
            Some(reached) => Err((candidate.path, reached)),
        };
        let has_objects = batch.iter().any(|candidate| candidate.object.is_some());
        let examine_all = || batch.into_par_iter().map(examine).collect();
        let examined: Vec<_> = match objects::pool().filter(|_| has_objects) {
            Some(pool) => pool.install(examine_all),
            None => examine_all(),
        };
        let mut late = Vec::new();
        for file in examined {
            match file {
                Ok(file) => self.sorter.take(file),
                Err((path, reached)) => late.push((path, reached)),
            }
        }
        let count = late.len() as u64;
        if let Some((path, reached)) = late.into_iter().next() {
            let error = InputError::SearchTooSlow { path, reached };
            let file = error.path().to_path_buf();
            self.sorter.inventory.failures.push(Failure { error, file, named_by_user: true, count });
        }
    }

    /// Examines a file, with a time limit if reading it may block.
    fn examine(&self, candidate: Candidate) -> Examined {
        let (limits, identify) = (self.limits, self.identify);
        if candidate.object.is_some() || !blocking::may_block(&candidate.path, &self.pseudo) {
            return candidate.examine(&limits, identify);
        }
        let left =
            self.deadline.map_or(Duration::MAX, |(end, _)| end.saturating_duration_since(Instant::now()));
        let time = left.min(blocking::PATIENCE);
        let work = candidate.clone();
        blocking::within(time, move || work.examine(&limits, identify))
            .unwrap_or_else(|| candidate.failed(|path| blocking::gave_nothing(path, time)))
    }

    fn fail(&mut self, error: InputError, named_by_user: bool) {
        self.sorter.inventory.failures.push(Failure {
            file: error.path().to_path_buf(),
            error,
            named_by_user,
            count: 1,
        });
    }
}

/// Why a file is skipped by name alone: marker files that Hadoop's own tools ignore too.
fn by_name(name: &OsStr) -> Option<Reason> {
    match name.as_encoded_bytes() {
        b"_SUCCESS" => Some(Reason::SuccessMarker),
        [b'.', _, .., b'.', b'c', b'r', b'c'] => Some(Reason::Checksum),
        _ => None,
    }
}

/// Whether something that is neither file nor folder can be read from start to end.
#[cfg(unix)]
fn is_stream(file_type: FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;
    file_type.is_fifo() || file_type.is_char_device()
}

#[cfg(not(unix))]
fn is_stream(_: FileType) -> bool {
    false
}
