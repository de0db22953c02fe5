use super::*;
use crate::database::values;
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
    let apps = store
        .database
        .rows(query, &[], |row| Ok(format!("{} in {}", row.get::<String>(0)?, name(&row.get::<String>(1)?))));
    let query = "SELECT path FROM file WHERE problem IS NOT NULL ORDER BY path";
    let unread =
        store.database.rows(query, &[], |row| Ok(name(&String::from_utf8_lossy(&row.get::<Vec<u8>>(0)?))));
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

fn listing_of(files: Vec<Listed>, known: FxHashSet<PathBuf>) -> Listing {
    let addresses = Addresses::of_files(&files, None, &Storages::default());
    let relative = Relative::default();
    Listing { files, known, own: Vec::new(), gone: Vec::new(), addresses, relative }
}

#[test]
fn what_is_read_together_is_in_one_turn() {
    let (conf, part) = ("conf/job_1_0001_conf.xml", "a/eventlog_v2_app-1/events_2_app-1");
    let paths = ["a/1", "a/eventlog_v2_app-1/events_1_app-1", part, "b/2", "done/job_1_0001.jhist", "b/3"];
    let files = paths.into_iter().chain([conf, "z"]).map(|path| {
        let state = FileState { size: 1, modified: None, etag: None };
        Listed { path: path.into(), state }
    });
    let known = std::iter::once(PathBuf::from("z")).collect();
    let listing = listing_of(files.collect(), known);
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
    let nothing = listing_of(Vec::new(), FxHashSet::default());
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
            (spark_start() + &stage(0, 0) + &stage(1, 1) + &stage(2, 2) + &spark_end()).replace("app-1", id)
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
        fs::write(folder.join("b.zip"), Zip::new().member("app", log("app-2").as_bytes()).finish()).unwrap();
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
        fs::write(folder.join("x.zip"), Zip::new().member("y", log("app-5").as_bytes()).finish()).unwrap();
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
        fs::write(folder.join("app-1.inprogress"), log.lines().next().unwrap().to_owned() + "\n").unwrap();
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

/// What was stored and left alone, and the records: whether each counts, and its source after the folder.
fn records(store: &Store, folder: &Path) -> Vec<(bool, String)> {
    let folder = fs::canonicalize(folder).unwrap().display().to_string();
    let query = "SELECT counts, source FROM application ORDER BY source";
    let record = |counts: bool, source: String| (counts, source.replace(&folder, ""));
    store.database.rows(query, &[], |row| Ok(record(row.get("counts")?, row.get("source")?))).unwrap()
}

#[test]
fn two_clusters_never_overwrite_each_other_and_a_name_may_come_later() {
    for database in databases() {
        let mut store = Store::with(database).unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("app-1"), log("app-1")).unwrap();
        let mut run = |cluster: Option<&str>| {
            store.set_cluster(cluster.map(str::to_owned));
            let (_, stored) = ingest_within(&mut store, folder.path(), Limits::default());
            let clusters = "SELECT coalesce(cluster, '') AS cluster FROM application ORDER BY 1";
            let clusters = store.database.rows(clusters, &[], |row| row.get::<String>("cluster")).unwrap();
            ((stored.added, stored.unchanged, stored.applications), records(&store, folder.path()), clusters)
        };
        let record = |source: &str| (true, source.to_owned());
        assert_eq!(run(None), ((1, 0, 1), vec![record("file:///app-1")], vec![String::new()]));
        let named = vec![record("a file:///app-1")];
        assert_eq!(run(Some("a")), ((0, 1, 1), named, vec!["a".to_owned()]), "it is known whose file it was");
        let both = vec![record("a file:///app-1"), record("b file:///app-1")];
        let clusters = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(run(Some("b")), ((1, 0, 2), both.clone(), clusters.clone()));
        assert_eq!(run(Some("a")), ((0, 1, 2), both, clusters));
    }
}

#[test]
fn what_was_pruned_stays_so_until_a_file_has_something_else() {
    for database in databases() {
        let mut store = Store::with(database).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let archive = |ids: &[&str]| {
            let add = |zip: Zip, id: &&str| zip.member(id, log(id).as_bytes());
            fs::write(folder.path().join("a.zip"), ids.iter().fold(Zip::new(), add).finish()).unwrap();
        };
        archive(&["app-1"]);
        fs::write(folder.path().join("b"), log("app-2")).unwrap();
        ingest(&mut store, folder.path());
        assert_eq!(store.prune(Timestamp::from_millis(i64::MAX)).unwrap(), 2);
        let touch = || {
            let file = fs::File::options().append(true).open(folder.path().join("b")).unwrap();
            file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        };
        touch();
        let read = ingest(&mut store, folder.path());
        assert_eq!((read.summary.applications, contents(&store).0), (1, Vec::new()));
        // It need not be read again and again.
        assert_eq!(ingest(&mut store, folder.path()).summary.files_found, 0);
        // Other rules.
        store.database.execute("UPDATE run SET rules_hash = 'others'", &[]).unwrap();
        let read = ingest(&mut store, folder.path());
        assert_eq!((read.summary.applications, contents(&store).0), (2, Vec::new()));
        archive(&["app-1", "app-3"]);
        ingest(&mut store, folder.path());
        assert_eq!(contents(&store).0, ["app-3 in a.zip!app-3"]);
    }
}

#[test]
fn records_of_earlier_versions_are_those_of_their_files() {
    for database in databases() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join("logs").join(name);
        fs::create_dir(folder.path().join("logs")).unwrap();
        for name in ["app-1", "app-2", "app-3"] {
            fs::write(place(name), log(name)).unwrap();
        }
        fs::write(place("a.zip"), Zip::new().member("app-4", log("app-4").as_bytes()).finish()).unwrap();
        crate::schema::migrate_until(&database, 13).unwrap();
        let size = i64::try_from(log("app-1").len()).unwrap();
        let run = database
            .insert("INSERT INTO run (started, tool, rules_hash) VALUES (0, '0', '') RETURNING run", &[])
            .unwrap();
        let job = database
            .insert("INSERT INTO job (key, engine) VALUES ('spark', 'spark') RETURNING job", &[])
            .unwrap();
        // One file as it is, one that has grown since, one by its absolute path, and one that is gone.
        let absolute = fs::canonicalize(place("app-3")).unwrap().display().to_string();
        let files = [
            ("logs/app-1", size, ""),
            ("./logs/app-2", 5, ""),
            (&absolute, size, ""),
            ("logs/app-9", 5, ""),
            ("logs/a.zip", 5, "!app-4"),
        ];
        for (path, size, member) in files {
            let modified = listed_state(folder.path(), path);
            let file = "INSERT INTO file (path, size, modified, run) VALUES (?1, ?2, ?3, ?4)";
            database.execute(file, &values![path.as_bytes(), size, modified, run]).unwrap();
            let path = format!("{path}{member}");
            let id = path.rsplit(['/', '!']).next().unwrap();
            let application = "INSERT INTO application (id, attempt, source, files, run, job, engine, status, complete, \
                               judged, severity, score) VALUES (?1, '', ?2, 1, ?3, ?4, 'spark', 'unknown', FALSE, FALSE, \
                               0, 0)";
            database.execute(application, &values![id, path.as_str(), run, job]).unwrap();
        }
        let mut store = Store::with(database).unwrap();
        assert_eq!(ingest(&mut store, folder.path()).summary.applications, 4);
        let kept = [
            "file:///logs/a.zip!app-4",
            "file:///logs/app-1",
            "file:///logs/app-2",
            "file:///logs/app-3",
            "logs/app-9",
        ];
        let kept: Vec<_> = kept.iter().map(|source| (true, (*source).to_owned())).collect();
        assert_eq!(records(&store, folder.path()), kept);
        assert_eq!(store.database.count("SELECT count(*) FROM file", &[]).unwrap(), 5);
        assert_eq!(ingest(&mut store, folder.path()).summary.files_found, 0);
    }
}

/// The time of modification of a file below the folder, as the store has it.
fn listed_state(folder: &Path, path: &str) -> Option<i64> {
    let paths = [folder.to_path_buf()];
    let list = discover::list(paths[..].into(), &Limits::default());
    let name = Path::new(path).file_name();
    list.files.iter().find(|file| file.path.file_name() == name).and_then(|file| file.state.modified)
}
