//! What is written where.

use std::fs;

use super::{everything_in, rewrite, rewritten};
use elephant_anonymise::{AnonymiseError, Options, anonymise};
use elephant_base::limits::Limits;
use elephant_input::storage::Storages;
use elephant_testing::{make, root};
use tempfile::tempdir;

fn log() -> String {
    make::spark_start() + &make::spark_end()
}

#[test]
fn the_same_key_gives_the_same_bytes_and_another_key_others() {
    let (a, b, c) = (
        rewritten("acme.log", log().as_bytes(), "a"),
        rewritten("acme.log", log().as_bytes(), "a"),
        rewritten("acme.log", log().as_bytes(), "b"),
    );
    assert_eq!(a, b);
    assert_ne!(a, c);
    let folder = tempdir().unwrap();
    for name in ["1", "2"] {
        rewrite(&root().join("testdata/done"), &folder.path().join(name), "k").unwrap();
    }
    assert_eq!(everything_in(&folder.path().join("1")), everything_in(&folder.path().join("2")));
}

#[test]
fn without_a_key_no_two_runs_are_alike() {
    let folder = tempdir().unwrap();
    let (input, options) = (
        folder.path().join("acme"),
        Options { key: None, force: false, limits: Limits::default(), storages: Storages::default() },
    );
    fs::write(&input, log()).unwrap();
    let written = ["1", "2"].map(|name| {
        let output = folder.path().join(name);
        let report = anonymise(&input, &output, &options).unwrap();
        assert!(report.random_key && report.to_string().contains("The key was random"));
        fs::read(output).unwrap()
    });
    assert_ne!(written[0], written[1]);
}

#[test]
fn a_file_becomes_a_file_and_a_folder_a_folder() {
    let folder = tempdir().unwrap();
    let input = folder.path().join("application_1795255830918_0001.zstd");
    fs::write(&input, make::zstd(log().as_bytes())).unwrap();
    let report = rewrite(&input, &folder.path().join("out.log"), "k").unwrap();
    assert_eq!(report.files.len(), 1);
    assert!(
        fs::read_to_string(folder.path().join("out.log")).unwrap().starts_with("{\"Event\""),
        "the result is not compressed"
    );
    let into = folder.path().join("into");
    fs::create_dir(&into).unwrap();
    rewrite(&input, &into, "k").unwrap();
    let names: Vec<String> =
        fs::read_dir(&into).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names[0].starts_with("application_") && names[0].ends_with("_0001"), "{names:?}");
}

#[test]
fn an_archive_becomes_a_folder() {
    let folder = tempdir().unwrap();
    let input = folder.path().join("acme.zip");
    fs::write(&input, make::Zip::new().member("acme/app-20261121085752-0000", log().as_bytes()).finish())
        .unwrap();
    let output = folder.path().join("out");
    rewrite(&input, &output, "k").unwrap();
    let all = everything_in(&output);
    assert!(all.starts_with("dir-") && all.contains("/app-20") && !all.contains("acme"), "{all}");
}

#[test]
fn a_rolling_log_keeps_its_parts_and_its_marker() {
    let folder = tempdir().unwrap();
    let report = rewrite(
        &root().join("testdata/spark/containers/eventlog_v2_local-1795255753487"),
        &folder.path().join("out"),
        "k",
    )
    .unwrap();
    let names: Vec<String> = report
        .files
        .iter()
        .map(|file| file.path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    let id = names[0].strip_prefix("events_1_").unwrap();
    assert_eq!(names, [format!("events_1_{id}"), format!("events_2_{id}"), format!("appstatus_{id}")]);
    assert!(report.files[0].path.to_string_lossy().contains(&format!("eventlog_v2_{id}/")));
}

#[test]
fn nothing_is_overwritten_and_nothing_written_into_the_input() {
    let folder = tempdir().unwrap();
    let input = folder.path().join("in");
    fs::create_dir(&input).unwrap();
    fs::write(input.join("a.log"), log()).unwrap();
    for output in [input.clone(), input.join("out"), input.join("a/b")] {
        let error = rewrite(&input, &output, "k").unwrap_err();
        assert!(matches!(error, AnonymiseError::OutputInInput { .. }), "{error}");
    }
    let output = folder.path().join("out");
    rewrite(&input, &output, "k").unwrap();
    assert!(matches!(rewrite(&input, &output, "k"), Err(AnonymiseError::Exists { .. })));
    let forced = Options { key: None, force: true, limits: Limits::default(), storages: Storages::default() };
    anonymise(&input, &output, &forced).unwrap();
    assert!(matches!(
        rewrite(&input.join("a.log"), &input.join("a.log"), "k"),
        Err(AnonymiseError::OutputInInput { .. })
    ));
    fs::write(folder.path().join("note"), "no history").unwrap();
    assert!(matches!(
        rewrite(&folder.path().join("note"), &folder.path().join("x"), "k"),
        Err(AnonymiseError::NoHistory { .. })
    ));
    assert!(rewrite(&folder.path().join("absent"), &folder.path().join("x"), "k").is_err());
}

#[test]
fn the_report_says_what_was_done() {
    let folder = tempdir().unwrap();
    let input = folder.path().join("in");
    fs::create_dir(&input).unwrap();
    fs::write(input.join("a.log"), log() + "damaged\n").unwrap();
    fs::write(input.join("note"), "no history").unwrap();
    let report = rewrite(&input, &folder.path().join("out"), "k").unwrap();
    assert_eq!((report.damaged, report.others, report.files.len()), (1, 1, 1));
    let text = report.to_string();
    assert!(
        text.contains("1  lines, records and properties that cannot be read") && text.contains("users"),
        "{text}"
    );
    let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    assert_eq!((&json["damaged"], &json["random_key"]), (&1.into(), &false.into()));
}
