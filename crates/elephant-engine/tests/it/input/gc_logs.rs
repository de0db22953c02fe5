//! GC logs are joined to their application by the ids in their paths.

use std::fs;
use std::path::{Path, PathBuf};

use elephant_engine::engine::visit;
use elephant_model::model::gc_log::{Collector, StopKind};

/// Our recording with Spark's own cluster manager (`tests/data/gc-logs/README.md`).
fn recording() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/gc-logs")
}

/// Executor, stops and their sum in milliseconds.
type Found = Vec<(String, u64, u128)>;

fn found(paths: &[PathBuf]) -> Vec<(String, Found)> {
    let visited = visit(paths, |app, _| {
        let log = |log: &elephant_model::model::ProcessGcLog| {
            let all = log.log.stops.all;
            (log.process.id().to_owned(), all.count, all.total.as_millis())
        };
        app.gc_logs.iter().map(log).collect::<Found>()
    });
    visited.applications.into_iter().map(|app| (app.id, app.value)).collect()
}

/// The numbers are counted with grep and awk.
fn expected() -> Vec<(String, Found)> {
    let logs = vec![("0".to_owned(), 217, 13_523), ("1".to_owned(), 148, 9890)];
    vec![("app-20261130031800-0000".to_owned(), logs)]
}

#[test]
fn the_output_of_executors_holds_their_gc_logs() {
    assert_eq!(found(&[recording()]), expected());
}

#[test]
fn the_order_of_the_paths_does_not_matter() {
    let app = recording().join("app-20261130031800-0000");
    let log = recording().join("app-20261130031800-0000.gz");
    let mut paths = vec![app.join("1"), log, app.join("0/stdout.gz")];
    assert_eq!(found(&paths), expected());
    paths.reverse();
    assert_eq!(found(&paths), expected());
}

#[test]
fn the_collector_and_its_stops_are_known() {
    let visited = visit(&[recording()], |app, _| app.gc_logs.clone());
    let logs = &visited.applications[0].value;
    assert_eq!(visited.summary.files_analysed, 3);
    for log in logs {
        assert_eq!(log.log.collector, Some(Collector::G1));
        assert_eq!(log.log.max_heap.unwrap().bytes.whole_mib(), 640);
        assert_eq!(log.log.damage.broken, 0);
        assert!(log.log.stops.of(StopKind::Young).count > 100);
        assert!(
            log.log.stop_share().is_some_and(|share| share > 0.03 && share < 0.1),
            "{:?}",
            log.log.stop_share()
        );
    }
}

#[test]
fn logs_of_another_application_are_not_joined() {
    let folder = tempfile::tempdir().unwrap();
    let copied = folder.path().join("app-20261130031800-0001/0");
    fs::create_dir_all(&copied).unwrap();
    fs::copy(recording().join("app-20261130031800-0000/0/stdout.gz"), copied.join("stdout.gz")).unwrap();
    let log = recording().join("app-20261130031800-0000.gz");
    let visited = visit(&[folder.path().to_path_buf(), log.clone()], |app, _| app.gc_logs.len());
    assert_eq!(visited.applications[0].value, 0);
    assert_eq!(visited.skipped, [("GC log of no application that was read", 1)]);
    // A log that is named is told.
    let visited = visit(&[copied.join("stdout.gz"), log], |app, _| app.gc_logs.len());
    let told: Vec<&str> = visited.problems.iter().map(|entry| entry.problem.message.as_str()).collect();
    assert_eq!(
        told,
        [
            "a GC log of 0, whose application was not read; G1, stops: 217, together 13.523 s, the longest 256 ms"
        ]
    );
}
