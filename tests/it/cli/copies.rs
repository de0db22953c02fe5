//! Copies of one run: the most complete one counts, wherever it lies and however the input is divided; and how a file is
//! named changes no id.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use elephant_testing::make::{spark_end, spark_start, stage};

fn printed(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_elephant-rs"));
    let output = command.current_dir(folder).args(arguments).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(folder, &[arguments, &["--format", "json"]].concat())).unwrap()
}

/// A log with this id, whole or cut.
fn log(id: &str, is_whole: bool) -> String {
    let rest = if is_whole { stage(1, 1) + &stage(2, 2) + &spark_end() } else { String::new() };
    (spark_start() + &stage(0, 0) + &rest).replace("app-1", id)
}

/// The file of the application that counts, and its tasks.
type Chosen = Vec<(String, u64)>;

fn chosen(applications: &Value, id: &str) -> Chosen {
    let own = applications.as_array().unwrap().iter().filter(|app| app["id"] == id);
    let name = |path: &str| path.rsplit('/').next().unwrap().to_owned();
    let chosen = own.map(|app| {
        let tasks = app["metrics"]["tasks"]["task"]["total_count"].as_u64().unwrap();
        (name(app["sources"][0].as_str().unwrap()), tasks)
    });
    chosen.collect()
}

/// Folders with a file of two applications and another file of one of them, of which one copy is cut.
fn folders(root: &Path) -> Vec<(PathBuf, &'static str)> {
    let mut folders = Vec::new();
    for (name, whole_is_in) in [("application_1_0001", "both"), ("a", "both"), ("z", "both"), ("a", "single")]
    {
        for comes_first in [true, false] {
            let folder = root.join(format!("{name}-{whole_is_in}-{comes_first}"));
            fs::create_dir(&folder).unwrap();
            let (copy, other) =
                (log("application_1_0001", whole_is_in == "both"), log("application_1_0002", true));
            let both = if comes_first { copy + &other } else { other + &copy };
            fs::write(folder.join("both"), both).unwrap();
            fs::write(folder.join(name), log("application_1_0001", whole_is_in == "single")).unwrap();
            folders.push((folder, if whole_is_in == "both" { "both" } else { name }));
        }
    }
    folders
}

#[test]
fn the_most_complete_copy_counts_in_a_report_and_in_parts_of_it() {
    let root = tempfile::tempdir().unwrap();
    for (folder, wanted) in folders(root.path()) {
        let whole = json(&folder, &["analyze", "."]);
        let of = |report: &Value| chosen(&report["applications"], "application_1_0001");
        assert_eq!(of(&whole), [(wanted.to_owned(), 3)], "{}", folder.display());
        assert_eq!(whole["summary"]["applications"], 2);
        let names: Vec<String> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        for name in &names {
            printed(&folder, &["analyze", "--quiet", "--partial", &format!("../{name}.part"), name]);
        }
        let parts = names.iter().map(|name| format!("../{name}.part"));
        let parts: Vec<String> = parts.collect();
        let merge: Vec<&str> =
            ["analyze", "--merge"].into_iter().chain(parts.iter().map(String::as_str)).collect();
        assert_eq!(of(&json(&folder, &merge)), [(wanted.to_owned(), 3)], "{}", folder.display());
    }
}

#[cfg(feature = "store")]
#[test]
fn the_most_complete_copy_counts_in_a_store() {
    let root = tempfile::tempdir().unwrap();
    for (folder, _) in folders(root.path()) {
        for each in [false, true] {
            let store = format!("../{}-{each}.db", folder.file_name().unwrap().to_str().unwrap());
            let mut names = vec![".".to_owned()];
            if each {
                let entries = fs::read_dir(&folder).unwrap();
                names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            }
            for name in &names {
                printed(&folder, &["ingest", "--quiet", "--store", &store, name]);
            }
            let history = json(&folder, &["history", "--store", &store, "--worst"]);
            let whole = history["applications"].as_array().unwrap();
            let times: Vec<_> = whole.iter().map(|app| (&app["id"], app["runtime_ms"].is_u64())).collect();
            assert_eq!(whole.len(), 2, "{times:?}");
            assert!(times.iter().all(|(_, is_known)| *is_known), "{}: {times:?}", folder.display());
        }
    }
}

#[test]
fn the_id_of_a_log_without_one_does_not_depend_on_how_it_is_named() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("app-x");
    fs::create_dir(&folder).unwrap();
    let start = spark_start().replace("\"App ID\":\"app-1\",", "");
    assert!(!start.contains("app-1"), "{start}");
    fs::write(folder.join("EVENT_LOG_1"), start + &stage(0, 0) + &spark_end()).unwrap();
    let paths = [
        (root.path(), "app-x"),
        (root.path(), "app-x/EVENT_LOG_1"),
        (root.path(), "."),
        (&folder, "."),
        (&folder, "EVENT_LOG_1"),
        (&folder, "./EVENT_LOG_1"),
        (&folder, "../app-x"),
    ];
    for (from, path) in paths {
        let report = json(from, &["analyze", path]);
        assert_eq!(report["applications"][0]["id"], "app-x", "{path} from {}", from.display());
    }
}

#[cfg(feature = "store")]
#[test]
fn folders_with_one_name_do_not_overwrite_each_other_and_reports_name_files_as_the_user_does() {
    let root = tempfile::tempdir().unwrap();
    let folder = |name: &str| root.path().join(name);
    for (name, id) in [("a", "application_1_0001"), ("b", "application_1_0002")] {
        fs::create_dir_all(folder(name).join("logs")).unwrap();
        fs::write(folder(name).join("logs/log"), log(id, true)).unwrap();
        printed(&folder(name), &["ingest", "--quiet", "--store", "../x.db", "logs"]);
    }
    let history = json(root.path(), &["history", "--store", "x.db", "--worst"]);
    let applications = history["applications"].as_array().unwrap();
    let mut sources: Vec<&str> = applications.iter().map(|app| app["source"].as_str().unwrap()).collect();
    sources.sort_unstable();
    let absolute = fs::canonicalize(root.path()).unwrap().display().to_string();
    assert_eq!(sources, ["a", "b"].map(|name| format!("file://{absolute}/{name}/logs/log")));
    // The same file under other names.
    let by_path = format!("{absolute}/a/logs/log");
    for (from, path) in [("a", "./logs"), ("a/logs", "."), ("b", "../a/logs/log"), ("b", by_path.as_str())] {
        let line =
            printed(&folder(from), &["ingest", "--quiet", "--store", &format!("{absolute}/x.db"), path]);
        assert!(line.starts_with("0 files read, 0 skipped, 0 failed, 1 unchanged"), "{from} {path}: {line}");
    }
    let report = json(&folder("a"), &["analyze", "logs", "--store", "../x.db"]);
    assert_eq!(report["applications"][0]["sources"][0], "logs/log");
    let line =
        printed(&folder("b"), &["ingest", "--quiet", "--store", "../x.db", "--cluster", "prod", "../a/logs"]);
    assert!(line.contains(" 1 unchanged "), "{line}");
    let history =
        json(root.path(), &["history", "--store", "x.db", "--worst", "--app", "application_1_0001"]);
    assert_eq!(history["applications"][0]["cluster"], "prod", "{history:#}");
}
