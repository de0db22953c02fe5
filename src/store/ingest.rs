//! Reads new and changed histories into a store.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use super::database::{Database, values};
use super::outcome::{Outcome, Outcomes, archives};
use super::place::ENDINGS;
use super::record::Written;
use super::{Store, StoreError, listing, record};
use crate::engine::Keeper;
use crate::input::discover::{self, FileState};
use crate::input::named::Named;
use crate::input::storage::{BrokenOff, Storages};
use crate::input::unit;
use crate::limits::Limits;
use crate::nodes::work_by_node;
use crate::results::{ApplicationReport, Report, SourceProblem};
use crate::units::Timestamp;

/// The version of this program: figures of another one may differ.
pub(super) const TOOL: &str = env!("CARGO_PKG_VERSION");

/// What was stored of a run.
#[derive(Debug)]
pub(crate) struct Stored {
    /// Files that had not changed. [`Files::Changed`] does not open them.
    pub(crate) unchanged: u64,
    /// Applications that were stored.
    pub(crate) added: u64,
    /// Applications that were not stored, because one of their objects was not read to its end.
    pub(crate) cut: u64,
    /// All applications in the store, each once.
    pub(crate) applications: u64,
}

/// The files to read. In both cases, only applications in new or changed files are stored. A file that was last read
/// with another version or other rules counts as changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Files {
    Changed,
    All,
}

impl Store {
    /// Stores what `read` finds in the histories below `named`. A killed run keeps what it committed, and what was found is
    /// returned even if it could not be stored.
    pub(crate) fn keep<T>(
        &mut self,
        named: Named<'_>,
        (files, limits): (Files, &Limits),
        rules_hash: &str,
        now: Timestamp,
        read: impl FnOnce(Named<'_>, Keeper<'_>) -> (Report, T),
    ) -> Result<(Report, T, Result<Stored, StoreError>), StoreError> {
        let broken_off = BrokenOff::default();
        let storages = named.storages.cloned().unwrap_or_else(|| Storages::built_in(limits));
        let storages = storages.watched(&broken_off);
        let named = Named { storages: Some(&storages), ..named };
        let listed = discover::list(named, limits);
        let database = &self.database;
        let known = database.reading(|| listing::unchanged(database, &listed, (TOOL, rules_hash)))?;
        let unchanged = known.len() as u64;
        let mut left_out = match files {
            Files::Changed => known.clone(),
            Files::All => FxHashSet::default(),
        };
        // Closing a file of the database would release the locks that SQLite has on it.
        left_out.extend(listed.iter().filter(|file| self.is_own(&file.path)).map(|file| file.path.clone()));
        let run = database.writing(|| {
            database.insert(
                "INSERT INTO run (started, tool, rules_hash) VALUES (?1, ?2, ?3) RETURNING run",
                &values![now.as_millis(), TOOL, rules_hash],
            )
        })?;
        let states = listed.into_iter().map(|file| (file.path, file.state));
        let states: FxHashMap<PathBuf, FileState> =
            states.filter(|(path, _)| !left_out.contains(path) && !known.contains(path)).collect();
        let sources = Sources { storages: &storages, broken_off };
        let writer = Mutex::new(Writer {
            database: &mut self.database,
            run,
            known,
            states,
            sources,
            read_in_part: FxHashSet::default(),
            last: None,
            added: 0,
            cut: 0,
            failure: None,
        });
        let keep = |app: &ApplicationReport| {
            writer.lock().unwrap_or_else(PoisonError::into_inner).application(app);
        };
        let keeper = Keeper { by_node: work_by_node, keep: &keep };
        let (report, read) = read(Named { unchanged: Some(&left_out), ..named }, keeper);
        let writer = writer.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (added, cut) = (writer.added, writer.cut);
        let finished = writer.finish(&report.problems, now);
        let count = || self.database.count("SELECT count(*) FROM application WHERE counts = TRUE", &[]);
        let stored = finished.and_then(|()| self.compare_again()).and_then(|()| {
            let applications = self.database.reading(count)?;
            Ok(Stored { unchanged, added, cut, applications })
        });
        Ok((report, read, stored))
    }

    /// Whether this is a file of the database itself.
    fn is_own(&self, path: &Path) -> bool {
        let name = |path: &Path| path.file_name().map(|name| name.as_encoded_bytes().to_vec());
        let Some(own) = self.database.backend().file() else { return false };
        let belongs = name(own).zip(name(path)).is_some_and(|(own, other)| {
            let rest = other.strip_prefix(own.as_slice());
            rest.is_some_and(|rest| ENDINGS.iter().any(|ending| ending.as_bytes() == rest))
        });
        let folder =
            |path: &Path| fs::canonicalize(path).ok().and_then(|path| path.parent().map(Path::to_path_buf));
        belongs && folder(own).is_some_and(|own| folder(path) == Some(own))
    }
}

/// Where files come from.
struct Sources<'s> {
    storages: &'s Storages,
    /// Objects that were not read to their ends.
    broken_off: BrokenOff,
}

impl Sources<'_> {
    /// Whether all bytes of a file can be read, so that a failure is due to its content.
    fn can_be_read(&self, path: &Path) -> bool {
        let read_to_end = |path| io::copy(&mut File::open(path)?, &mut io::sink());
        if self.storages.has(path) { !self.broken_off.has(path) } else { read_to_end(path).is_ok() }
    }
}

/// Writes while histories are read. Each application is one transaction with its files, so that the lock of a writer is
/// held for a moment only, and a killed run loses none that it stored.
struct Writer<'c> {
    // Writers of several threads take turns.
    database: &'c mut Database,
    run: i64,
    /// Files whose applications the store has, or had until they were removed as old.
    known: FxHashSet<PathBuf>,
    /// The files listed and not yet recorded.
    states: FxHashMap<PathBuf, FileState>,
    sources: Sources<'c>,
    /// Archives from which an application was recorded.
    read_in_part: FxHashSet<PathBuf>,
    /// The last application that was recorded. If the server crashed and lost others before it, it is gone, too.
    last: Option<Written>,
    /// Applications that were recorded.
    added: u64,
    /// Applications that were not recorded, because one of their objects was not read to its end.
    cut: u64,
    failure: Option<StoreError>,
}

impl Writer<'_> {
    /// Records an application with its files. After a failure, nothing more is recorded.
    fn application(&mut self, app: &ApplicationReport) {
        if self.failure.is_none() {
            self.failure = self.add(app).err();
        }
    }

    fn add(&mut self, app: &ApplicationReport) -> Result<(), StoreError> {
        if !app.sources.is_empty() && app.sources.iter().all(|source| self.is_known(source)) {
            return Ok(());
        }
        // Do not record an application if one of its objects was not read to its end: the next ingest reads it again.
        if app.sources.iter().any(|source| self.sources.broken_off.has(Path::new(source))) {
            self.cut += 1;
            return Ok(());
        }
        // Members of an archive are not files: the archive is recorded at the end, when all of them are.
        let sources = app.sources.iter().map(Path::new);
        let files: Vec<(&Path, &FileState)> =
            sources.filter_map(|source| Some((source, self.states.get(source)?))).collect();
        let is_gone = |earlier: &str| self.was_continued(earlier, app);
        let (database, run, last) = (&*self.database, self.run, self.last);
        let place = database.writing_part(|| {
            record::check_last(database, run, last)?;
            let place = record::replacing(database, run, app, &is_gone)?;
            for (path, state) in &files {
                file(database, run, (path, state), None)?;
                forget_others(database, run, path)?;
            }
            Ok(place)
        })?;
        self.last = Some(Written { place, reconnections: database.backend().reconnections() });
        for source in &app.sources {
            self.states.remove(Path::new(source));
            self.read_in_part.extend(archives(source).map(PathBuf::from));
        }
        self.added += 1;
        Ok(())
    }

    /// Whether this file, or the archive of this member, has not changed.
    fn is_known(&self, source: &str) -> bool {
        let archive = source.split_once('!').map(|(archive, _)| archive);
        [Some(source), archive].into_iter().flatten().any(|path| self.known.contains(Path::new(path)))
    }

    /// Whether an earlier record of an application is from a file that is gone because its log goes on in another one:
    /// Spark renames a log at its end, and replaces parts by a compacted one.
    fn was_continued(&self, earlier: &str, app: &ApplicationReport) -> bool {
        let Some(now) = app.sources.first().filter(|now| *now != earlier) else { return false };
        let path = Path::new(earlier);
        let is_listed = self.known.contains(path) || self.states.contains_key(path);
        unit::is_same_log(path, Path::new(now))
            && !is_listed
            && (self.sources.storages.has(path) || !path.exists())
    }

    /// Records all other files, and the end of the run.
    fn finish(self, problems: &[SourceProblem], now: Timestamp) -> Result<(), StoreError> {
        let Self { database, run, states, sources, read_in_part, last, failure, .. } = self;
        if let Some(failure) = failure {
            // What was committed before stays.
            return Err(failure);
        }
        let outcomes = Outcomes::of(problems, &read_in_part);
        let mut states: Vec<(PathBuf, FileState)> = states.into_iter().collect();
        states.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        database.writing(|| {
            record::check_last(database, run, last)?;
            for (path, state) in &states {
                let problem = match outcomes.of_file(path) {
                    // Another try may succeed: with another limit, or when the file can be read again. Until then, keep
                    // what is known of it.
                    Outcome::LimitReached => continue,
                    _ if sources.broken_off.has(path) => continue,
                    Outcome::Failed(_) if !sources.can_be_read(path) => continue,
                    Outcome::Failed(problem) => Some(problem),
                    Outcome::Read => None,
                };
                file(database, run, (path, state), problem)?;
                // What it contained before is gone, even if it is damaged now, or a copy of another file.
                forget_others(database, run, path)?;
            }
            database.execute(
                "UPDATE run SET finished = ?2 WHERE run = ?1",
                &values![run, now.as_millis()],
            )?;
            record::choose_again(database)?;
            // Remove runs to which no file and no application belongs.
            database.execute(
                "DELETE FROM run WHERE finished IS NOT NULL AND run NOT IN (SELECT run FROM file UNION SELECT run FROM \
                 application)",
                &[],
            )?;
            Ok(())
        })
    }
}

/// Removes what a file, or a member of an archive, contained before it changed.
fn forget_others(database: &Database, run: i64, path: &Path) -> Result<(), StoreError> {
    let source = path.to_string_lossy();
    // A member's name follows the archive's and `!`, and `"` is the next character after `!`. PostgreSQL indexes only
    // the beginnings.
    record::remove(
        database,
        "run <> ?1 AND substr(source, 1, 500) >= substr(?2, 1, 500) AND substr(source, 1, 500) <= substr(?4, 1, 500) AND \
         (source = ?2 OR (source >= ?3 AND source < ?4))",
        &values![run, &*source, format!("{source}!"), format!("{source}\"")],
    )?;
    Ok(())
}

/// Records that a file was read in this state.
fn file(
    database: &Database,
    run: i64,
    (path, state): (&Path, &FileState),
    problem: Option<&str>,
) -> Result<(), StoreError> {
    let path = path.as_os_str().as_encoded_bytes();
    let size = i64::try_from(state.size).unwrap_or(i64::MAX);
    database.send("DELETE FROM file WHERE path = ?1", &values![path])?;
    database.send(
        "INSERT INTO file (path, size, modified, run, problem, etag) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        &values![path, size, state.modified, run, problem, state.etag.as_deref()],
    )
}

/// Records files as if they had been read.
#[cfg(any(test, feature = "internals"))]
pub(super) fn record_files(database: &Database, run: i64, sources: &[String]) -> Result<(), StoreError> {
    let state = FileState { size: 1_000_000, modified: Some(run), etag: None };
    sources.iter().try_for_each(|source| file(database, run, (Path::new(source), &state), None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{self, Options, Progress};
    use crate::internal::common::make::{Zip, gzip, spark_end, spark_start, stage};
    use crate::rules::RuleSet;
    use crate::store::testing::databases;
    use crate::troubles::Basis;

    /// The log of an application.
    fn log(id: &str) -> String {
        (spark_start() + &stage(0, 0) + &spark_end()).replace("app-1", id)
    }

    fn ingest(store: &mut Store, folder: &Path) -> Report {
        let rules = RuleSet::built_in().unwrap();
        let options = Options { top: Some(0), ..Options::default() };
        let (basis, paths) = (Basis { rules: &rules, prices: None }, [folder.to_path_buf()]);
        let (files, now) = ((Files::Changed, &options.limits), Timestamp::from_millis(0));
        let read = |named: Named<'_>, keeper: Keeper<'_>| {
            engine::analyze_keeping(named, basis, &options, &Progress::default(), (keeper, None))
        };
        let (report, _, stored) = store.keep(paths[..].into(), files, rules.hash(), now, read).unwrap();
        stored.unwrap();
        report
    }

    /// The applications that count, as `id in file`, and the files that could not be read.
    fn contents(store: &Store) -> (Vec<String>, Vec<String>) {
        let query = "SELECT id, source FROM application WHERE counts ORDER BY id, source";
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let apps = store.database.rows(query, &[], |row| {
            Ok(format!("{} in {}", row.get::<String>(0)?, name(&row.get::<String>(1)?)))
        });
        let query = "SELECT path FROM file WHERE problem IS NOT NULL ORDER BY path";
        let unread = store
            .database
            .rows(query, &[], |row| Ok(name(&String::from_utf8_lossy(&row.get::<Vec<u8>>(0)?))));
        (apps.unwrap(), unread.unwrap())
    }

    /// A change of the folder, the applications that the store has then, and the files that could not be read.
    type Step<'s> = (&'s dyn Fn(&Path), &'s [&'s str], &'s [&'s str]);

    /// Ingests a folder after each of `steps`, and compares the store with what it should have then.
    #[track_caller]
    fn after_each(steps: &[Step<'_>]) {
        for database in databases() {
            let mut store = Store::with(database).unwrap();
            let folder = tempfile::tempdir().unwrap();
            for (at, (change, apps, unread)) in steps.iter().enumerate() {
                change(folder.path());
                ingest(&mut store, folder.path());
                let (found, failed) = contents(&store);
                assert_eq!((found, failed), (owned(apps), owned(unread)), "step {at}");
            }
        }
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn only_files_of_which_nothing_was_read_are_kept_as_unread() {
        let files = |folder: &Path| {
            fs::write(folder.join("a"), log("app-1")).unwrap();
            fs::write(folder.join("b"), log("app-1")).unwrap();
            fs::write(folder.join("c.gz"), [&b"\x1f\x8b\x08\0"[..], &[0xff; 2000]].concat()).unwrap();
            let bad = Zip::new().member("bad.gz", &[&b"\x1f\x8b\x08\0"[..], &[0xff; 2000]].concat());
            fs::write(folder.join("d.zip"), bad.member("good", log("app-2").as_bytes()).finish()).unwrap();
        };
        after_each(&[(&files, &["app-1 in a", "app-2 in d.zip!good"], &["c.gz"])]);
    }

    #[test]
    fn a_file_that_becomes_a_copy_loses_what_it_contained() {
        let one = |folder: &Path| fs::write(folder.join("z"), log("app-1")).unwrap();
        let other = |folder: &Path| {
            fs::write(folder.join("z"), log("app-22")).unwrap();
            fs::write(folder.join("a"), log("app-22")).unwrap();
        };
        after_each(&[
            (&one, &["app-1 in z"], &[]),
            (&other, &["app-22 in a"], &[]),
            (&|_| (), &["app-22 in a"], &[]),
        ]);
    }

    #[test]
    fn a_file_that_becomes_damaged_loses_what_it_contained() {
        let whole = |folder: &Path| {
            fs::write(folder.join("a.gz"), gzip(log("app-1").as_bytes())).unwrap();
            fs::write(folder.join("b.zip"), Zip::new().member("app", log("app-2").as_bytes()).finish())
                .unwrap();
        };
        let damaged = |folder: &Path| {
            fs::write(folder.join("a.gz"), [&b"\x1f\x8b\x08\0"[..], &[0xff; 2000]].concat()).unwrap();
            fs::write(folder.join("b.zip"), [&b"PK\x03\x04"[..], &[0xff; 300]].concat()).unwrap();
        };
        let gone = |folder: &Path| {
            fs::remove_file(folder.join("a.gz")).unwrap();
            fs::remove_file(folder.join("b.zip")).unwrap();
        };
        let apps = ["app-1 in a.gz", "app-2 in b.zip!app"];
        after_each(&[(&whole, &apps, &[]), (&damaged, &[], &["a.gz", "b.zip"])]);
        // A file that is not there was not read.
        after_each(&[(&whole, &apps, &[]), (&gone, &apps, &[])]);
    }

    #[test]
    fn a_log_that_was_read_before_its_start_leaves_nothing_when_it_ends() {
        let begun = |folder: &Path| {
            let log = log("app-1");
            fs::write(folder.join("app-1.inprogress"), log.lines().next().unwrap().to_owned() + "\n")
                .unwrap();
        };
        let ended = |folder: &Path| {
            fs::remove_file(folder.join("app-1.inprogress")).unwrap();
            fs::write(folder.join("app-1"), log("app-1")).unwrap();
        };
        let both = |folder: &Path| fs::write(folder.join("app-1"), log("app-1")).unwrap();
        let phantom = (&begun as &dyn Fn(&Path), &["app-1 in app-1.inprogress"][..], &[][..]);
        after_each(&[phantom, (&ended, &["app-1 in app-1"], &[])]);
        after_each(&[phantom, (&both, &["app-1 in app-1"], &[])]);
        for database in databases() {
            let mut store = Store::with(database).unwrap();
            let folder = tempfile::tempdir().unwrap();
            begun(folder.path());
            ingest(&mut store, folder.path());
            ended(folder.path());
            assert_eq!(ingest(&mut store, folder.path()).summary.applications, 1);
            assert_eq!(store.database.count("SELECT count(*) FROM application", &[]).unwrap(), 1);
        }
        // A report on both files counts one, too.
        let folder = tempfile::tempdir().unwrap();
        begun(folder.path());
        both(folder.path());
        let rules = RuleSet::built_in().unwrap();
        let report = engine::analyze(&[folder.path().to_path_buf()], &rules, Options::default());
        assert_eq!((report.summary.applications, report.summary.copies), (1, 1));
    }
}
