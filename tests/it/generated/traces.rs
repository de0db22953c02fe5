//! Small cluster traces in `testdata/traces`, written by the generator of the benchmarks, and the reports on them.
//!
//! `INSTA_UPDATE=always cargo test --test it traces` writes them again: first the traces, then the snapshots.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use assert_cmd::Command;

use elephant_generate::trace_folder::Folder;
use elephant_generate::traces::{Size, Trace};

const TRACES: [(&str, Trace); 3] = [
    ("google-2011", Trace::Google2011),
    ("alibaba-2017", Trace::Alibaba2017),
    ("alibaba-2018", Trace::Alibaba2018),
];

const SIZE: Size = Size { jobs: 8, tasks: 160, machines: 10, days: 2, seed: 21 };

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/traces")
}

/// The files that differ from what the generator writes. When generated files are written, all of them are written first.
static DIFFERING: LazyLock<Vec<PathBuf>> = LazyLock::new(|| {
    let (generated, mut differing) = (tempfile::tempdir().unwrap(), Vec::new());
    for (name, trace) in TRACES {
        let path = generated.path().join(name);
        trace.write(SIZE, &mut Folder::new(trace, &path, false, 100)).unwrap();
    }
    for path in elephant_testing::files_below(generated.path()) {
        let place = folder().join(path.strip_prefix(generated.path()).unwrap());
        let bytes = std::fs::read(&path).unwrap();
        if std::fs::read(&place).is_ok_and(|known| known == bytes) {
            continue;
        }
        if elephant_testing::is_blessing() {
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(&place, bytes).unwrap();
        } else {
            differing.push(place);
        }
    }
    differing
});

fn command(arguments: &[&str]) -> String {
    assert!(
        DIFFERING.is_empty(),
        "{:#?} differ; run INSTA_UPDATE=always cargo test --test it traces",
        *DIFFERING
    );
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    command.env("LC_ALL", "C.UTF-8").current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).arg("--quiet");
    String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap()
}

#[test]
fn traces_have_reports() {
    for (name, _) in TRACES {
        let path = format!("testdata/traces/{name}");
        let reports = [
            (format!("trace-{name}.txt"), command(&["stragglers", "--details", &path])),
            (format!("trace-{name}.csv"), command(&["stragglers", "--format", "csv", &path])),
            (format!("trace-{name}-nodes.txt"), command(&["nodes", "--min-node-tasks", "5", &path])),
        ];
        for (name, text) in reports {
            elephant_testing::with_snapshots("traces", || insta::assert_snapshot!(name, text));
        }
    }
}

#[test]
fn tables_of_a_trace_that_was_not_asked_for_are_named() {
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    let output = command
        .args(["stragglers", "--trace", "alibaba-2017", "testdata/traces"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{errors}");
    for other in ["google-2011", "alibaba-2018"] {
        assert!(errors.contains(&format!("use --trace {other}")), "{errors}");
    }
    assert!(errors.contains("testdata/traces/google-2011/"), "{errors}");
}

#[test]
fn the_trace_may_be_named_and_formats_are_well_formed() {
    let path = "testdata/traces/google-2011/task_events";
    assert_eq!(command(&["stragglers", path]), command(&["stragglers", "--trace", "google-2011", path]));
    let json: serde_json::Value =
        serde_json::from_str(&command(&["stragglers", "--format", "json", path])).unwrap();
    elephant_testing::assert_possible("", &json);
    assert_eq!(json["applications"][0]["engine"], "google-2011 trace");
    assert_eq!(
        json["total"]["engines"]["google-2011 trace"]["best_offered_detector"],
        serde_json::Value::Null
    );
    let html = command(&["stragglers", "--format", "html", path]);
    assert!(html.contains("google-2011 trace") && html.contains("detectors-google-2011\""));
    // Traces stand beside histories, and a filter by engine leaves them out.
    let both = command(&["stragglers", "--format", "csv", "--table", "applications", path, "testdata/done"]);
    assert!(both.contains(",google-2011 trace,") && both.contains(",mapreduce,"));
    let one = command(&[
        "stragglers",
        "--format",
        "csv",
        "--table",
        "applications",
        "--engine",
        "mapreduce",
        path,
        "testdata/done",
    ]);
    assert!(!one.contains("trace,") && one.contains(",mapreduce,"));
}
