//! `elephant-rs check --store`: accepted runs from a store.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use elephant_base::whole::Whole;
use serde_json::Value;

use super::store::{histories, on_each_database, printed, run, text};

/// An event log of this repository as a run of a job: other id and day, and all times that many times as long.
fn nightly(folder: &Path, night: u32, slower: f64) {
    let mut log = String::new();
    let packed = File::open("testdata/spark/3.5.9/healthy/app-20261121085752-0000.zstd").unwrap();
    zstd::Decoder::new(packed).unwrap().read_to_string(&mut log).unwrap();
    let first = 1_795_251_472_000_i64;
    let day = i64::from(night) * 86_400_000;
    let mut shifted = String::with_capacity(log.len());
    let mut digits = String::new();
    // Every number with 13 digits is a moment.
    for letter in log.chars().chain(['\n']) {
        if letter.is_ascii_digit() {
            digits.push(letter);
            continue;
        }
        match digits.parse::<i64>() {
            Ok(moment) if digits.len() == 13 => {
                let since = ((moment - first) as f64 * slower).as_i64();
                shifted += &(first + since + day).to_string();
            }
            _ => shifted += &digits,
        }
        digits.clear();
        shifted.push(letter);
    }
    let id = format!("app-20261121085752-{night:04}");
    fs::write(folder.join(&id), shifted.replace("app-20261121085752-0000", &id)).unwrap();
}

#[test]
fn a_gate_accepts_what_the_last_runs_in_the_store_had() {
    on_each_database(|place| {
        let folder = tempfile::tempdir().unwrap();
        let store = place(&folder.path().join("x.db"));
        let (earlier, steady, slow) =
            (folder.path().join("earlier"), folder.path().join("steady"), folder.path().join("slow"));
        for path in [&earlier, &steady, &slow] {
            fs::create_dir(path).unwrap();
        }
        for night in 0..8 {
            nightly(&earlier, night, 1.0 + f64::from(night % 3) / 50.0);
        }
        nightly(&steady, 8, 1.01);
        nightly(&slow, 9, 4.0);
        printed(&["ingest", "--quiet", "--store", &store, &text(&earlier)]);
        let check = |path: &Path, more: &[&str]| {
            let arguments = ["check", "--quiet", "--store", &store, &text(path), "--format", "json"];
            let output = run(&[&arguments, more].concat());
            let report: Value = serde_json::from_slice(&output.stdout)
                .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
            (output.status.code(), report["baseline"].clone())
        };
        let (status, passed) = check(&steady, &[]);
        assert_eq!(status, Some(0), "{passed}");
        assert_eq!(passed["jobs"][0]["accepted_runs_count"], 8);
        assert_eq!(check(&steady, &["--keep-runs", "3"]).1["jobs"][0]["accepted_runs_count"], 3);
        let (status, failed) = check(&slow, &[]);
        assert_eq!(status, Some(1), "{failed}");
        assert!(failed["summary"]["regressed_metrics_count"].as_u64().unwrap() > 0, "{failed}");
        // A run that is in the store is not compared with itself, nor with later ones.
        printed(&["ingest", "--quiet", "--store", &store, &text(&slow), &text(&steady)]);
        let (status, again) = check(&slow, &[]);
        assert_eq!((status, &again["jobs"][0]["accepted_runs_count"]), (Some(1), &9.into()), "{again}");
        let (status, again) = check(&steady, &[]);
        assert_eq!((status, &again["jobs"][0]["accepted_runs_count"]), (Some(0), &8.into()), "{again}");
        // A file of the same runs accepts the same.
        let file = text(&folder.path().join("baseline.yaml"));
        printed(&["check", "--quiet", "--update", "--baseline", &file, &text(&earlier)]);
        let by_file = run(&["check", "--quiet", "--baseline", &file, "--format", "json", &text(&slow)]);
        let by_file: Value = serde_json::from_slice(&by_file.stdout).unwrap();
        // A store has memory over time in whole MiB·s.
        let metrics = |comparison: &Value| -> Vec<(Value, Value, f64)> {
            let metrics = comparison["jobs"][0]["metrics"].as_array().unwrap().iter();
            metrics
                .map(|it| (it["metric"].clone(), it["verdict"].clone(), it["median"].as_f64().unwrap()))
                .collect()
        };
        let (by_file_metrics, by_store) = (metrics(&by_file["baseline"]), metrics(&failed));
        assert_eq!(by_file_metrics.len(), by_store.len());
        for (file, store) in by_file_metrics.iter().zip(&by_store) {
            assert_eq!((&file.0, &file.1), (&store.0, &store.1));
            assert!((file.2 - store.2).abs() <= 1e-3 * file.2, "{file:?} {store:?}");
        }
        assert_eq!(by_file["baseline"]["summary"], failed["summary"]);
    });
}

#[test]
fn a_gate_tells_what_the_store_has_nothing_to_compare_with() {
    on_each_database(|place| {
        let folder = histories();
        let (store, path) = (place(&folder.path().join("x.db")), text(&folder.path().join("done")));
        printed(&["ingest", "--quiet", "--store", &store, "testdata/hadoop1"]);
        let unknown = run(&["check", "--quiet", "--store", &store, &path]);
        assert_eq!(unknown.status.code(), Some(1));
        let unknown = String::from_utf8(unknown.stdout).unwrap();
        assert!(
            unknown.contains("a new job") && unknown.contains("the store has no earlier run"),
            "{unknown}"
        );
        assert!(!unknown.contains("--update"), "{unknown}");
        // Other rules judge by other limits.
        let logs = folder.path().join("nightly");
        fs::create_dir(&logs).unwrap();
        nightly(&logs, 0, 1.0);
        printed(&["ingest", "--quiet", "--store", &store, &text(&logs)]);
        fs::remove_dir_all(&logs).unwrap();
        fs::create_dir(&logs).unwrap();
        nightly(&logs, 1, 1.0);
        let others = run(&["check", "--quiet", "--rules", "dr-elephant", "--store", &store, &text(&logs)]);
        assert_eq!(others.status.code(), Some(2));
        let message = String::from_utf8(others.stderr).unwrap();
        assert!(
            message.contains("judged by other rules") && message.contains("elephant-rs ingest"),
            "{message}"
        );
        let missing = run(&["check", "--quiet", "--store", "no-such.db", &path]);
        assert_eq!(missing.status.code(), Some(2));
        assert!(!Path::new("no-such.db").exists());
    });
}

#[test]
fn a_gate_compares_runs_of_the_same_cluster() {
    on_each_database(|place| {
        let folder = tempfile::tempdir().unwrap();
        let store = place(&folder.path().join("x.db"));
        let [fast, slow, next] = ["fast", "slow", "next"].map(|name| folder.path().join(name));
        for path in [&fast, &slow, &next] {
            fs::create_dir(path).unwrap();
        }
        for night in 0..6 {
            nightly(&fast, night, 1.0);
            nightly(&slow, night, 4.0);
        }
        nightly(&next, 9, 4.0);
        printed(&["ingest", "--quiet", "--store", &store, "--cluster", "prod", &text(&fast)]);
        let check = |more: &[&str]| {
            let output = run(&[&["check", "--quiet", "--store", &store, &text(&next)], more].concat());
            (output.status.code(), String::from_utf8(output.stdout).unwrap())
        };
        let (_, other) = check(&["--cluster", "test"]);
        assert!(other.contains("of another cluster"), "{other}");
        printed(&["ingest", "--quiet", "--store", &store, "--cluster", "test", &text(&slow)]);
        assert_eq!(check(&["--cluster", "test"]).0, Some(0));
        assert_eq!(check(&["--cluster", "prod"]).0, Some(1));
        // Nothing tells of which of the two this run is.
        let (_, unknown) = check(&[]);
        assert!(unknown.contains("of several clusters"), "{unknown}");
        // Questions tell them apart, too.
        let by_cluster = printed(&["history", "--store", &store, "--by", "cluster", "--format", "csv"]);
        let rows: Vec<&str> = by_cluster.lines().skip(1).collect();
        assert!(rows.len() == 2 && rows.iter().all(|row| row.contains(",6,")), "{by_cluster}");
        let of_test = ["history", "--store", &store, "--cluster", "test", "--worst", "--format", "json"];
        let of_test: Value = serde_json::from_str(&printed(&of_test)).unwrap();
        let clusters: Vec<&Value> =
            of_test["applications"].as_array().unwrap().iter().map(|app| &app["cluster"]).collect();
        assert_eq!(clusters, [&Value::from("test"); 6], "{of_test}");
    });
}
