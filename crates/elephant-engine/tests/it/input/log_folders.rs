//! Event logs split over several files of a folder.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use elephant_engine::engine::discover;
use elephant_input::inventory::{Inventory, Source};
use elephant_input::kind::{Reason, SourceKind};
use tempfile::TempDir;

const EVENT: &str = "{\"Event\":\"SparkListenerTaskStart\"}\n";
const APP: &str = "eventlog_v2_application_17_0001_2";

fn write(root: &Path, name: &str, bytes: &str) -> PathBuf {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    path
}

fn event(number: u32) -> String {
    format!("{{\"Event\":\"SparkListenerTaskStart\",\"Stage ID\":{number}}}\n")
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        write(root.path(), name, bytes);
    }
    root
}

fn below(root: &Path) -> Inventory {
    discover(&[root.to_path_buf()])
}

/// The names of the parts without their folder.
fn parts(source: &Source) -> Vec<String> {
    let name = |name: String| name.rsplit(['/', '!']).next().unwrap().to_owned();
    source.parts.iter().map(|part| name(part.name())).collect()
}

fn text(source: &Source) -> String {
    let mut all = String::new();
    for part in &source.parts {
        part.open().unwrap().read_to_string(&mut all).unwrap();
    }
    all
}

fn skipped(inventory: &Inventory) -> Vec<(Reason, u64)> {
    inventory.skipped.iter().map(|skipped| (skipped.reason, skipped.count)).collect()
}

#[test]
fn parts_are_ordered_by_number() {
    let root = tempfile::tempdir().unwrap();
    for number in [10, 1, 2, 9, 3, 4, 5, 6, 7, 8] {
        write(root.path(), &format!("{APP}/events_{number}_application_17_0001_2"), &event(number));
    }
    write(root.path(), &format!("{APP}/appstatus_application_17_0001_2"), "");
    write(root.path(), &format!("{APP}/.appstatus_application_17_0001_2.crc"), "crc\0");
    let inventory = below(root.path());
    let [source] = inventory.histories.as_slice() else { unreachable!("one log") };
    assert_eq!(source.path.as_path(), root.path().join(APP));
    assert_eq!(source.kind, Some(SourceKind::SparkEventLog));
    assert_eq!(text(source), (1..=10).map(event).collect::<String>());
    assert!(source.log.rolling && !source.log.compacted && !source.named_by_user);
    assert_eq!(source.log.in_progress, Some(false));
    assert_eq!(source.log.application_id.as_deref(), Some("application_17_0001"));
    assert_eq!(source.log.attempt.as_deref(), Some("2"));
    assert!(source.log.missing_parts.is_empty() && source.log.duplicate_parts.is_empty());
    assert_eq!(skipped(&inventory), [(Reason::Checksum, 1), (Reason::LogMarker, 1)]);
    assert_eq!(inventory.found, 12);
    assert_eq!(source.files().count(), 10);
}

#[test]
fn compacted_part_replaces_earlier_parts() {
    let root = folder(&[
        ("eventlog_v2_a/events_1_a", EVENT),
        ("eventlog_v2_a/events_2_a.compact", EVENT),
        ("eventlog_v2_a/events_3_a", EVENT),
        ("eventlog_v2_a/events_4_a.zstd", EVENT),
        ("eventlog_v2_a/events_4_a.zstd.compact", EVENT),
        ("eventlog_v2_a/events_5_a.zstd", EVENT),
        ("eventlog_v2_a/events_7_a.zstd", EVENT),
        ("eventlog_v2_a/appstatus_a.inprogress", ""),
    ]);
    let inventory = below(root.path());
    let source = &inventory.histories[0];
    assert_eq!(parts(source), ["events_4_a.zstd.compact", "events_5_a.zstd", "events_7_a.zstd"]);
    assert!(source.log.compacted);
    assert_eq!(source.log.missing_parts, [6]);
    assert_eq!(source.log.in_progress, Some(true));
    assert_eq!(skipped(&inventory), [(Reason::LogMarker, 1), (Reason::SupersededPart, 4)]);
}

#[test]
fn missing_and_duplicate_parts_are_reported() {
    let root = folder(&[
        ("eventlog_v2_a/events_2_a", ""),
        ("eventlog_v2_a/events_2_a.lz4", EVENT),
        ("eventlog_v2_a/events_18446744073709551615_a", "middle of a line\n"),
    ]);
    let source = &below(root.path()).histories[0];
    assert_eq!(parts(source), ["events_2_a.lz4", "events_18446744073709551615_a"], "the part with events");
    assert_eq!(source.log.missing_parts[..3], [1, 3, 4]);
    assert_eq!(source.log.missing_parts.len(), 100);
    assert!(source.log.duplicate_parts[0].ends_with("events_2_a"));
    assert_eq!(source.log.in_progress, None, "the marker is missing");
}

#[test]
fn log_that_just_started_is_recognised() {
    let root = folder(&[("eventlog_v2_a/events_1_a", ""), ("eventlog_v2_a/appstatus_a.inprogress", "")]);
    let inventory = below(root.path());
    assert_eq!(parts(&inventory.histories[0]), ["events_1_a"]);
    assert_eq!(text(&inventory.histories[0]), "");
}

#[test]
fn naming_folder_parent_or_both_gives_one_log() {
    let root = folder(&[("eventlog_v2_a/events_1_a", EVENT), ("eventlog_v2_a/events_2_a", EVENT)]);
    let log = root.path().join("eventlog_v2_a");
    let first = log.join("events_1_a");
    for (paths, named) in [
        (vec![root.path().to_path_buf()], false),
        (vec![log.clone()], true),
        (vec![root.path().to_path_buf(), log.clone()], true),
        (vec![first.clone(), log.clone()], true),
        (vec![first.clone(), log.join("events_2_a")], true),
    ] {
        let inventory = discover(&paths);
        assert_eq!(inventory.histories.len(), 1, "{paths:?}");
        let source = &inventory.histories[0];
        assert_eq!(source.parts.len(), 2, "{paths:?}");
        assert_eq!(source.named_by_user, named, "{paths:?}");
        assert_eq!(inventory.found, 2);
    }
    let alone = discover(&[first]);
    let source = &alone.histories[0];
    assert_eq!((parts(source).as_slice(), source.log.rolling), (["events_1_a".to_owned()].as_slice(), false));
}

#[test]
fn several_attempts_are_several_logs() {
    let root = folder(&[
        ("eventlog_v2_local-1_1/events_1_local-1_1", EVENT),
        ("eventlog_v2_local-1_2/events_1_local-1_2", EVENT),
        ("application_1_0001_1.lz4", EVENT),
        ("application_1_0001_2.inprogress", EVENT),
        ("copied/events_1_local-7", EVENT),
        ("copied/events_2_local-7", EVENT),
        ("copied/events_1_local-8", EVENT),
        ("copied/events_2024_report.csv", "a,b\n"),
    ]);
    let inventory = below(root.path());
    let seen: Vec<_> = inventory
        .histories
        .iter()
        .map(|source| {
            let log = &source.log;
            (
                log.application_id.as_deref().unwrap(),
                log.attempt.as_deref(),
                log.in_progress,
                source.parts.len(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("application_1_0001", Some("1"), None, 1),
            ("application_1_0001", Some("2"), Some(true), 1),
            ("local-7", None, None, 2),
            ("local-8", None, None, 1),
            ("local-1", Some("1"), None, 1),
            ("local-1", Some("2"), None, 1),
        ]
    );
    assert_eq!(skipped(&inventory), [(Reason::Text, 1)]);
}

#[test]
fn spark_1_folders_are_read() {
    let root = folder(&[
        ("local-142/EVENT_LOG_1", EVENT),
        ("local-142/SPARK_VERSION_1.2.0", ""),
        ("local-142/COMPRESSION_CODEC_org.apache.spark.io.SnappyCompressionCodec", ""),
        ("local-142/APPLICATION_COMPLETE", ""),
        ("local-143/EVENT_LOG_1", EVENT),
        ("local-143/EVENT_LOG_2", EVENT),
        ("local-143/SPARK_VERSION_1.0.0", ""),
    ]);
    let inventory = below(root.path());
    let [done, open] = inventory.histories.as_slice() else { unreachable!("two logs") };
    assert_eq!(done.path.as_path(), root.path().join("local-142"));
    assert_eq!(done.log.spark_version.as_deref(), Some("1.2.0"));
    assert_eq!(done.log.in_progress, Some(false));
    assert_eq!(done.log.application_id.as_deref(), Some("local-142"));
    assert_eq!((open.log.in_progress, open.parts.len()), (Some(true), 2));
    assert_eq!(skipped(&inventory), [(Reason::LogMarker, 4)]);
}

#[test]
fn databricks_folders_are_read() {
    let root = folder(&[
        ("driver/eventlog", &event(3)),
        ("driver/eventlog-2022-01-14--18-00", &event(2)),
        ("driver/eventlog-2022-01-14--17-00.gz", &event(1)),
        ("driver/stdout", "text\n"),
        ("single/eventlog", EVENT),
        ("other/eventlog", "text\n"),
        ("other/eventlog-2022-01-14--17-00", "text\n"),
    ]);
    let inventory = below(root.path());
    let [driver, single] = inventory.histories.as_slice() else { unreachable!("two logs") };
    assert_eq!(text(driver), (1..=3).map(event).collect::<String>());
    assert_eq!(driver.path.as_path(), root.path().join("driver"));
    assert!(driver.log.missing_parts.is_empty() && !driver.log.rolling);
    assert_eq!(single.path.as_path(), root.path().join("single/eventlog"));
    assert_eq!(skipped(&inventory), [(Reason::Text, 3)]);
}

#[test]
fn uncompressed_part_can_be_read_by_position() {
    let root = folder(&[("plain", EVENT)]);
    write(root.path(), "packed", "");
    fs::write(root.path().join("packed"), zstd::encode_all(EVENT.as_bytes(), 1).unwrap()).unwrap();
    let inventory = below(root.path());
    let [packed, plain] = inventory.histories.as_slice() else { unreachable!("two logs") };
    assert!(packed.parts[0].plain_file().is_none());
    let (mut file, len) = plain.parts[0].plain_file().unwrap().unwrap();
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    assert_eq!((text.as_str(), len), (EVENT, EVENT.len() as u64));
    assert_eq!(plain.parts[0].stored_len(), Some(len));
}

#[test]
fn real_folders_are_one_log_each() {
    for (sub, events) in [
        ("corpus/spark-rolling/NVIDIA__spark-rapids-tools", vec![5370 + 251]),
        ("corpus/spark-rolling/apache__spark", vec![88]),
        ("corpus/spark-rolling/kubeflow__mcp-apache-spark-history-server", vec![132, 16]),
    ] {
        let Some(root) = elephant_testing::shared(sub) else { return };
        let inventory = below(&root);
        let lines: Vec<_> = inventory.histories.iter().map(|source| text(source).lines().count()).collect();
        assert_eq!(lines, events, "{sub}");
        assert!(inventory.histories.iter().all(|source| source.log.in_progress == Some(false)));
    }
    let Some(root) = elephant_testing::shared("runs/spark-3.5.9") else { return };
    let inventory =
        discover(&["rolling-zstd", "rolling-none", "inprogress-rolling"].map(|sub| root.join(sub)));
    assert!(inventory.failures.is_empty());
    let open: Vec<_> = inventory.histories.iter().map(|source| source.log.in_progress).collect();
    assert_eq!(open, [Some(true), Some(false), Some(false)]);
    let inventory = below(&root.join("inprogress-lz4"));
    assert_eq!(inventory.histories[0].log.in_progress, Some(true));
}

#[test]
fn recording_is_the_same_in_a_folder_and_in_an_archive() {
    let root = elephant_testing::root().join("testdata/spark/containers");
    let inventory = below(&root);
    let [zip, rolling] = inventory.histories.as_slice() else { unreachable!("two logs") };
    assert!(rolling.log.rolling && rolling.parts.len() == 2);
    assert_eq!(rolling.log.application_id, zip.log.application_id);
    assert_eq!(text(zip).lines().count(), 27);
    assert_eq!(text(zip), text(rolling));
}
