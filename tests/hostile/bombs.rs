//! Files that decompress, or claim to decompress, to much more than their size.

use std::fs;

use crate::run::{analyze, codes, kept_tasks};
use elephant_testing::make::{
    MIB, Zip, gzip, jhist, lz4, snappy, spark_end, spark_start, stage, tar, task_start, zstd,
};

/// A file, and the expected result with `--max-decoded=4MiB`.
struct Bomb {
    name: &'static str,
    bytes: Vec<u8>,
    applications: usize,
    codes: &'static [&'static str],
}

type Pack = fn(&[u8]) -> Vec<u8>;

const LIMITED: &[&str] = &["limit-reached"];

/// A log whose only task starts over and over.
fn endless() -> Vec<u8> {
    let repeated = task_start(0, 0, 0).to_string() + "\n";
    [spark_start() + &stage(0, 0), repeated.repeat(8 * MIB / repeated.len()), spark_end()]
        .concat()
        .into_bytes()
}

fn bombs() -> Vec<Bomb> {
    let zeros = vec![0; 8 * MIB];
    let log = (spark_start() + &stage(0, 0) + &spark_end()).into_bytes();
    let zeros_in_a_log = [&log[..], &zeros].concat();
    let bomb = |name, bytes, applications, codes| Bomb { name, bytes, applications, codes };
    let packers: [(&str, Pack); 4] =
        [("app.gz", gzip), ("app.zst", zstd), ("app.lz4", lz4), ("app.snappy", snappy)];
    let mut all = Vec::new();
    for (name, pack) in packers {
        all.push(bomb(name, pack(&endless()), 1, LIMITED));
        all.push(bomb(name, pack(&zeros_in_a_log), 1, LIMITED));
        // The data does not start like a history: it is inspected and skipped.
        all.push(bomb(name, pack(&zeros), 0, &["no-history"]));
    }
    let layers = |count| (0..count).fold(endless(), |bytes, _| gzip(&bytes));
    all.push(bomb("thrice", layers(3), 1, LIMITED));
    all.push(bomb("four times", layers(4), 0, &["unreadable"]));
    let member = Zip::new().member("app-1", &endless()).finish();
    all.push(bomb("log.zip", member.clone(), 1, LIMITED));
    all.push(bomb("zip in zip", Zip::new().member("inner.zip", &member).finish(), 0, &["nested-archive"]));
    all.push(bomb("packed archive", gzip(&tar("app-1", &endless(), 8 * MIB as u64)), 1, LIMITED));
    all.push(bomb("archive of zeros", gzip(&tar("zeros", &zeros, 8 * MIB as u64)), 0, LIMITED));
    // Both the log and its archive are incomplete.
    all.push(bomb("tar of gigabytes", tar("app-1", &log, 1 << 32), 1, &["truncated", "truncated"]));
    all.push(bomb("false size", Zip::new().claiming("app-1", &log, 1 << 31).finish(), 1, &[]));
    all
}

#[test]
fn bombs_are_limited_and_their_start_is_read() {
    for Bomb { name, bytes, applications, codes: expected } in bombs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, &bytes).unwrap();
        let (report, ran) = analyze(&path, &["--max-decoded=4MiB"]);
        let apps = report["applications"].as_array().unwrap();
        assert_eq!(apps.len(), applications, "{name}: {report:#}");
        let warned: Vec<&str> = codes(&report).into_iter().filter(|code| expected.contains(code)).collect();
        assert_eq!(warned, expected, "{name}: {report:#}");
        for app in apps {
            assert_eq!(app["id"], "app-1", "{name}");
            // If the limit applied to an archive and not to the log in it, the counts are known.
            let counted = app["phases"][0]["tasks"]["total_count"].as_u64();
            let is_limited = expected == LIMITED && name != "packed archive";
            let known = if is_limited { (Some(1), None) } else { (None, Some(1)) };
            assert_eq!((kept_tasks(app), counted), known, "{name}: {app:#}");
            assert!(app["phases"][0]["started_at"].is_string(), "{name}: {app:#}");
        }
        assert!(ran.peak_mib < 200, "{name}: {} MiB", ran.peak_mib);
    }
}

#[test]
fn overlapping_members_count_once() {
    let log = spark_start() + &stage(0, 0) + &spark_end();
    let mut zip = Zip::new().member("app-1", log.as_bytes());
    for copy in 2..1000 {
        zip = zip.entry(&format!("app-{copy}"), 0, log.as_bytes(), log.len());
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("logs.zip"), zip.finish()).unwrap();
    let (report, ran) = analyze(folder.path(), &[]);
    // By their own headers, only the first member has the name that the directory gives it.
    assert!(report["applications"].as_array().unwrap().len() <= 1, "{report:#}");
    assert!(ran.stderr.contains("overlapping members"), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), codes(&report).len(), "{}", ran.stderr);
}

#[test]
fn archive_of_thousands_of_members_is_one_file() {
    let mut zip = Zip::new();
    for member in 0..5000 {
        zip = zip.member(&format!("notes/{member}\n\u{1b}[31m.txt"), b"nothing");
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.zip"), zip.member("a.jhist", jhist(2).as_bytes()).finish()).unwrap();
    let (report, ran) = analyze(folder.path(), &[]);
    assert_eq!(report["summary"]["files"]["found"], 1);
    assert_eq!(report["applications"].as_array().unwrap().len(), 1, "{report:#}");
    assert!(!ran.stderr.contains('\u{1b}'), "{:?}", ran.stderr);
    assert!(ran.peak_mib < 150, "{} MiB", ran.peak_mib);
}
