//! Reads new and changed histories into a store.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use super::place::ENDINGS;
use super::writer::{Runs, Sources, Stored, TOOL, Writer};
use super::{Store, StoreError, listing};
use crate::engine::Keeper;
use crate::input::discover::{self, FileState};
use crate::input::named::Named;
use crate::input::storage::{BrokenOff, Storages};
use crate::limits::Limits;
use crate::nodes::work_by_node;
use crate::results::{ApplicationReport, Report};
use crate::units::Timestamp;

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
        let within_limits = format!("{rules_hash} {}", limits.written());
        let hashes = [rules_hash, &within_limits];
        let known = database.reading(|| listing::unchanged(database, &listed, (TOOL, hashes)))?;
        let mut left_out = match files {
            Files::Changed => known.clone(),
            Files::All => FxHashSet::default(),
        };
        // Closing a file of the database would release the locks that SQLite has on it.
        left_out.extend(listed.iter().filter(|file| self.is_own(&file.path)).map(|file| file.path.clone()));
        let runs = Runs::start(database, now, (rules_hash, &within_limits))?;
        let states = listed.into_iter().map(|file| (file.path, file.state));
        let states: FxHashMap<PathBuf, FileState> =
            states.filter(|(path, _)| !left_out.contains(path) && !known.contains(path)).collect();
        let sources = Sources { storages: &storages, broken_off };
        let writer = Mutex::new(Writer::new(&mut self.database, runs, (known, states), sources));
        let write = |app: &ApplicationReport, counts: bool| {
            writer.lock().unwrap_or_else(PoisonError::into_inner).application(app, counts);
        };
        let (keep, keep_copy) = (|app: &_| write(app, true), |app: &_| write(app, false));
        let keeper = Keeper { by_node: work_by_node, keep: &keep, keep_copy: &keep_copy };
        let (report, read) = read(Named { unchanged: Some(&left_out), ..named }, keeper);
        let writer = writer.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (stored, finished) = writer.finish(&report.problems);
        let count = || self.database.count("SELECT count(*) FROM application WHERE counts = TRUE", &[]);
        let stored = finished.and_then(|()| self.compare_again()).and_then(|()| {
            let applications = self.database.reading(count)?;
            Ok(Stored { applications, ..stored })
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
        ingest_within(store, folder, Limits::default()).0
    }

    fn ingest_within(store: &mut Store, folder: &Path, limits: Limits) -> (Report, Stored) {
        let rules = RuleSet::built_in().unwrap();
        let options = Options { top: Some(0), limits, ..Options::default() };
        let (basis, paths) = (Basis { rules: &rules, prices: None }, [folder.to_path_buf()]);
        let (files, now) = ((Files::Changed, &options.limits), Timestamp::from_millis(0));
        let read = |named: Named<'_>, keeper: Keeper<'_>| {
            engine::analyze_keeping(named, basis, &options, &Progress::default(), (keeper, None))
        };
        let (report, _, stored) = store.keep(paths[..].into(), files, rules.hash(), now, read).unwrap();
        (report, stored.unwrap())
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
    fn a_reading_that_a_limit_cut_never_replaces_more() {
        let few = Limits { tasks: Some(1), ..Limits::default() };
        let no_time = Limits { time: Some(crate::units::Millis::new(0)), ..Limits::default() };
        for database in databases() {
            let mut store = Store::with(database).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("app-1");
            let log = |id: &str| {
                (spark_start() + &stage(0, 0) + &stage(1, 1) + &stage(2, 2) + &spark_end())
                    .replace("app-1", id)
            };
            let tasks = |store: &Store| {
                store
                    .database
                    .rows("SELECT tasks FROM application", &[], |row| row.get::<Option<i64>>(0))
                    .unwrap()
            };
            let write = |id: &str| fs::write(&path, log(id) + &"\n".repeat(id.len())).unwrap();
            let mut run = |limits| {
                let (_, stored) = ingest_within(&mut store, folder.path(), limits);
                (stored.added, stored.kept, stored.unchanged, tasks(&store))
            };
            write("app-1");
            let (all, unknown) = (vec![Some(3)], vec![None]);
            assert_eq!(run(Limits::default()), (1, 0, 0, all.clone()));
            // Changed, but read in part: what is known stays until it is read whole.
            fs::write(&path, log("app-1") + "\n\n\n").unwrap();
            assert_eq!(run(few), (0, 1, 0, all.clone()));
            assert_eq!(run(few), (0, 1, 0, all.clone()));
            assert_eq!(run(Limits::default()), (1, 0, 0, all.clone()));
            assert_eq!(run(few), (0, 0, 1, all.clone()));
            // A part is better than nothing, and other limits may read more.
            write("app-22");
            assert_eq!(run(few), (1, 0, 0, unknown.clone()));
            assert_eq!(run(few), (0, 0, 1, unknown.clone()));
            assert_eq!((run(no_time).0, run(no_time).3), (0, unknown));
            assert_eq!(run(Limits::default()), (1, 0, 0, all.clone()));
            assert_eq!(run(Limits::default()), (0, 0, 1, all));
        }
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
    fn applications_without_times_are_as_old_as_their_record() {
        for database in databases() {
            let mut store = Store::with(database).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let log = log("app-1").lines().next().unwrap().to_owned() + "\n";
            fs::write(folder.path().join("app-1.inprogress"), log).unwrap();
            // At the moment 0.
            ingest(&mut store, folder.path());
            assert_eq!(store.prune(Timestamp::from_millis(0)).unwrap(), 0);
            assert_eq!(store.prune(Timestamp::from_millis(1)).unwrap(), 1);
        }
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
