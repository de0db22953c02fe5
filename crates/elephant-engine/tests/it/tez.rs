//! Histories of Tez from files to findings.

use std::path::{Path, PathBuf};

use elephant_base::severity::Severity;
use elephant_engine::engine::{Options, analyze};
use elephant_engine::results::Report;
use elephant_model::model::{Engine, Status};
use elephant_ruleset::RuleSet;
use elephant_testing::tez::Dag;
use serde_json::json;

fn report(paths: &[PathBuf]) -> Report {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let options = Options { min_severity: Severity::None, details: true, ..Options::default() };
    analyze(paths, &rules, options)
}

fn sample(name: &str) -> Option<PathBuf> {
    elephant_testing::shared(&format!("corpus/tez/{name}"))
}

fn codes(report: &Report) -> Vec<String> {
    report.problems.iter().map(|entry| entry.problem.code.to_string()).collect()
}

#[test]
fn a_dag_that_failed_names_its_vertex_and_its_cause() {
    let Some(path) = sample("apache__ambari/tezDag-name-to-id.json") else { return };
    let report = report(&[path]);
    let [app] = report.applications.as_slice() else { panic!("{:?}", report.problems) };
    assert_eq!((app.engine, app.status, app.complete), (Engine::Tez, Status::Failed, false));
    assert_eq!(app.id, "dag_1394502141829_0425_1");
    assert_eq!(app.metrics.run_time.map(elephant_base::units::Millis::get), Some(74_017));
    let before = app.submitted_at.zip(app.started_at).map(|(at, start)| start.as_millis() - at.as_millis());
    assert_eq!(before, Some(1333));
    let found = app.findings.iter().find(|finding| finding.rule == "tez-dag-failure").unwrap();
    let message = found.message.clone();
    assert!(
        message.contains("Map 5 (1 task, 4 attempts)") && message.contains("ClassCastException"),
        "{message}"
    );
    let judged =
        app.findings.iter().filter(|finding| finding.rule.starts_with("tez-") && finding.rule != found.rule);
    assert_eq!(judged.count(), 0);
}

#[test]
fn queries_without_a_dag_are_refused_and_those_with_one_read() {
    let Some(path) = sample("apache__ambari/hive-query-2.json") else { return };
    let refused = report(&[path]);
    assert!(refused.applications.is_empty());
    assert_eq!(codes(&refused), ["no-dag"]);
    let Some(path) = sample("cloudera__hue/query_search_post_response.json") else { return };
    let read = report(&[path]);
    assert_eq!(read.applications.len(), 3);
    assert!(read.applications.iter().all(|app| app.status == Status::Failed && !app.complete));
}

#[test]
fn records_in_one_folder_are_joined() {
    let Some(folder) = sample("apache__ambari") else { return };
    let report = report(&[folder]);
    assert_eq!(report.applications.len(), 1, "{:?}", report.problems);
    let codes = codes(&report);
    assert!(codes.iter().any(|code| code == "application-disagrees"), "{codes:?}");
}

/// Writes each form of one DAG into a folder of its own.
fn forms(root: &Path) -> [PathBuf; 3] {
    let groups = json!([
        {"role": "map", "count": 120, "time": {"total_ms": 20_000}, "counters": {"HDFS_BYTES_READ": 64 << 20,
            "SPILLED_RECORDS": 30, "OUTPUT_RECORDS": 10, "GC_TIME_MILLIS": 900, "CPU_MILLISECONDS": 9000}},
        {"role": "reduce", "count": 3, "time": {"total_ms": 1_900_000}, "counters": {"SHUFFLE_BYTES": 1 << 30}},
    ]);
    let dag = Dag::of(&groups).config(&[("hive.tez.container.size", "4096")]);
    let write = |folder: &str, name: &str, bytes: &[u8]| {
        let folder = root.join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(name), bytes).unwrap();
        folder
    };
    [
        write("timeline", "answer.json", dag.timeline().as_bytes()),
        write("simple", "history.txt.appattempt_1500000000000_0001_000001", dag.simple().as_bytes()),
        write("proto", "dag_1500000000000_0001_1_1_1", &dag.protobuf()),
    ]
}

#[test]
fn all_forms_are_judged_alike() {
    let root = tempfile::tempdir().unwrap();
    let findings = |path: PathBuf| {
        let report = report(&[path]);
        assert!(report.problems.is_empty(), "{:?}", report.problems);
        let app = &report.applications[0];
        assert!(app.complete);
        app.findings
            .iter()
            .map(|finding| (finding.rule.to_string(), finding.severity, finding.message.clone()))
            .collect::<Vec<_>>()
    };
    let [timeline, simple, proto] = forms(root.path()).map(findings);
    assert!(
        timeline.iter().any(|(rule, severity, _)| rule == "tez-reducer-time" && *severity > Severity::None)
    );
    assert_eq!(timeline, simple);
    assert_eq!(timeline, proto);
}
