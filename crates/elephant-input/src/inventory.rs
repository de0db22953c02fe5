//! The files found under the user's paths.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use super::error::InputError;
use super::kind::{Reason, SourceKind};
use super::part::Part;
use super::storage::LeftOut;

pub use super::source::{LogFolder, Source, SourcePath};
use elephant_base::state::State;
use elephant_gc_log::Owner;

/// The files found, each list in a total order that does not depend on the file system.
#[derive(Debug, Default)]
pub struct Inventory {
    /// Event logs, job histories, and streams that may be one, by path.
    pub histories: Vec<Source>,
    /// Tables of cluster traces, by path.
    pub traces: Vec<Source>,
    /// Logs of containers, drivers and executors, by path; only if they are asked for.
    pub logs: Vec<Source>,
    /// Job configurations, by path.
    pub confs: Vec<ConfFile>,
    /// Logs of garbage collectors, by the application in their path, then by path.
    pub gc_logs: Vec<GcLogFile>,
    /// Skipped files, by reason.
    pub skipped: Vec<Skipped>,
    /// Files and folders that could not be read, by path.
    pub failures: Vec<Failure>,
    /// Data that was not read although no file failed, by path.
    pub notices: Vec<Notice>,
    /// Logs of servers that the filters leave out; they are among the files found.
    pub left_out: LeftOut,
    /// Number of files found, including standard input, skipped files and failures. Each counts once; folders
    /// do not count.
    pub found: u64,
    /// Indices into `confs` by job id, then path; without configurations whose job is unknown.
    confs_by_job: Vec<usize>,
}

/// A job configuration.
#[derive(Debug, Clone)]
pub struct ConfFile {
    /// Its path; `archive!member` in an archive.
    pub path: PathBuf,
    /// Where to read it.
    pub part: Part,
    /// The job it belongs to, if its name or its folder's name says.
    pub job_id: Option<String>,
}

/// A log of a garbage collector, or a part of a rotated one.
#[derive(Debug, Clone)]
pub struct GcLogFile {
    /// Its path; `archive!member` in an archive.
    pub path: PathBuf,
    /// Where to read it.
    pub part: Part,
    /// The process that wrote it, if its path says.
    pub owner: Option<Owner>,
    /// Whether the user named this file, not a folder above.
    pub named_by_user: bool,
}

impl GcLogFile {
    fn key(&self) -> Option<&str> {
        self.owner.as_ref().map(Owner::key)
    }
}

/// Files skipped for one reason. There may be a hundred thousand of them, so only the first is kept.
#[derive(Debug, Clone, PartialEq, Eq, State)]
pub struct Skipped {
    /// Why they were skipped.
    pub reason: Reason,
    /// Whether the user named these files themselves, not a folder above.
    pub named_by_user: bool,
    /// Number of files.
    pub count: u64,
    /// The first of them, by path.
    pub path: PathBuf,
}

/// A file or folder that could not be used.
#[derive(Debug)]
pub struct Failure {
    /// What went wrong.
    pub error: InputError,
    /// The affected file on disk; for a member, its archive.
    pub file: PathBuf,
    /// Whether the user named this path; if so, the run has failed.
    pub named_by_user: bool,
    /// Number of members of an archive that failed; only the first is described.
    pub count: u64,
}

/// Data that was not read although no file failed.
#[derive(Debug)]
pub struct Notice {
    /// What was not read, and why.
    pub error: InputError,
    /// How often; only the first is described.
    pub count: u64,
}

/// Compares paths by their bytes: a total order that is the same on every system.
#[must_use]
pub fn by_bytes(a: &Path, b: &Path) -> Ordering {
    a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes())
}

impl Inventory {
    /// An inventory with only these configurations, given with their job ids, for [`Self::conf_for`].
    #[must_use]
    pub fn of_confs(confs: Vec<(PathBuf, Option<String>)>) -> Self {
        let conf =
            |(path, job_id): (PathBuf, _)| ConfFile { part: Part::new_file(path.clone()), path, job_id };
        let mut inventory = Self { confs: confs.into_iter().map(conf).collect(), ..Self::default() };
        inventory.sort();
        inventory
    }

    /// The configuration of a job, by job id: one in the history's own folder, else the one with the longest
    /// common path (then the longest common name), else the first by path.
    #[must_use]
    pub fn conf_for(&self, history_path: &Path, job_id: &str) -> Option<&ConfFile> {
        let id_of = |index: &usize| self.confs.get(*index).and_then(|conf| conf.job_id.as_deref());
        let start = self.confs_by_job.partition_point(|index| id_of(index) < Some(job_id));
        let of_job = self.confs_by_job.get(start..).unwrap_or_default();
        let confs = of_job.iter().take_while(|index| id_of(index) == Some(job_id));
        let mut best = None;
        for conf in confs.filter_map(|index| self.confs.get(*index)) {
            let nearness = Nearness::of(&conf.path, history_path);
            if best.as_ref().is_none_or(|(nearest, _)| nearness > *nearest) {
                best = Some((nearness, conf));
            }
        }
        best.map(|(_, conf)| conf)
    }

    /// The logs of an application's garbage collectors, by process, then by path.
    #[must_use]
    pub fn gc_logs_for(&self, application_id: &str) -> &[GcLogFile] {
        let wanted = Some(Owner::key_of(application_id)).filter(|key| !key.is_empty());
        let start = self.gc_logs.partition_point(|log| log.key() < wanted);
        let end = self.gc_logs.partition_point(|log| log.key() <= wanted);
        if wanted.is_none() { &[] } else { self.gc_logs.get(start..end).unwrap_or_default() }
    }

    /// Whether there is anything to read.
    pub(super) const fn is_useful(&self) -> bool {
        !(self.histories.is_empty()
            && self.traces.is_empty()
            && self.confs.is_empty()
            && self.logs.is_empty()
            && self.gc_logs.is_empty())
    }

    /// Adds a source of a known kind to the histories or to the traces.
    pub(super) fn add(&mut self, source: Source) {
        match source.kind {
            Some(SourceKind::Trace(_)) => self.traces.push(source),
            Some(SourceKind::ProcessLog) => self.logs.push(source),
            _ => self.histories.push(source),
        }
    }

    /// Skips the traces, for commands that cannot use them.
    pub fn skip_traces(&mut self) {
        for source in std::mem::take(&mut self.traces) {
            for file in source.files() {
                self.skip(Reason::Trace, file, source.named_by_user);
            }
        }
    }

    pub(super) fn skip(&mut self, reason: Reason, path: &Path, named_by_user: bool) {
        log::debug!("{}: skipped: {reason}", path.display());
        let known = self
            .skipped
            .iter_mut()
            .find(|known| known.reason == reason && known.named_by_user == named_by_user);
        match known {
            Some(known) => {
                known.count += 1;
                if by_bytes(path, &known.path).is_lt() {
                    known.path = path.to_path_buf();
                }
            }
            None => self.skipped.push(Skipped { reason, named_by_user, count: 1, path: path.to_path_buf() }),
        }
    }

    /// Reports a file in a format that is not read. There may be many, so only the first by path is named.
    pub(super) fn notice_other_format(&mut self, path: &Path) {
        let mut all = self.notices.iter_mut();
        let error = || InputError::OtherFormat { path: path.to_path_buf() };
        let Some(known) = all.find(|known| matches!(known.error, InputError::OtherFormat { .. })) else {
            self.notices.push(Notice { error: error(), count: 1 });
            return;
        };
        known.count += 1;
        if by_bytes(path, known.error.path()).is_lt() {
            known.error = error();
        }
    }

    /// Adds the members of an archive. The archive itself counts as one file.
    pub(super) fn take_members(&mut self, members: Self, archive: &Path, named_by_user: bool) {
        let is_nested = |skipped: &Skipped| skipped.reason == Reason::Archive;
        let is_useful = members.is_useful();
        // Describe only one unreadable member: usually the whole archive is encrypted.
        let count = members.failures.len() as u64;
        let failure = members.failures.into_iter().next().map(|first| Failure { count, ..first });
        let mut notices: Vec<Notice> = Vec::new();
        for notice in members.notices {
            match notices.iter_mut().find(|known| known.error.code() == notice.error.code()) {
                Some(known) => known.count += 1,
                None => notices.push(notice),
            }
        }
        self.notices.extend(notices);
        if !is_useful && failure.is_none() {
            let nested = members.skipped.iter().any(is_nested);
            let reason = if nested { Reason::Archive } else { Reason::ArchiveWithoutHistory };
            self.skip(reason, archive, named_by_user);
        }
        self.failures.extend(failure);
        self.histories.extend(members.histories);
        self.traces.extend(members.traces);
        self.logs.extend(members.logs);
        self.confs.extend(members.confs);
        self.gc_logs.extend(members.gc_logs);
    }

    /// Sorts all lists, so that they do not depend on the order of the walk.
    pub(super) fn sort(&mut self) {
        self.histories.sort_by(|a, b| by_bytes(a.path.as_path(), b.path.as_path()));
        self.traces.sort_by(|a, b| by_bytes(a.path.as_path(), b.path.as_path()));
        self.logs.sort_by(|a, b| by_bytes(a.path.as_path(), b.path.as_path()));
        self.confs.sort_by(|a, b| by_bytes(&a.path, &b.path));
        self.gc_logs.sort_by(|a, b| a.owner.cmp(&b.owner).then_with(|| by_bytes(&a.path, &b.path)));
        self.skipped.sort_by_key(|skipped| (skipped.reason, skipped.named_by_user));
        self.failures.sort_by(|a, b| by_bytes(a.error.path(), b.error.path()));
        self.notices.sort_by(|a, b| by_bytes(a.error.path(), b.error.path()));
        let ids: Vec<_> = self.confs.iter().map(|conf| conf.job_id.as_deref()).collect();
        let id_of = |index: usize| ids.get(index).copied().flatten();
        let mut order: Vec<usize> = (0..ids.len()).filter(|index| id_of(*index).is_some()).collect();
        order.sort_by_key(|index| (id_of(*index), *index));
        self.confs_by_job = order;
    }
}

/// How close a configuration is to a job history; greater is closer.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Nearness {
    same_folder: bool,
    common_folders: usize,
    /// Separates the configurations of several application masters: the name of `job_1_1_2` has more in common with its
    /// own.
    common_name: usize,
}

impl Nearness {
    fn of(conf: &Path, history: &Path) -> Self {
        let (conf_folder, history_folder) = (folder(conf), folder(history));
        Self {
            same_folder: conf_folder == history_folder,
            common_folders: common(&conf_folder, &history_folder),
            common_name: common(file_name(conf), file_name(history)),
        }
    }
}

/// The folders of a path; `./a` and `a` are equal.
fn folder(path: &Path) -> Vec<Component<'_>> {
    let components = path.parent().map(Path::components).into_iter().flatten();
    components.filter(|component| *component != Component::CurDir).collect()
}

fn file_name(path: &Path) -> &[u8] {
    path.file_name().map(OsStr::as_encoded_bytes).unwrap_or_default()
}

fn common<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inventory(confs: &[&str]) -> Inventory {
        let confs = confs.iter().map(|path| ConfFile {
            path: path.into(),
            part: Part::new_file(path.into()),
            job_id: super::super::job_id::job_id_in(Path::new(path).file_name().unwrap()),
        });
        let mut inventory = Inventory { confs: confs.collect(), ..Inventory::default() };
        inventory.sort();
        inventory
    }

    fn conf(inventory: &Inventory, history: &str) -> Option<String> {
        let conf = inventory.conf_for(Path::new(history), "job_1_1")?;
        Some(conf.path.display().to_string())
    }

    #[test]
    fn the_nearest_conf_of_the_job_wins() {
        let all = inventory(&[
            "b/job_1_1_conf.xml",
            "a/x/y/job_1_1_conf.xml",
            "a/x/job_1_1_conf.xml",
            "a/x/job_1_2_conf.xml",
            "a/x/site.xml",
            "0/job_1_11_conf.xml",
        ]);
        assert_eq!(conf(&all, "a/x/job_1_1.jhist").unwrap(), "a/x/job_1_1_conf.xml");
        assert_eq!(conf(&all, "./a/x/job_1_1.jhist").unwrap(), "a/x/job_1_1_conf.xml");
        assert_eq!(conf(&all, "b/c/job_1_1.jhist").unwrap(), "b/job_1_1_conf.xml");
        assert_eq!(conf(&all, "a/x/y/z/job_1_1.jhist").unwrap(), "a/x/y/job_1_1_conf.xml");
        assert_eq!(conf(&all, "a/job_1_1.jhist").unwrap(), "a/x/job_1_1_conf.xml");
        assert_eq!(conf(&all, "/else/job_1_1.jhist").unwrap(), "a/x/job_1_1_conf.xml");
        assert!(all.conf_for(Path::new("a/x/job_1_3.jhist"), "job_1_3").is_none());
        assert!(all.conf_for(Path::new("a"), "").is_none());
    }

    #[test]
    fn each_application_master_attempt_has_its_own_conf() {
        let staging = inventory(&["s/job_1_1_1_conf.xml", "s/job_1_1_2_conf.xml"]);
        assert_eq!(conf(&staging, "s/job_1_1_2.jhist").unwrap(), "s/job_1_1_2_conf.xml");
        assert_eq!(conf(&staging, "s/job_1_1_1.jhist").unwrap(), "s/job_1_1_1_conf.xml");
        assert_eq!(conf(&staging, "s/job_1_1.jhist").unwrap(), "s/job_1_1_1_conf.xml");
    }

    #[test]
    fn skipped_files_take_one_entry_per_reason() {
        let mut inventory = Inventory::default();
        for path in ["c", "a", "b"] {
            inventory.skip(Reason::Text, Path::new(path), false);
        }
        inventory.skip(Reason::Empty, Path::new("d"), false);
        inventory.skip(Reason::Text, Path::new("e"), true);
        inventory.sort();
        let seen: Vec<_> =
            inventory.skipped.iter().map(|s| (s.reason, s.count, s.path.to_str().unwrap())).collect();
        assert_eq!(seen, [(Reason::Empty, 1, "d"), (Reason::Text, 3, "a"), (Reason::Text, 1, "e")]);
    }
}
