//! The data read from all histories, before copies are left out: by one run, or by several whose results are merged.
//! Everything that depends on several histories is done afterwards, so that it does not matter which run read which.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use super::beside::{self, Beside};
use super::source::{SourceOutcome, error_problem};
use super::{Turn, Visit};
use crate::results::SourceProblem;
use elephant_base::address::Address;
use elephant_base::state::State;
use elephant_input::error::InputError;
use elephant_input::inventory::{Failure, Inventory, Notice, Skipped, Source, by_bytes};
use elephant_input::spread_files;
use elephant_input::storage::LeftOut;
use elephant_parse::{Level, Problem};

/// What was read of all histories.
#[derive(State)]
pub(crate) struct Gathered<'a, T> {
    /// Number of files found.
    pub(super) found: u64,
    /// Logs that servers were not asked for.
    pub(super) left_out: LeftOut,
    /// By path, as the lists below.
    pub(super) failures: Vec<Failed>,
    pub(super) notices: Vec<Noticed>,
    pub(super) skipped: Vec<Skipped>,
    /// Configurations of jobs, with the ids of these.
    confs: Vec<(PathBuf, Option<String>)>,
    /// Logs beside them, by path.
    pub(super) beside: Vec<Beside>,
    pub(super) histories: Vec<HistoryRead<'a, T>>,
}

/// A file or folder that could not be used.
#[derive(State)]
pub(super) struct Failed {
    path: PathBuf,
    pub(super) file: PathBuf,
    pub(super) named_by_user: bool,
    pub(super) told: SourceProblem,
}

/// Data that was not read although no file failed.
#[derive(State)]
pub(super) struct Noticed {
    path: PathBuf,
    pub(super) told: SourceProblem,
}

/// One history, and what was read of it.
#[derive(State)]
pub(super) struct HistoryRead<'a, T> {
    path: Cow<'a, Path>,
    /// The id that is known before all of it is read, if it was needed.
    id: Option<String>,
    pub(super) named_by_user: bool,
    /// What other files have in common with this one if they must be read together with it.
    group: Option<PathBuf>,
    pub(super) files: Vec<Cow<'a, Path>>,
    pub(super) outcome: SourceOutcome<'a, T>,
}

/// Why parts cannot be merged, with their places.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// Both have read this history: its numbers would count twice.
    Overlap { history: PathBuf, parts: [usize; 2] },
    /// One has read this history, and the other a file that belongs to it.
    Apart { history: PathBuf, what: &'static str, file: PathBuf, parts: [usize; 2] },
    /// Both have read files of this history.
    Split { history: PathBuf, parts: [usize; 2] },
}

impl<'a, T> HistoryRead<'a, T> {
    pub(super) fn of(source: &'a Source, id: Option<String>, outcome: SourceOutcome<'a, T>) -> Self {
        Self {
            path: source.path.as_path().into(),
            id,
            named_by_user: source.named_by_user,
            group: spread_files::group(source),
            files: source.files().map(Cow::from).collect(),
            outcome,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The ids of its applications.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        let ids = self.outcome.applications.iter().map(|visit| visit.id.as_str());
        ids.chain(self.id.as_deref())
    }
}

impl<'a, T> Gathered<'a, T> {
    /// The data of an inventory, and what was read of its histories, in their order.
    pub(super) fn of(inventory: &'a Inventory, histories: Vec<HistoryRead<'a, T>>) -> Self {
        Self {
            found: inventory.found,
            left_out: inventory.left_out,
            failures: inventory.failures.iter().map(failed).collect(),
            notices: inventory.notices.iter().map(noticed).collect(),
            skipped: inventory.skipped.clone(),
            confs: Vec::new(),
            beside: Vec::new(),
            histories,
        }
    }

    /// The same with logs that were read beside the histories.
    pub(in crate::engine) fn with_logs(mut self, logs: impl IntoIterator<Item = Beside>) -> Self {
        self.beside.extend(logs);
        self.beside.sort_by(|a, b| by_bytes(&a.path, &b.path));
        self
    }

    /// The same with all configurations of the inventory, for merging.
    pub(super) fn with_confs(self, inventory: &Inventory) -> Self {
        let confs = inventory.confs.iter().map(|conf| (conf.path.clone(), conf.job_id.clone())).collect();
        Self { confs, ..self }
    }

    /// The files that were read in addition to histories: configurations and GC logs.
    pub(super) fn joined(&self) -> BTreeSet<PathBuf> {
        let joined = self.histories.iter().flat_map(|history| &history.outcome.confs);
        joined.map(|path| path.to_path_buf()).collect()
    }

    /// All values.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let visits = self.histories.iter_mut().flat_map(|history| &mut history.outcome.applications);
        visits.map(|visit| &mut visit.value)
    }

    /// The problems so far, of files and of histories.
    pub(crate) fn problems(&self) -> Vec<SourceProblem> {
        let of_files = self.failures.iter().map(|failed| &failed.told);
        let of_files = of_files.chain(self.notices.iter().map(|noticed| &noticed.told));
        let of_files = of_files.chain(self.histories.iter().flat_map(|history| &history.outcome.problems));
        of_files.chain(self.beside.iter().filter_map(Beside::told)).cloned().collect()
    }

    /// Passes each application to `look`, as when it is read: with its turn among all. `nth` is its place in its history.
    pub(in crate::engine) fn look<U>(
        self,
        nth: impl Fn(&T) -> usize,
        mut look: impl FnMut(Visit<T>, Turn) -> Option<Visit<U>>,
    ) -> Gathered<'a, U> {
        let Self { found, left_out, failures, notices, skipped, confs, beside, histories } = self;
        let shared = shared(&histories);
        let is_alone = histories.len() == 1;
        let read = |(place, history): (usize, HistoryRead<'a, T>)| {
            let HistoryRead { path, id, named_by_user, group, files, outcome } = history;
            let SourceOutcome { applications, mut passed, left_out, left_out_copies, problems, confs } =
                outcome;
            let mut kept = Vec::new();
            for visit in applications {
                let nth = nth(&visit.value);
                let is_single = nth == 0 && (is_alone || !shared.contains(&visit.id));
                match look(visit, Turn { place, nth, may_be_copied: !is_single }) {
                    Some(visit) => kept.push(visit),
                    None => passed += 1,
                }
            }
            let outcome =
                SourceOutcome { applications: kept, passed, left_out, left_out_copies, problems, confs };
            HistoryRead { path, id, named_by_user, group, files, outcome }
        };
        let histories = histories.into_iter().enumerate().map(read).collect();
        Gathered { found, left_out, failures, notices, skipped, confs, beside, histories }
    }

    /// What all parts have read together, whatever their order.
    ///
    /// # Errors
    /// If two of them do not fit together.
    pub(crate) fn merge(parts: Vec<Self>) -> Result<Self, Unfit> {
        let mut all = Self {
            found: 0,
            left_out: LeftOut::default(),
            failures: Vec::new(),
            notices: Vec::new(),
            skipped: Vec::new(),
            confs: Vec::new(),
            beside: Vec::new(),
            histories: Vec::new(),
        };
        let mut beside: Vec<(usize, Beside)> = Vec::new();
        let mut histories: Vec<(usize, HistoryRead<'a, T>)> = Vec::new();
        let mut confs: BTreeMap<PathBuf, usize> = BTreeMap::new();
        for (place, part) in parts.into_iter().enumerate() {
            all.found += part.found;
            all.left_out += part.left_out;
            all.failures.extend(part.failures);
            all.notices.extend(part.notices);
            part.skipped.into_iter().for_each(|skipped| add_skipped(&mut all.skipped, skipped));
            confs.extend(part.confs.iter().map(|(path, _)| (path.clone(), place)));
            all.confs.extend(part.confs);
            beside.extend(part.beside.into_iter().map(|log| (place, log)));
            histories.extend(part.histories.into_iter().map(|history| (place, history)));
        }
        all.failures.sort_by(|a, b| by_bytes(&a.path, &b.path));
        all.notices.sort_by(|a, b| by_bytes(&a.path, &b.path));
        merge_pseudo_file_systems(&mut all.notices);
        all.skipped.sort_by_key(|skipped| (skipped.reason, skipped.named_by_user));
        // The sort is stable: members of one archive with the same name stay in their order.
        histories.sort_by(|(_, a), (_, b)| by_bytes(&a.path, &b.path));
        for ((one, a), (other, b)) in histories.iter().zip(histories.iter().skip(1)) {
            if one != other && a.path == b.path {
                let parts = [*one.min(other), *one.max(other)];
                return Err(Unfit::Overlap { history: a.path.to_path_buf(), parts });
            }
        }
        are_whole(&histories)?;
        all.confs = configured(&histories, all.confs, &confs)?;
        all.beside = beside::merge(&histories, beside)?;
        all.histories = histories.into_iter().map(|(_, history)| history).collect();
        Ok(all)
    }
}

/// Returns `confs` if each history has been read with the configuration that it has among all of them. `parts` says which
/// part has which.
fn configured<T>(
    histories: &[(usize, HistoryRead<'_, T>)],
    confs: Vec<(PathBuf, Option<String>)>,
    parts: &BTreeMap<PathBuf, usize>,
) -> Result<Vec<(PathBuf, Option<String>)>, Unfit> {
    let all = Inventory::of_confs(confs.clone());
    for (place, history) in histories {
        for id in history.ids() {
            let conf = all.conf_for(&history.path, id).map(|conf| &conf.path);
            let other = conf.and_then(|conf| parts.get(conf)).filter(|other| *other != place);
            if let Some((conf, other)) = conf.zip(other) {
                let (history, file) = (history.path.to_path_buf(), conf.clone());
                return Err(Unfit::Apart { history, what: "configuration", file, parts: [*place, *other] });
            }
        }
    }
    Ok(confs)
}

/// Whether each part has read all files of its histories.
fn are_whole<T>(histories: &[(usize, HistoryRead<'_, T>)]) -> Result<(), Unfit> {
    let mut groups: BTreeMap<&Path, usize> = BTreeMap::new();
    for (place, history) in histories {
        let Some(group) = history.group.as_deref() else { continue };
        let other = *groups.entry(group).or_insert(*place);
        if other != *place {
            let parts = [other.min(*place), other.max(*place)];
            return Err(Unfit::Split { history: group.to_path_buf(), parts });
        }
    }
    Ok(())
}

/// The ids that several of these histories have.
fn shared<T>(histories: &[HistoryRead<'_, T>]) -> FxHashSet<String> {
    let mut seen: FxHashMap<&str, usize> = FxHashMap::default();
    let mut shared = FxHashSet::default();
    for (place, history) in histories.iter().enumerate() {
        for id in history.ids() {
            if *seen.entry(id).or_insert(place) != place {
                shared.insert(id.to_owned());
            }
        }
    }
    shared
}

/// For each id, whether only one history has it.
pub(super) fn single<'i>(ids: impl Iterator<Item = Option<&'i str>> + Clone) -> Vec<bool> {
    let mut seen: FxHashMap<&str, u64> = FxHashMap::default();
    for id in ids.clone().flatten() {
        *seen.entry(id).or_default() += 1;
    }
    ids.map(|id| id.is_some_and(|id| seen.get(id) == Some(&1))).collect()
}

fn add_skipped(all: &mut Vec<Skipped>, more: Skipped) {
    let same =
        |known: &&mut Skipped| known.reason == more.reason && known.named_by_user == more.named_by_user;
    match all.iter_mut().find(same) {
        Some(known) => {
            known.count += more.count;
            if by_bytes(&more.path, &known.path).is_lt() {
                known.path = more.path;
            }
        }
        None => all.push(more),
    }
}

/// Merges the notices on pseudo file systems into one, as from a single search.
fn merge_pseudo_file_systems(notices: &mut Vec<Noticed>) {
    let mut counts: BTreeMap<Cow<'static, str>, u64> = BTreeMap::new();
    let is_pseudo = |notice: &Noticed| notice.told.problem.level == Level::Info;
    for notice in notices.iter().filter(|notice| is_pseudo(notice)) {
        *counts.entry(notice.told.problem.code.clone()).or_default() += notice.told.problem.count;
    }
    notices.retain_mut(|notice| {
        if !is_pseudo(notice) {
            return true;
        }
        let count = counts.remove(&notice.told.problem.code);
        notice.told.problem.count = count.unwrap_or_default();
        count.is_some()
    });
}

fn failed(failure: &Failure) -> Failed {
    let Failure { error, file, named_by_user, count } = failure;
    let mut told = error_problem(Address::of(error.path()).to_string(), error.code(), error.to_string());
    told.problem.count = *count;
    Failed { path: error.path().to_path_buf(), file: file.clone(), named_by_user: *named_by_user, told }
}

/// The warning for data that was not read, or a remark if nothing can be missing.
fn noticed(notice: &Notice) -> Noticed {
    let Notice { error, count } = notice;
    let (source, message) = (Address::of(error.path()).to_string(), error.to_string());
    let level = match error {
        InputError::PseudoFileSystem { .. } => Level::Info,
        _ => Level::Warning,
    };
    let problem = Problem { level, code: error.code().into(), position: None, message, count: *count };
    Noticed { path: error.path().to_path_buf(), told: SourceProblem { source, problem } }
}
