//! One small job per rule and severity: `testdata/heuristics/<rule>/`, and a snapshot of what is found there.
//!
//! `BLESS=1 cargo test --test fixtures` writes the histories again; a test fails when they differ.

// Helpers of tests are not tests to clippy.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod common;

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use common::history::Job;
use elephant_rs::engine::{Options, analyze};
use elephant_rs::heuristics::{self, Rule};
use elephant_rs::report::write_json;
use elephant_rs::rules::{RuleFile, RuleSet};
use elephant_rs::severity::Severity;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

const MIB: u64 = 1 << 20;
const MINUTE: u64 = 60_000;

/// A job that is meant to get a severity from a rule.
struct Fixture {
    rule: &'static str,
    severity: Severity,
    groups: Value,
    conf: Vec<(&'static str, String)>,
    status: &'static str,
}

#[allow(clippy::needless_pass_by_value)] // reads better where it is called
fn group(role: &str, count: u64, total_ms: u64, counters: Value) -> Value {
    json!({"role": role, "count": count, "counters": counters,
        "time": {"total_ms": total_ms, "shuffle_ms": 0, "sort_ms": 0}})
}

/// One fixture per severity, none to critical, made from five values.
fn series<T: Copy>(
    rule: &'static str,
    values: [T; 5],
    make: impl Fn(T) -> (Value, Vec<(&'static str, String)>),
) -> Vec<Fixture> {
    let pairs = Severity::ALL.into_iter().zip(values);
    pairs
        .map(|(severity, value)| {
            let (groups, conf) = make(value);
            Fixture { rule, severity, groups, conf, status: "SUCCEEDED" }
        })
        .collect()
}

fn no_conf(groups: Value) -> (Value, Vec<(&'static str, String)>) {
    (groups, Vec::new())
}

fn skew(rule: &'static str, role: &'static str, counter: &'static str) -> Vec<Fixture> {
    series(rule, [4, 8, 16, 32, 64], |mib| {
        no_conf(json!([
            group(role, 200, 20_000, json!({counter: MIB})),
            group(role, 1, 25_000, json!({counter: mib * MIB})),
        ]))
    })
}

fn gc(rule: &'static str, role: &'static str) -> Vec<Fixture> {
    series(rule, [5_000, 12_000, 22_000, 32_000, 42_000], |gc| {
        let counters = json!({"CPU_MILLISECONDS": 900_000, "GC_TIME_MILLIS": gc,
            "COMMITTED_HEAP_BYTES": 800 * MIB, "PHYSICAL_MEMORY_BYTES": 900 * MIB});
        no_conf(json!([group(role, 4, 1_000_000, counters)]))
    })
}

fn time(rule: &'static str, role: &'static str, counters: &Value) -> Vec<Fixture> {
    series(rule, [11, 15, 30, 60, 120], |minutes| {
        no_conf(json!([group(role, 10, minutes * MINUTE, counters.clone())]))
    })
}

fn memory(rule: &'static str, role: &'static str, setting: &'static str) -> Vec<Fixture> {
    series(rule, [80u64, 55, 45, 35, 25], |percent| {
        let counters = json!({"PHYSICAL_MEMORY_BYTES": 8192 * MIB * percent / 100});
        (json!([group(role, 4, MINUTE, counters)]), vec![(setting, "8192".into())])
    })
}

fn all() -> Vec<Fixture> {
    let mut all = Vec::new();
    all.extend(skew("mapper-skew", "map", "HDFS_BYTES_READ"));
    all.extend(skew("reducer-skew", "reduce", "REDUCE_SHUFFLE_BYTES"));
    all.extend(gc("mapper-gc", "map"));
    all.extend(gc("reducer-gc", "reduce"));
    all.extend(time("mapper-time", "map", &json!({"HDFS_BYTES_READ": 4096 * MIB})));
    all.extend(time("reducer-time", "reduce", &json!({"REDUCE_SHUFFLE_BYTES": 4096 * MIB})));
    all.extend(series("mapper-speed", [60u64, 40, 20, 10, 2], |mib_per_second| {
        let counters = json!({"S3A_BYTES_READ": mib_per_second * 1800 * MIB, "CPU_MILLISECONDS": 1_700_000});
        no_conf(json!([group("map", 4, 30 * MINUTE, counters)]))
    }));
    all.extend(series("mapper-spill", [10u64, 50, 100, 500, 1000], |maps| {
        let counters = json!({"SPILLED_RECORDS": 3_000_000, "MAP_OUTPUT_RECORDS": 1_000_000,
            "MAP_OUTPUT_BYTES": 150 * MIB});
        let conf = vec![("mapreduce.task.io.sort.mb", "100".to_owned())];
        (json!([group("map", maps, 11 * MINUTE, counters)]), conf)
    }));
    all.extend(memory("mapper-memory", "map", "mapreduce.map.memory.mb"));
    all.extend(memory("reducer-memory", "reduce", "mapreduce.reduce.memory.mb"));
    all.extend(series(
        "shuffle-sort",
        [30_000, 2 * MINUTE, 6 * MINUTE, 12 * MINUTE, 40 * MINUTE],
        |shuffle| {
            let time = json!({"total_ms": shuffle + MINUTE, "shuffle_ms": shuffle, "sort_ms": 0});
            no_conf(json!([
                group("map", 4, MINUTE, json!({})),
                {"role": "reduce", "count": 4, "time": time, "counters": {}},
            ]))
        },
    ));
    for (severity, status) in [(Severity::Low, "KILLED"), (Severity::Moderate, "FAILED")] {
        let groups = json!([group("map", 3, MINUTE, json!({}))]);
        all.push(Fixture { rule: "job-exception", severity, groups, conf: Vec::new(), status });
    }
    let cached =
        [(Severity::None, "100,200"), (Severity::Moderate, "100"), (Severity::Critical, "100,600000000")];
    for (severity, sizes) in cached {
        let conf = vec![
            ("mapreduce.job.cache.files", "hdfs://nn/geo.db,hdfs://nn/names.txt".to_owned()),
            ("mapreduce.job.cache.files.filesizes", sizes.to_owned()),
        ];
        let groups = json!([group("map", 3, MINUTE, json!({}))]);
        all.push(Fixture { rule: "distributed-cache-limit", severity, groups, conf, status: "SUCCEEDED" });
    }
    all.extend(series("job-queue-limit", [600, 780, 810, 840, 870], |seconds| {
        no_conf(json!([group("map", 3, seconds * 1000, json!({}))]))
    }));
    all.extend(series("mapper-input-size", [64u64, 32, 16, 8, 2], |mib| {
        no_conf(json!([group("map", 500, 11 * MINUTE, json!({"HDFS_BYTES_READ": mib * MIB}))]))
    }));
    all
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/heuristics")
}

/// The rules that these fixtures are for.
fn mapreduce() -> impl Iterator<Item = &'static Rule> {
    heuristics::all().take_while(|rule| !rule.id.starts_with("spark-"))
}

impl Fixture {
    fn job(&self) -> Job {
        let rule = mapreduce().position(|rule| rule.id == self.rule).unwrap();
        let serial = u32::try_from(100 * (rule + 1)).unwrap() + u32::try_from(self.severity.value()).unwrap();
        let job = Job::succeeded(&self.groups).named(serial, &format!("{} {}", self.rule, self.severity));
        let job = job.queue(&json!("default"));
        match self.status {
            "FAILED" => job.ended("FAILED", "Task failed task_1500000000000_0001_m_000000\nJob failed as tasks failed. failedMaps:1 failedReduces:0"),
            "KILLED" => job.ended("KILLED", "Kill job received from alice (auth:SIMPLE) at 10.0.0.1"),
            _ => job,
        }
    }

    /// The files of the fixture: the history, compressed, and the configuration if there is one.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let job = self.job();
        let folder = root().join(self.rule);
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(job.history().as_bytes()).unwrap();
        let history = folder.join(format!("{}-{}.jhist.gz", job.job_id(), self.severity));
        let mut files = vec![(history, gzip.finish().unwrap())];
        if !self.conf.is_empty() {
            let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?><configuration>\n");
            for (name, value) in &self.conf {
                let property = ["<property><name>", name, "</name><value>", value, "</value></property>\n"];
                xml += &property.concat();
            }
            xml += "</configuration>\n";
            files.push((folder.join(format!("{}_conf.xml", job.job_id())), xml.into_bytes()));
        }
        files
    }
}

/// What a file holds once gzip is taken off, so that another version of the compressor changes nothing.
fn contents(path: &Path, bytes: &[u8]) -> Vec<u8> {
    if path.extension().is_none_or(|extension| extension != "gz") {
        return bytes.to_vec();
    }
    let mut text = Vec::new();
    MultiGzDecoder::new(bytes).read_to_end(&mut text).unwrap();
    text
}

#[test]
fn fixtures_are_what_this_file_makes() {
    let bless = std::env::var_os("BLESS").is_some();
    for (path, bytes) in all().iter().flat_map(Fixture::files) {
        let stored = std::fs::read(&path).ok();
        if stored.is_some_and(|stored| contents(&path, &stored) == contents(&path, &bytes)) {
            continue;
        }
        assert!(bless, "{} differs; run BLESS=1 cargo test --test fixtures", path.display());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

/// All rules on, also those that are off unless a user sets them up.
fn rules() -> RuleSet {
    let on = ["job-queue-limit", "mapper-input-size"].map(|rule| format!("rule: {rule}\nenabled: true\n"));
    RuleSet::with_files(&[RuleFile { name: "all on".into(), text: on.join("---\n") }]).unwrap()
}

#[test]
fn every_fixture_gets_its_severity() {
    let rules = rules();
    for fixture in all() {
        let path = fixture.files().remove(0).0;
        let report = analyze(&[path.parent().unwrap().to_path_buf()], &rules, everything());
        assert!(report.problems.is_empty(), "{:?}", report.problems);
        let id = fixture.job().job_id();
        let app = report.applications.iter().find(|app| app.id == id).unwrap();
        let found = app.findings.iter().find(|finding| finding.rule == fixture.rule).unwrap();
        assert_eq!(
            found.severity, fixture.severity,
            "{} {}: {}",
            fixture.rule, fixture.severity, found.message
        );
        assert_eq!(found.advice.is_empty(), found.severity == Severity::None, "{}", found.message);
    }
}

fn everything() -> Options {
    Options { min_severity: Severity::None, ..Options::default() }
}

#[test]
fn findings_of_each_rule() {
    let rules = rules();
    for rule in mapreduce() {
        let folder = Path::new("testdata/heuristics").join(rule.id);
        let report = analyze(&[folder], &rules, everything());
        let mut json = Vec::new();
        write_json(&report, &mut json).unwrap();
        let report: Value = serde_json::from_slice(&json).unwrap();
        // Only what the rule itself says: other rules have fixtures of their own.
        let mut found: Vec<&Value> = report["applications"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|app| app["findings"].as_array().unwrap())
            .filter(|finding| finding["rule"] == rule.id)
            .collect();
        found.sort_by_key(|finding| finding["message"].to_string());
        insta::with_settings!({
            snapshot_path => "../snapshots/heuristics", prepend_module_to_snapshot => false, omit_expression => true,
        }, {
            insta::assert_json_snapshot!(rule.id, found);
        });
    }
}
