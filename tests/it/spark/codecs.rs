//! One log gives one report, however it is stored and however many threads read it.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use elephant_rs::engine::{Options, analyze};
use elephant_rs::rules::RuleSet;
use elephant_rs::severity::Severity;
use elephant_testing::spark_log::{App, Ending, GIB, Task};
use proptest::prelude::*;
use serde_json::Value;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The applications below a path as in the JSON report, without file names and values that depend on file size.
fn applications(path: &Path) -> Vec<Value> {
    let options = Options { min_severity: Severity::None, ..Options::default() };
    let report =
        analyze(&[path.to_path_buf()], &RuleSet::new(elephant_rs::rules::BUILT_IN).unwrap(), options);
    assert!(report.problems.is_empty(), "{}: {:?}", path.display(), report.problems);
    let mut json = Vec::new();
    elephant_rs::report::write_json(&report, &mut json).unwrap();
    let json: Value = serde_json::from_slice(&json).unwrap();
    let mut applications = json["applications"].as_array().unwrap().clone();
    for app in &mut applications {
        app["sources"].take();
        let about_the_file = |finding: &Value| finding["rule"] == "spark-event-log-limit";
        app["findings"].as_array_mut().unwrap().retain(|finding| !about_the_file(finding));
    }
    applications
}

fn only(path: &Path) -> Value {
    let mut applications = applications(path);
    assert_eq!(applications.len(), 1, "{}", path.display());
    applications.remove(0)
}

#[test]
fn every_container_gives_the_same_report() {
    let Some(folder) = elephant_testing::shared("runs/spark-3.5.9/one-run-every-codec") else { return };
    let files = elephant_testing::files_below(&folder);
    assert!(files.len() >= 7, "{files:?}");
    let plain = only(&files[0]);
    assert!(plain["complete"] == true && plain["metrics"]["tasks"]["task"]["total_count"].as_u64() > Some(0));
    for file in &files[1..] {
        assert_eq!(only(file), plain, "{}", file.display());
    }
}

/// A log with failures and spill, so that rules have findings.
fn log() -> String {
    let error = Ending::Exception("java.lang.OutOfMemoryError", "Java heap space");
    let mut app = App::with(&[("spark.executor.memory", "2g")], 3, 2);
    for number in 0..4 {
        let task = |id: i32| {
            let executor = (1 + id % 3).to_string();
            let task = Task::new(&executor, 1000 * i64::from(1 + id + number));
            task.metric("Memory Bytes Spilled", GIB).metric("Disk Bytes Spilled", GIB / 4)
        };
        let mut tasks: Vec<Task> = (0..9).map(task).collect();
        tasks.push(Task { index: Some(0), attempt: 1, ..Task::new("1", 500).ending(error) });
        app = app.stage(tasks);
    }
    app.text()
}

/// The ways to store the parts of a log.
#[derive(Debug, Clone, Copy)]
enum Container {
    Rolling,
    RollingZstd,
    Databricks,
    Zip,
    ZipOfRolling,
}

const CONTAINERS: [Container; 5] = [
    Container::Rolling,
    Container::RollingZstd,
    Container::Databricks,
    Container::Zip,
    Container::ZipOfRolling,
];

const ID: &str = "application_1700000000000_0001";

/// Stores the parts and returns the path to read.
fn store(root: &Path, container: Container, parts: &[String]) -> PathBuf {
    let rolling = root.join(format!("eventlog_v2_{ID}"));
    let write = |path: PathBuf, bytes: &[u8]| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    let part_name = |number: usize| format!("events_{}_{ID}", number + 1);
    match container {
        Container::Rolling | Container::RollingZstd => {
            for (number, part) in parts.iter().enumerate() {
                if matches!(container, Container::Rolling) {
                    write(rolling.join(part_name(number)), part.as_bytes());
                } else {
                    let bytes = zstd::encode_all(part.as_bytes(), 1).unwrap();
                    write(rolling.join(part_name(number) + ".zstd"), &bytes);
                }
            }
            write(rolling.join(format!("appstatus_{ID}")), b"");
            rolling
        }
        Container::Databricks => {
            let (newest, older) = parts.split_last().unwrap();
            for (number, part) in older.iter().enumerate() {
                let name = format!("eventlog-2022-01-{:02}--17-00", 1 + number);
                write(root.join("driver").join(name), part.as_bytes());
            }
            write(root.join("driver/eventlog"), newest.as_bytes());
            root.join("driver")
        }
        Container::Zip | Container::ZipOfRolling => {
            let path = root.join("logs.zip");
            let mut zip = ZipWriter::new(File::create(&path).unwrap());
            let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
            if matches!(container, Container::Zip) {
                zip.start_file(ID, options).unwrap();
                zip.write_all(parts.concat().as_bytes()).unwrap();
            } else {
                for (number, part) in parts.iter().enumerate() {
                    zip.start_file(format!("eventlog_v2_{ID}/{}", part_name(number)), options).unwrap();
                    zip.write_all(part.as_bytes()).unwrap();
                }
                zip.start_file(format!("eventlog_v2_{ID}/appstatus_{ID}"), options).unwrap();
            }
            zip.finish().unwrap();
            path
        }
    }
}

/// The lines of a log, split into parts after these positions.
fn parts(text: &str, places: &[prop::sample::Index]) -> Vec<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut ends: Vec<usize> = places.iter().map(|place| place.index(lines.len() - 1) + 1).collect();
    ends.push(lines.len());
    ends.sort_unstable();
    ends.dedup();
    let mut start = 0;
    let part = |end: usize| lines[std::mem::replace(&mut start, end)..end].concat();
    ends.into_iter().map(part).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn split_log_gives_the_same_report(
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let text = log();
        let root = tempfile::tempdir().unwrap();
        let whole = root.path().join(ID);
        std::fs::write(&whole, &text).unwrap();
        let expected = only(&whole);
        let parts = parts(&text, &places);
        prop_assert_eq!(parts.concat(), text);
        for container in CONTAINERS {
            let root = tempfile::tempdir().unwrap();
            let found = only(&store(root.path(), container, &parts));
            prop_assert_eq!(&found, &expected, "{:?} of {} parts", container, parts.len());
        }
    }
}

#[test]
fn report_does_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(ID), log()).unwrap();
    let shared = elephant_testing::shared("runs/spark-3.5.9");
    let paths: Vec<PathBuf> = shared.into_iter().chain([folder.path().to_path_buf()]).collect();
    let run = |jobs: &str, format: &str| {
        let mut command = assert_cmd::Command::cargo_bin("elephant-rs").unwrap();
        command.env("LC_ALL", "C.UTF-8");
        command.args(["analyze", "--min-severity", "none", "--jobs", jobs, "--format", format]).args(&paths);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        (output.stdout, output.stderr)
    };
    for format in ["text", "json"] {
        let one = run("1", format);
        assert!(!one.0.is_empty());
        for jobs in ["2", "8"] {
            assert!(run(jobs, format) == one, "{format} with {jobs} threads");
        }
    }
}
