//! One small event log per rule and severity: `testdata/heuristics/spark-*`, and a snapshot of what is found there.
//!
//! `BLESS=1 cargo test --test spark_fixtures` writes the logs again; a test fails when they differ.

// Helpers of tests are not tests to clippy.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

#[path = "spark_fixtures/cases.rs"]
mod cases;
mod common;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use cases::{Fixture, all};
use elephant_rs::engine::{Options, analyze};
use elephant_rs::finding::Finding;
use elephant_rs::report::write_json;
use elephant_rs::rules::RuleSet;
use elephant_rs::severity::Severity;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/heuristics")
}

/// The id of a rule's fixture: case and severity.
fn id(serial: usize) -> String {
    format!("application_1700000000000_{:02}{:02}", serial / 5 + 1, serial % 5)
}

impl Fixture {
    fn folder(&self) -> PathBuf {
        root().join(self.rule)
    }

    fn path(&self, serial: usize) -> PathBuf {
        self.folder().join(format!("{}-{}-{}.gz", id(serial), self.case, self.severity))
    }

    fn log(&self, serial: usize) -> String {
        let name = format!("\"{} {} {}\"", self.rule, self.case, self.severity);
        let log = self.app.text().replace("application_1700000000000_0001", &id(serial));
        log.replace("\"word count\"", &name)
    }
}

/// The fixtures of a rule with their serials.
fn of(rule: &str) -> Vec<(usize, Fixture)> {
    all().into_iter().filter(|fixture| fixture.rule == rule).enumerate().collect()
}

fn rules() -> BTreeSet<&'static str> {
    all().iter().map(|fixture| fixture.rule).collect()
}

#[test]
fn fixtures_are_what_this_file_makes() {
    let bless = std::env::var_os("BLESS").is_some();
    for (serial, fixture) in rules().into_iter().flat_map(of) {
        let (path, log) = (fixture.path(serial), fixture.log(serial));
        // Compared without gzip, so that another version of the compressor changes nothing.
        if path.exists() && common::contents(&path) == log.as_bytes() {
            continue;
        }
        assert!(bless, "{} differs; run BLESS=1 cargo test --test spark_fixtures", path.display());
        std::fs::create_dir_all(fixture.folder()).unwrap();
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(log.as_bytes()).unwrap();
        std::fs::write(path, gzip.finish().unwrap()).unwrap();
    }
}

fn findings(fixture: &Fixture, serial: usize) -> Vec<Finding> {
    let options = Options { min_severity: Severity::None, ..Options::default() };
    let mut report = analyze(&[fixture.path(serial)], &RuleSet::built_in().unwrap(), options);
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    let found = report.applications.remove(0).findings.into_iter();
    found.filter(|finding| finding.rule == fixture.rule).collect()
}

#[test]
fn every_fixture_gets_its_severity() {
    let mut wrong = Vec::new();
    for (serial, fixture) in rules().into_iter().flat_map(of) {
        let found = findings(&fixture, serial);
        let severity = found.iter().map(|finding| finding.severity).max();
        if severity != Some(fixture.severity) {
            let messages: Vec<&str> = found.iter().map(|finding| finding.message.as_str()).collect();
            let Fixture { rule, case, severity: expected, .. } = fixture;
            wrong.push(format!("{rule} {case} {expected}: {severity:?} {messages:?}"));
        }
        for finding in found {
            assert_eq!(finding.advice.is_empty(), finding.severity == Severity::None, "{}", finding.message);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn findings_of_each_rule() {
    for rule in rules() {
        let options = Options { min_severity: Severity::None, ..Options::default() };
        let folder = Path::new("testdata/heuristics").join(rule);
        let report = analyze(&[folder], &RuleSet::built_in().unwrap(), options);
        let mut json = Vec::new();
        write_json(&report, &mut json).unwrap();
        let report: Value = serde_json::from_slice(&json).unwrap();
        let apps = report["applications"].as_array().unwrap().iter();
        // Only what the rule itself says: other rules have fixtures of their own.
        let mut found: Vec<Value> = apps
            .map(|app| {
                let findings = app["findings"].as_array().unwrap().iter();
                let own = findings.filter(|finding| finding["rule"] == rule).cloned();
                serde_json::json!({"application": app["name"], "findings": own.collect::<Vec<_>>()})
            })
            .collect();
        found.sort_by_key(|app| app["application"].to_string());
        insta::with_settings!({
            snapshot_path => "../snapshots/heuristics", prepend_module_to_snapshot => false, omit_expression => true,
        }, {
            insta::assert_json_snapshot!(rule, found);
        });
    }
}
