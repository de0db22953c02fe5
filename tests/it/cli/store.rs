//! `elephant-rs ingest`, `history` and `prune`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use elephant_testing::files_below;

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_elephant-rs"));
    command.env("LC_ALL", "C.UTF-8").args(arguments).stdin(Stdio::null());
    command
}

pub(crate) fn run(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

/// What a command prints that must succeed.
pub(super) fn printed(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

pub(super) fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(&[arguments, &["--format", "json"]].concat())).unwrap()
}

/// A folder with copies of histories of this repository.
pub(super) fn histories() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for part in ["done", "hadoop1", "heuristics"] {
        let from = Path::new("testdata").join(part);
        for file in files_below(&from) {
            let to = folder.path().join(file.strip_prefix("testdata").unwrap());
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(&file, to).unwrap();
        }
    }
    folder
}

pub(super) fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

#[test]
fn analyze_stores_what_it_reports() {
    on_each_database(|place| {
        let input = "testdata/heuristics";
        let (kept, ingested) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (kept, ingested) = (place(&kept.path().join("x.db")), place(&ingested.path().join("x.db")));
        printed(&["ingest", "--quiet", "--store", &ingested, input]);
        for more in [&["--format", "json", "--top", "2"][..], &["--details", "--format", "ndjson"]] {
            let report = |store: &[&str]| {
                let output = run(&[&["analyze", input], more, store].concat());
                assert!(output.status.success(), "{more:?}");
                let notes = String::from_utf8(output.stderr).unwrap();
                (String::from_utf8(output.stdout).unwrap(), notes)
            };
            let (stored, notes) = report(&["--store", &kept]);
            assert_eq!(stored, report(&[]).0, "{more:?}");
            assert!(notes.contains(" applications stored; "), "{notes}");
            for question in [&[][..], &["--worst"]] {
                let answer =
                    |store| printed(&[&["history", "--store", store, "--format", "json"], question].concat());
                assert_eq!(answer(&kept), answer(&ingested), "{question:?} after {more:?}");
            }
        }
        let line = printed(&["ingest", "--quiet", "--store", &kept, input]);
        assert!(line.starts_with("0 files read, 0 skipped, 0 failed, "), "{line}");
        // What was removed as old does not come back, because its files have not changed.
        printed(&["prune", "--store", &kept, "--before", "2100-01-01"]);
        let notes = run(&["analyze", input, "--store", &kept]).stderr;
        assert!(String::from_utf8_lossy(&notes).contains("0 applications stored; "));
        assert_eq!(json(&["history", "--store", &kept])["total"]["applications_count"], 0);
        for refused in [&["--user", "a*"][..], &["--min-severity", "severe"], &["--rule", "mapper-gc"]] {
            let output = run(&[&["analyze", "--store", &kept, input], refused].concat());
            assert_eq!(output.status.code(), Some(2), "{refused:?}");
        }
    });
}

#[test]
fn a_report_never_replaces_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = text(&folder.path().join("x.db"));
    let other_name = text(&folder.path().join(".").join("x.db"));
    let refuses =
        |arguments: &[&str]| {
            // SQLite writes to these files, too.
            for ending in ["", "-wal", "-shm", "-journal"] {
                let output =
                    run(&[arguments, &["--store", &store, "--output", &format!("{other_name}{ending}")]]
                        .concat());
                let error = String::from_utf8(output.stderr).unwrap();
                assert!(
                    output.status.code() == Some(2) && error.contains("would overwrite"),
                    "{arguments:?}: {error}"
                );
            }
        };
    for command in ["analyze", "ingest"] {
        // The second time, the store exists.
        for _ in 0..2 {
            refuses(&[command, "testdata/hadoop1"]);
            printed(&["ingest", "--quiet", "testdata/hadoop1", "--store", &store]);
        }
        fs::remove_file(&store).unwrap();
    }
    printed(&["ingest", "--quiet", "testdata/hadoop1", "--store", &store]);
    refuses(&["check", "testdata/hadoop1"]);
    refuses(&["history"]);
    assert!(printed(&["history", "--store", &store]).starts_with("1 application"));
    assert_eq!(run(&["analyze", "testdata/hadoop1", "--store", ""]).status.code(), Some(2));
}

/// Calls a test for each database, with what makes the place of a store: a path is that of a file in SQLite, and a new
/// database in PostgreSQL, if this program knows it and it is installed.
#[track_caller]
pub(super) fn on_each_database(test: impl Fn(&dyn Fn(&Path) -> String)) {
    test(&text);
    #[cfg(all(feature = "postgres", unix))]
    if let Some(server) = elephant_testing::postgres::server() {
        test(&|_| server.database());
    }
}

/// The number before a word, such as 12 in "12 unchanged".
fn number(line: &str, word: &str) -> u64 {
    let before = line.split(word).next().unwrap().trim_end();
    before.rsplit(' ').next().unwrap().parse().unwrap_or_else(|_| panic!("{word} in {line}"))
}

#[test]
fn sums_agree_with_a_report_on_the_same_histories() {
    on_each_database(|place| {
        let folder = histories();
        let (store, path) = (place(&folder.path().join("x.db")), text(folder.path()));
        let line = printed(&["ingest", "--quiet", "--store", &store, &path]);
        let report = json(&["analyze", "--quiet", &path]);
        let applications = report["applications"].as_array().unwrap();
        assert!(applications.len() > 50);
        assert_eq!(number(&line, " applications stored"), applications.len() as u64);
        let history = json(&["history", "--store", &store, "--by", "user", "--top", "1000"]);
        assert_eq!(history["total"]["applications_count"], applications.len());
        let mut users: BTreeMap<Option<&str>, (u64, f64, f64)> = BTreeMap::new();
        for app in applications {
            let sums = users.entry(app["user"].as_str()).or_default();
            sums.0 += 1;
            sums.1 += app["metrics"]["resource_used_gb_hours"].as_f64().unwrap_or_default();
            sums.2 += app["metrics"]["resource_wasted_gb_hours"].as_f64().unwrap_or_default();
        }
        let groups = history["groups"][0]["groups"].as_array().unwrap();
        assert_eq!(groups.len(), users.len());
        for group in groups {
            let (applications, used, wasted) = users[&group["key"].as_str()];
            assert_eq!(group["applications_count"], applications);
            let near = |key: &str, value: f64| {
                // Amounts are stored in whole MiB·s.
                let difference = group[key].as_f64().unwrap_or_default() - value;
                assert!(difference.abs() <= 1e-6 * applications as f64, "{key}: {group} against {value}");
            };
            near("resource_used_gb_hours", used);
            near("resource_wasted_gb_hours", wasted);
        }
    });
}

#[test]
fn a_second_ingest_opens_nothing_and_a_changed_file_is_read_again() {
    on_each_database(|place| {
        let folder = histories();
        let (store, path) = (place(&folder.path().join("x.db")), text(folder.path()));
        printed(&["ingest", "--quiet", "--store", &store, &path]);
        let before = printed(&["history", "--store", &store]);
        // Other content under the same size and time shows that a file was not opened.
        let spoilt = files_below(&folder.path().join("done"));
        let spoilt: Vec<_> =
            spoilt.iter().filter(|file| file.extension().is_some_and(|end| end == "jhist")).collect();
        assert!(!spoilt.is_empty());
        for file in &spoilt {
            let metadata = fs::metadata(file).unwrap();
            fs::write(file, vec![b'x'; usize::try_from(metadata.len()).unwrap()]).unwrap();
            File::options()
                .write(true)
                .open(file)
                .unwrap()
                .set_modified(metadata.modified().unwrap())
                .unwrap();
        }
        let line = printed(&["ingest", "--quiet", "--store", &store, &path]);
        // The database itself lies in the folder, and is not opened either.
        assert_eq!(number(&line, " applications stored"), 0, "{line}");
        assert!(number(&line, " unchanged") > 100, "{line}");
        assert_eq!(printed(&["history", "--store", &store]), before);
        // Now one of them has another time: it is read, and is no history any more.
        File::options().write(true).open(spoilt[0]).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        printed(&["ingest", "--quiet", "--store", &store, &path]);
        let after = json(&["history", "--store", &store, "--worst", "--top", "1000"]);
        let source = format!("file://{}", text(spoilt[0]));
        assert!(after["applications"].as_array().unwrap().iter().all(|app| app["source"] != source.as_str()));
    });
}

#[test]
fn other_rules_read_everything_again() {
    on_each_database(|place| {
        let folder = histories();
        let (store, path) = (place(&folder.path().join("x.db")), text(&folder.path().join("done")));
        let first = printed(&["ingest", "--quiet", "--store", &store, &path]);
        let again = printed(&["ingest", "--quiet", "--rules", "dr-elephant", "--store", &store, &path]);
        let stored = |line: &str| number(line, " applications stored");
        assert_eq!((stored(&first), number(&again, " unchanged")), (stored(&again), 0), "{again}");
    });
}

#[test]
fn a_killed_ingest_loses_nothing_and_repeats_nothing() {
    on_each_database(|place| {
        let folder = histories();
        let path = text(folder.path());
        let whole = tempfile::tempdir().unwrap();
        let reference = place(&whole.path().join("reference.db"));
        printed(&["ingest", "--quiet", "--store", &reference, &path]);
        let expected =
            printed(&["history", "--store", &reference, "--worst", "--top", "1000", "--format", "csv"]);
        for pause in [5, 20, 60, 150, 400] {
            let store = place(&whole.path().join(format!("{pause}.db")));
            let mut child = command(&["ingest", "--quiet", "--jobs", "1", "--store", &store, &path])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_millis(pause));
            child.kill().unwrap();
            child.wait().unwrap();
            printed(&["ingest", "--quiet", "--store", &store, &path]);
            let found =
                printed(&["history", "--store", &store, "--worst", "--top", "1000", "--format", "csv"]);
            assert_eq!(found, expected, "killed after {pause} ms");
        }
    });
}

#[test]
fn copies_count_once_and_a_log_that_goes_on_replaces_itself() {
    on_each_database(|place| {
        let folder = tempfile::tempdir().unwrap();
        let (store, path) = (place(&folder.path().join("x.db")), text(&folder.path().join("logs")));
        let packed = File::open("testdata/spark/3.5.9/healthy/app-20261121085752-0000.zstd").unwrap();
        let mut log = Vec::new();
        zstd::Decoder::new(packed).unwrap().read_to_end(&mut log).unwrap();
        let logs = folder.path().join("logs");
        fs::create_dir_all(logs.join("copy")).unwrap();
        let half = log.iter().take(log.len() / 2).rposition(|&byte| byte == b'\n').unwrap();
        fs::write(logs.join("app.inprogress"), &log[..=half]).unwrap();
        printed(&["ingest", "--quiet", "--store", &store, &path]);
        let count = || json(&["history", "--store", &store])["total"]["applications_count"].clone();
        assert_eq!(count(), 1);
        fs::remove_file(logs.join("app.inprogress")).unwrap();
        fs::write(logs.join("app"), &log).unwrap();
        printed(&["ingest", "--quiet", "--store", &store, &path]);
        assert_eq!(count(), 1);
        fs::write(logs.join("copy/app"), &log).unwrap();
        printed(&["ingest", "--quiet", "--store", &store, &path]);
        assert_eq!(count(), 1);
        let worst = json(&["history", "--store", &store, "--worst"]);
        assert_eq!(
            worst["applications"][0]["source"],
            format!("file://{}", text(&logs.join("app"))).as_str()
        );
    });
}

#[test]
fn a_copy_counts_when_the_file_of_the_other_one_has_other_contents() {
    on_each_database(|place| {
        let folder = tempfile::tempdir().unwrap();
        let (store, path) = (place(&folder.path().join("x.db")), text(&folder.path().join("logs")));
        let logs = folder.path().join("logs");
        fs::create_dir_all(logs.join("copy")).unwrap();
        let recorded = "testdata/spark/3.5.9/healthy/app-20261121085752-0000.zstd";
        let other = "testdata/spark/3.5.9/skew/app-20261121094318-0000.zstd";
        let copy = |to: &str| fs::copy(recorded, logs.join(to)).unwrap();
        copy("app.zstd");
        copy("copy/app.zstd");
        let ingest = || printed(&["ingest", "--quiet", "--store", &store, &path]);
        let line = ingest();
        assert_eq!(number(&line, " application stored"), 1, "{line}");
        let sources = || {
            let worst = json(&["history", "--store", &store, "--worst", "--sort", "name"]);
            let all = worst["applications"].as_array().unwrap().iter();
            all.map(|app| app["source"].as_str().unwrap().replace(&path, "")).collect::<Vec<_>>()
        };
        assert_eq!(sources(), ["file:///app.zstd"]);
        fs::copy(other, logs.join("app.zstd")).unwrap();
        let line = ingest();
        assert_eq!(number(&line, " unchanged"), 1, "{line}");
        assert_eq!(sources(), ["file:///copy/app.zstd", "file:///app.zstd"]);
    });
}

#[test]
fn filters_select_and_prune_removes() {
    on_each_database(|place| {
        let folder = histories();
        let (store, path) = (place(&folder.path().join("x.db")), text(folder.path()));
        printed(&["ingest", "--quiet", "--store", &store, &path]);
        let count = |arguments: &[&str]| {
            let report = json(&[&["history", "--store", &store], arguments].concat());
            report["total"]["applications_count"].as_u64().unwrap()
        };
        let all = count(&[]);
        let of = ["spark", "mapreduce", "tez"].map(|engine| count(&["--engine", engine]));
        let [spark, mapreduce, tez] = of;
        assert!(spark > 0 && mapreduce > 0 && tez > 0);
        assert_eq!(of.into_iter().sum::<u64>(), all);
        let analyzed =
            json(&["analyze", "--quiet", "--user", "a*", &path])["applications"].as_array().unwrap().len();
        assert_eq!(count(&["--user", "a*"]), analyzed as u64);
        let split = "2026-11-01";
        let (before, since) = (count(&["--until", split]), count(&["--since", split]));
        assert!(since > 0 && before > 0, "{before} {since}");
        let removed = printed(&["prune", "--store", &store, "--before", split]);
        assert!(number(&removed, " application") >= before, "{removed}");
        assert_eq!(count(&["--since", split]), since);
        assert_eq!(count(&["--until", split]), 0);
        // The moment of a removal is read from the clock, which runs while this test does.
        let kept = count(&[]);
        let removed = printed(&["prune", "--store", &store, "--keep", "36500d"]);
        assert_eq!((number(&removed, " application"), count(&[])), (0, kept));
        // Their files stay known.
        let line = printed(&["ingest", "--quiet", "--store", &store, &path]);
        assert_eq!(number(&line, " applications stored"), 0, "{line}");
    });
}

#[test]
fn ingest_lists_no_filters_and_refuses_them() {
    let help = printed(&["ingest", "--help"]);
    assert!(help.contains("--max-time") && !help.contains("Read only applications"), "{help}");
    let store = text(&tempfile::tempdir().unwrap().path().join("x.db"));
    let output = run(&["ingest", "--store", &store, "--user", "bob", "testdata/hadoop1"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && message.contains("takes no filters"), "{message}");
    assert!(printed(&["history", "--help"]).contains("--user"));
}

#[test]
fn what_is_no_store_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    fs::write(&path, "these are my notes, and they are longer than a page of a database? no").unwrap();
    let output = run(&["ingest", "--store", &text(&path), "testdata/hadoop1"]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("cannot open the store") && message.contains("name another file"), "{message}");
    assert!(fs::read_to_string(&path).unwrap().starts_with("these are my notes"));
    let missing = text(&folder.path().join("missing.db"));
    let output = run(&["history", "--store", &missing]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("elephant-rs ingest"));
    assert!(!Path::new(&missing).exists());
    let store = text(&folder.path().join("x.db"));
    printed(&["ingest", "--quiet", "--store", &store, "testdata/hadoop1"]);
    let output = run(&["history", "--store", &store, "--job", "no such job"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("has no job"));
}

#[test]
fn the_fleet_is_one_page_with_what_it_costs() {
    on_each_database(|place| {
        let folder = histories();
        let (store, path) = (place(&folder.path().join("x.db")), text(folder.path()));
        printed(&["ingest", "--quiet", "--store", &store, &path]);
        let prices = folder.path().join("prices.yaml");
        fs::write(&prices, "currency: EUR\ngb_hour: 0.5\n").unwrap();
        let priced = ["history", "--store", &store, "--prices", &text(&prices)];
        let history = json(&priced);
        assert_eq!(history["currency"], "EUR");
        let total = &history["total"];
        let (used, cost) = (&total["resource_used_gb_hours"], &total["cost"]);
        let difference = 0.5 * used.as_f64().unwrap() - cost.as_f64().unwrap();
        // Each application's cost is rounded to a millionth.
        assert!(difference.abs() < 1e-3, "{used} {cost}");
        // Each group's amounts over time add up to its own.
        for groups in history["groups"].as_array().unwrap() {
            for group in groups["groups"].as_array().unwrap() {
                let Some(over_time) = group["over_time"]["resource_used_gb_hours"].as_array() else {
                    continue;
                };
                let sum: f64 = over_time.iter().filter_map(Value::as_f64).sum();
                assert!(
                    sum <= group["resource_used_gb_hours"].as_f64().unwrap_or_default() + 1e-6,
                    "{group}"
                );
            }
        }
        let page = printed(&[&priced[..], &["--format", "html"]].concat());
        for id in ["answer", "time", "jobs", "users", "queues", "troubles", "remedies"] {
            assert!(page.contains(&format!("<section id=\"{id}\"")), "{id}");
        }
        assert!(page.contains("EUR") && page.contains("Content-Security-Policy"), "{page}");
        let markdown = printed(&[&priced[..], &["--format", "markdown"]].concat());
        assert!(markdown.contains("| job | runs | failed |"), "{markdown}");
        for options in [&["--worst"][..], &["--by", "day"]] {
            let arguments = [&["history", "--store", &store, "--format", "html"], options].concat();
            assert!(printed(&arguments).contains("<table"), "{options:?}");
        }
        fs::write(&prices, "currency: EUR\ngb_hour: 0.5\n---\nfor: {job_type: hive}\ngb_hour: 1\n").unwrap();
        let refused = run(&priced);
        let message = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && message.contains("job types"), "{message}");
    });
}

#[test]
fn nodes_of_a_store_are_those_of_the_histories() {
    on_each_database(|place| {
        let folder = histories();
        let (store, path) = (place(&folder.path().join("x.db")), text(folder.path()));
        printed(&["ingest", "--quiet", "--store", &store, &path]);
        let stored = json(&["history", "--store", &store, "--by", "node", "--top", "1000"]);
        let read = json(&["nodes", "--quiet", "--top", "1000", &path]);
        let by_name = |nodes: &Value| -> BTreeMap<String, Value> {
            let nodes = nodes.as_array().unwrap().iter();
            nodes.map(|node| (node["node"].as_str().unwrap().to_owned(), node.clone())).collect()
        };
        let (stored, read) = (by_name(&stored["nodes"]["nodes"]), by_name(&read["nodes"]));
        assert!(read.len() > 5);
        for (name, node) in &read {
            let found = &stored[name];
            for count in
                ["tasks_count", "stragglers_count", "executors_lost_count", "failures_count", "level"]
            {
                assert_eq!(found[count], node[count], "{count} of {name}");
            }
            let mean = |node: &Value| node["mean_z"].as_f64().unwrap_or_default();
            assert!((mean(found) - mean(node)).abs() < 1e-5, "{name}");
        }
        // A filter that the daily sums do not support gives the same result if it admits all.
        let csv = |arguments: &[&str]| {
            let by_node = ["history", "--store", &store, "--by", "node", "--format", "csv", "--top", "1000"];
            printed(&[&by_node, arguments].concat())
        };
        assert_eq!(csv(&["--app", "*"]), csv(&[]));
        let page =
            printed(&["history", "--store", &store, "--by", "node", "--format", "html", "--top", "1000"]);
        let markdown =
            printed(&["history", "--store", &store, "--by", "node", "--format", "markdown", "--top", "1000"]);
        let page = page.replace("<wbr>", "");
        for name in stored.keys().take(3) {
            assert!(page.contains(name.as_str()) && markdown.contains(name.as_str()), "{name}");
        }
    });
}

/// The lines of a CSV answer.
fn csv(arguments: &[&str]) -> Vec<String> {
    printed(&[arguments, &["--format", "csv"]].concat()).lines().map(str::to_owned).collect()
}

#[test]
fn csv_has_all_lines_and_what_other_formats_have() {
    on_each_database(|place| {
        let folder = histories();
        let (store, path) = (place(&folder.path().join("x.db")), text(folder.path()));
        printed(&["ingest", "--quiet", "--store", &store, &path]);
        let history = ["history", "--store", &store];
        let all = json(&[&history[..], &["--top", "1000"]].concat());
        let lines = csv(&history);
        let of = |by: &str| lines.iter().filter(|line| line.split(',').next() == Some(by)).count() as u64;
        assert_eq!(of("all"), 1);
        for groups in all["groups"].as_array().unwrap() {
            assert_eq!(of(groups["by"].as_str().unwrap()), groups["groups_count"].as_u64().unwrap());
        }
        assert!(of("job") > 20 && of("all_over_time") > 1 && of("job_over_time") > 20);
        assert_eq!(of("remedy"), all["remedies_count"].as_u64().unwrap());
        assert_eq!(of("node"), all["nodes"]["nodes_count"].as_u64().unwrap());
        let applications = all["total"]["applications_count"].as_u64().unwrap();
        assert_eq!(csv(&[&history[..], &["--worst"]].concat()).len() as u64, applications + 1);
        assert_eq!(csv(&[&history[..], &["--worst", "--top", "3"]].concat()).len(), 4);
        // Others say how many lines are missing.
        for format in ["text", "markdown"] {
            let answer = printed(&[&history[..], &["--worst", "--top", "3", "--format", format]].concat());
            assert!(answer.contains(&format!("{} more", applications - 3)), "{answer}");
        }
    });
}

#[test]
fn the_sums_about_a_job_are_those_of_its_runs() {
    on_each_database(|place| {
        let folder = histories();
        let (store, path) = (place(&folder.path().join("x.db")), text(folder.path()));
        printed(&["ingest", "--quiet", "--store", &store, &path]);
        let history = ["history", "--store", &store];
        let jobs = json(&[&history[..], &["--by", "job", "--top", "3"]].concat());
        for group in jobs["groups"][0]["groups"].as_array().unwrap() {
            let name = group["key"].as_str().unwrap();
            let of_job = [&history[..], &["--job", name]].concat();
            let mut total = json(&of_job)["total"].clone();
            total["key"] = name.into();
            assert_eq!(&total, group);
            let none = printed(&[&of_job[..], &["--user", "nobody"]].concat());
            // Lines end between words.
            assert_eq!(none.replace('\n', " "), format!("no run of the job {name} matches the filters "));
        }
    });
}
