//! Reads new and changed histories into a store.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use super::place::ENDINGS;
use super::together::Together;
use super::writer::{Runs, Sources, Stored, TOOL, Writer};
use super::{Store, StoreError, listing};
use elephant_base::limits::Limits;
use elephant_base::units::Timestamp;
use elephant_engine::engine::Keeper;
use elephant_engine::nodes::work_by_node;
use elephant_engine::results::{ApplicationReport, Report, SourceProblem, Summary};
use elephant_input::discover::{self, FileState, Listed};
use elephant_input::named::Named;
use elephant_input::storage::{BrokenOff, Storages};
use elephant_input::unit::Unit;
use elephant_parse::Level;

/// Many files are read in at most this many turns, because each turn lists the folders again.
const MAX_TURNS: usize = 10;

/// The fewest files of a turn, unless there are no more. Tests have several turns with few files.
const MIN_IN_TURN: usize = if cfg!(test) { 2 } else { 1000 };

/// The files below the paths, without those of the database.
struct Listing {
    files: Vec<Listed>,
    /// Those that did not change since they were read with the same rules.
    known: FxHashSet<PathBuf>,
    own: Vec<PathBuf>,
    /// Files that could not be read when they were there.
    gone: Vec<PathBuf>,
}

impl Listing {
    /// The files to read, in turns; what is read together is in one turn. There is at least one turn, so that problems of
    /// the paths are reported.
    fn turns(&self, named: Named<'_>) -> Vec<FxHashSet<&Path>> {
        let new = || self.files.iter().map(|file| &*file.path).filter(|path| !self.known.contains(*path));
        // A stream can be read only once.
        let in_turn =
            if named.has_streams() { usize::MAX } else { MIN_IN_TURN.max(new().count().div_ceil(MAX_TURNS)) };
        let mut units: Vec<Vec<&Path>> = Vec::new();
        let mut places: FxHashMap<Unit<'_>, usize> = FxHashMap::default();
        for path in new() {
            let place = *places.entry(Unit::of(path)).or_insert(units.len());
            match units.get_mut(place) {
                Some(unit) => unit.push(path),
                None => units.push(vec![path]),
            }
        }
        let (mut turns, mut turn) = (Vec::new(), FxHashSet::default());
        for unit in units {
            if turn.len() >= in_turn {
                turns.push(std::mem::take(&mut turn));
            }
            turn.extend(unit);
        }
        turns.push(turn);
        turns
    }
}

/// What was read in all turns.
#[derive(Debug, Default)]
pub struct Read {
    /// The sums of all turns.
    pub summary: Summary,
    /// Problems, each once.
    pub problems: Vec<SourceProblem>,
    /// Whether an input that the user named could not be read.
    pub named_input_failed: bool,
}

impl Read {
    fn add(&mut self, report: Report) {
        let Summary { files_found, files_analysed, files_skipped, files_failed, applications, .. } =
            report.summary;
        // Folders that cannot be read fail in each turn.
        let known: FxHashSet<(&str, &str)> =
            self.problems.iter().map(|it| (it.source.as_str(), it.problem.message.as_str())).collect();
        let is_known =
            |it: &SourceProblem| known.contains(&(it.source.as_str(), it.problem.message.as_str()));
        let (again, new): (Vec<_>, Vec<_>) = report.problems.into_iter().partition(is_known);
        let again = again.iter().filter(|it| it.problem.level == Level::Error).count() as u64;
        self.problems.extend(new);
        self.named_input_failed |= report.named_input_failed;
        let sums = &mut self.summary;
        sums.files_found += files_found.saturating_sub(again);
        sums.files_analysed += files_analysed;
        sums.files_skipped += files_skipped;
        sums.files_failed += files_failed.saturating_sub(again);
        sums.applications += applications;
    }
}

impl Store {
    /// Stores what `read` finds in all histories below `named` that are new or changed; `read` gets the others, too. A
    /// killed run keeps what it committed, and what was found is returned even if it could not be stored.
    pub fn keep_of_all<T>(
        &mut self,
        named: Named<'_>,
        limits: &Limits,
        (rules_hash, now): (&str, Timestamp),
        read: impl FnOnce(Named<'_>, Keeper<'_>) -> (Report, T),
    ) -> Result<(Report, T, Result<Stored, StoreError>), StoreError> {
        let (storages, broken_off) = watched(named, limits);
        let named = Named { storages: Some(&storages), ..named };
        let hashes = [rules_hash, &format!("{rules_hash} {}", limits.written())];
        let listing = self.listing(named, limits, hashes)?;
        let all = listing.files.iter().map(|file| &*file.path).collect();
        let sources = Sources { storages: &storages, broken_off };
        let (report, read, stored) =
            self.keep_turn((named, sources), (&listing, &all), (hashes, now), read)?;
        Ok((report, read, stored.and_then(|stored| self.finished(&listing, stored))))
    }

    /// Stores what `read` finds in the histories below `named` that are new or changed. Many are read in turns: what was
    /// found in one is stored before the files of the next one are opened, even if the run is killed then.
    pub fn keep_changed(
        &mut self,
        named: Named<'_>,
        limits: &Limits,
        (rules_hash, now): (&str, Timestamp),
        read: impl Fn(Named<'_>, Keeper<'_>) -> Report,
    ) -> Result<(Read, Result<Stored, StoreError>), StoreError> {
        let (storages, broken_off) = watched(named, limits);
        let named = Named { storages: Some(&storages), ..named };
        let hashes = [rules_hash, &format!("{rules_hash} {}", limits.written())];
        let listing = self.listing(named, limits, hashes)?;
        let (mut all, mut stored) = (Read::default(), Stored::default());
        for turn in listing.turns(named) {
            let sources = Sources { storages: &storages, broken_off: broken_off.clone() };
            let read = |named: Named<'_>, keeper: Keeper<'_>| (read(named, keeper), ());
            let (report, (), in_turn) =
                self.keep_turn((named, sources), (&listing, &turn), (hashes, now), read)?;
            all.add(report);
            match in_turn {
                Ok(in_turn) => stored.add(in_turn),
                Err(error) => return Ok((all, Err(error))),
            }
        }
        Ok((all, self.finished(&listing, stored)))
    }

    fn listing(&self, named: Named<'_>, limits: &Limits, hashes: [&str; 2]) -> Result<Listing, StoreError> {
        // Closing a file of the database would release the locks that SQLite has on it.
        let mut list = discover::list(named, limits);
        let (own, files) =
            std::mem::take(&mut list.files).into_iter().partition(|file| self.is_own(&file.path));
        let own: Vec<Listed> = own;
        list.files = files;
        let (database, storages) = (&self.database, named.storages.cloned());
        let storages = storages.unwrap_or_else(|| Storages::built_in(limits));
        let (known, gone) = database.reading(|| {
            let known = listing::unchanged(database, &list.files, (TOOL, hashes))?;
            Ok((known, listing::gone(database, &list, &storages)?))
        })?;
        Ok(Listing { files: list.files, known, own: own.into_iter().map(|file| file.path).collect(), gone })
    }

    /// Reads the files of a turn, and stores what is found in those that are new or changed.
    fn keep_turn<T>(
        &mut self,
        (named, sources): (Named<'_>, Sources<'_>),
        (listing, turn): (&Listing, &FxHashSet<&Path>),
        ([rules_hash, within_limits], now): ([&str; 2], Timestamp),
        read: impl FnOnce(Named<'_>, Keeper<'_>) -> (Report, T),
    ) -> Result<(Report, T, Result<Stored, StoreError>), StoreError> {
        let Listing { files, known, own, .. } = listing;
        let runs = Runs::start(&self.database, now, (rules_hash, within_limits))?;
        let others = files.iter().map(|file| &file.path).filter(|path| !turn.contains(path.as_path()));
        let left_out: FxHashSet<PathBuf> = others.chain(own).cloned().collect();
        let is_new = |file: &&Listed| turn.contains(file.path.as_path()) && !known.contains(&file.path);
        let states = files.iter().filter(is_new).map(|file| (file.path.clone(), file.state.clone()));
        let states: FxHashMap<PathBuf, FileState> = states.collect();
        let together = Together::of(files.iter().filter(is_new).map(|file| file.path.as_path()));
        let listed = files.iter().map(|file| file.path.as_path()).collect();
        let (unread, others) = ((states, together), (known, &listed));
        let writer = Mutex::new(Writer::new(&mut self.database, runs, others, unread, sources));
        let write = |app: &ApplicationReport, counts: bool| {
            writer.lock().unwrap_or_else(PoisonError::into_inner).application(app, counts);
        };
        let (keep, keep_copy) = (|app: &_| write(app, true), |app: &_| write(app, false));
        let keeper = Keeper { by_node: work_by_node, keep: &keep, keep_copy: &keep_copy };
        let (report, read) = read(Named { unchanged: Some(&left_out), ..named }, keeper);
        let writer = writer.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (stored, finished) = writer.finish(&report.problems);
        Ok((report, read, finished.map(|()| stored)))
    }

    /// Compares the runs of the jobs that changed, and counts what the store has now.
    fn finished(&mut self, listing: &Listing, stored: Stored) -> Result<Stored, StoreError> {
        listing::forget(&self.database, &listing.gone)?;
        self.compare_again()?;
        let count = || self.database.count("SELECT count(*) FROM application WHERE counts = TRUE", &[]);
        let (unchanged, applications) = (listing.known.len() as u64, self.database.reading(count)?);
        Ok(Stored { unchanged, applications, ..stored })
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

/// The storages of `named`, which note the objects that were not read to their ends.
fn watched(named: Named<'_>, limits: &Limits) -> (Storages, BrokenOff) {
    let broken_off = BrokenOff::default();
    let storages = named.storages.cloned().unwrap_or_else(|| Storages::built_in(limits));
    (storages.watched(&broken_off), broken_off)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{databases, ingest_by};
    use elephant_engine::engine::{self, Options, Progress};
    use elephant_ruleset::RuleSet;
    use elephant_testing::make::{Zip, gzip, spark_end, spark_start, stage};
    use elephant_verdict::troubles::Basis;

    /// The log of an application.
    fn log(id: &str) -> String {
        (spark_start() + &stage(0, 0) + &spark_end()).replace("app-1", id)
    }

    fn ingest(store: &mut Store, folder: &Path) -> Read {
        ingest_within(store, folder, Limits::default()).0
    }

    fn ingest_within(store: &mut Store, folder: &Path, limits: Limits) -> (Read, Stored) {
        let paths = [folder.to_path_buf()];
        ingest_by(store, paths[..].into(), limits, &|read| read())
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
    fn what_is_read_together_is_in_one_turn() {
        let (conf, part) = ("conf/job_1_0001_conf.xml", "a/eventlog_v2_app-1/events_2_app-1");
        let paths =
            ["a/1", "a/eventlog_v2_app-1/events_1_app-1", part, "b/2", "done/job_1_0001.jhist", "b/3"];
        let files = paths.into_iter().chain([conf, "z"]).map(|path| {
            let state = FileState { size: 1, modified: None, etag: None };
            Listed { path: path.into(), state }
        });
        let known = std::iter::once(PathBuf::from("z")).collect();
        let listing = Listing { files: files.collect(), known, own: Vec::new(), gone: Vec::new() };
        let turns = listing.turns(Named::default());
        let sorted = |turn: &FxHashSet<&Path>| {
            let mut paths: Vec<_> = turn.iter().map(|path| path.display().to_string()).collect();
            paths.sort();
            paths
        };
        let wanted =
            [&["a/1", "a/eventlog_v2_app-1/events_1_app-1", part][..], &["b/2", conf, paths[4]], &["b/3"]];
        assert_eq!(turns.iter().map(sorted).collect::<Vec<_>>(), wanted);
        let stdin = [PathBuf::from("-")];
        assert_eq!(listing.turns(stdin[..].into()).len(), 1);
        let nothing =
            Listing { files: Vec::new(), known: FxHashSet::default(), own: Vec::new(), gone: Vec::new() };
        assert_eq!(nothing.turns(Named::default()), [FxHashSet::default()]);
    }

    #[test]
    fn a_killed_run_keeps_the_turns_before() {
        for database in databases() {
            let mut store = Store::with(database).unwrap();
            let folder = tempfile::tempdir().unwrap();
            for id in ["app-1", "app-2", "app-3"] {
                fs::write(folder.path().join(id), log(id)).unwrap();
            }
            let (rules, limits) = (RuleSet::new(elephant_heuristics::BUILT_IN).unwrap(), Limits::default());
            let (basis, paths) = (Basis { rules: &rules, prices: None }, [folder.path().to_path_buf()]);
            let turns = std::sync::atomic::AtomicU64::new(0);
            let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let now = (rules.hash(), Timestamp::from_millis(0));
                store.keep_changed(paths[..].into(), &limits, now, |named, keeper| {
                    assert_eq!(turns.fetch_add(1, std::sync::atomic::Ordering::Relaxed), 0, "killed");
                    let options = Options { top: Some(0), ..Options::default() };
                    engine::analyze_keeping(named, basis, &options, &Progress::default(), (keeper, None)).0
                })
            }));
            assert!(killed.is_err());
            assert_eq!(contents(&store).0, ["app-1 in app-1", "app-2 in app-2"]);
            let read = ingest(&mut store, folder.path());
            assert_eq!((read.summary.files_found, read.summary.applications), (1, 1));
            assert_eq!(contents(&store).0.len(), 3);
        }
    }

    #[test]
    fn problems_of_all_turns_are_reported_once() {
        for database in databases() {
            let mut store = Store::with(database).unwrap();
            let folder = tempfile::tempdir().unwrap();
            for id in ["app-1", "app-2", "app-3", "app-4", "app-5"] {
                fs::write(folder.path().join(id), log(id)).unwrap();
            }
            fs::write(folder.path().join("app-6"), log("app-6").replace("Timestamp", "T")).unwrap();
            let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
            let limits = Limits::default();
            let (basis, paths) =
                (Basis { rules: &rules, prices: None }, [folder.path().to_path_buf(), "/nowhere".into()]);
            let now = (rules.hash(), Timestamp::from_millis(0));
            let kept = store.keep_changed(paths[..].into(), &limits, now, |named, keeper| {
                let options = Options { top: Some(0), ..Options::default() };
                engine::analyze_keeping(named, basis, &options, &Progress::default(), (keeper, None)).0
            });
            let (read, stored) = kept.unwrap();
            let nowhere = read.problems.iter().filter(|it| it.source == "/nowhere").count();
            assert!(read.named_input_failed);
            assert!(read.problems.iter().any(|it| it.source.ends_with("app-6")));
            let Summary { files_analysed, files_failed, applications, .. } = read.summary;
            assert_eq!((nowhere, files_analysed, files_failed, applications), (1, 6, 1, 6));
            assert_eq!(stored.unwrap().added, 6);
        }
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
        let no_time = Limits { time: Some(elephant_base::units::Millis::new(0)), ..Limits::default() };
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
    fn a_file_with_an_exclamation_mark_in_its_name_is_not_a_member() {
        let files = |folder: &Path| {
            for (name, id) in [("app", "app-1"), ("app!2", "app-2"), ("x.zip!q", "app-3")] {
                fs::write(folder.join(name), log(id)).unwrap();
            }
            fs::create_dir(folder.join("app!")).unwrap();
            fs::write(folder.join("app!/b"), log("app-4")).unwrap();
            let zip = Zip::new().member("y", log("app-5").as_bytes());
            fs::write(folder.join("x.zip"), zip.member("z", log("app-6").as_bytes()).finish()).unwrap();
        };
        let changed = |folder: &Path| {
            fs::write(folder.join("app"), log("app-1") + "\n").unwrap();
            fs::write(folder.join("x.zip"), Zip::new().member("y", log("app-5").as_bytes()).finish())
                .unwrap();
        };
        let others = |folder: &Path| {
            fs::write(folder.join("app!2"), log("app-2") + "\n").unwrap();
            fs::write(folder.join("app!/b"), log("app-7")).unwrap();
        };
        let kept = ["app-1 in app", "app-2 in app!2", "app-3 in x.zip!q"];
        let all = [&kept[..], &["app-4 in b", "app-5 in x.zip!y", "app-6 in x.zip!z"]].concat();
        let fewer = [&kept[..], &["app-4 in b", "app-5 in x.zip!y"]].concat();
        let replaced = [&kept[..], &["app-5 in x.zip!y", "app-7 in b"]].concat();
        after_each(&[(&files, &all, &[]), (&changed, &fewer, &[]), (&others, &replaced, &[])]);
    }

    #[test]
    fn unread_files_that_are_gone_are_forgotten() {
        let damaged = |folder: &Path| {
            fs::create_dir(folder.join("in")).unwrap();
            for name in ["a.gz", "b.gz", "in/c.gz"] {
                fs::write(folder.join(name), [&b"\x1f\x8b\x08\0"[..], &[0xff; 2000]].concat()).unwrap();
            }
            fs::write(folder.join("app-1"), log("app-1")).unwrap();
        };
        for database in databases() {
            let mut store = Store::with(database).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let path = |name: &str| folder.path().join(name);
            damaged(folder.path());
            ingest(&mut store, folder.path());
            assert_eq!(contents(&store).1, ["a.gz", "b.gz", "c.gz"]);
            // Only its own folder tells that a file is gone.
            for name in ["a.gz", "in/c.gz"] {
                fs::remove_file(path(name)).unwrap();
            }
            ingest(&mut store, &path("app-1"));
            assert_eq!(contents(&store).1.len(), 3);
            ingest(&mut store, &path("in"));
            assert_eq!(contents(&store).1, ["a.gz", "b.gz"]);
            ingest(&mut store, folder.path());
            assert_eq!(contents(&store), (owned(&["app-1 in app-1"]), owned(&["b.gz"])));
        }
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
        let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
        let report = engine::analyze(&[folder.path().to_path_buf()], &rules, Options::default());
        assert_eq!((report.summary.applications, report.summary.copies), (1, 1));
    }
}
