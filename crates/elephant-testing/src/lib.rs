//! Helpers of tests: histories as text, test material outside the repository, snapshots, skipped tests.

// Helpers of tests may panic.
#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::panic,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used
)]

pub mod certificate;
pub mod history;
pub mod make;
#[cfg(unix)]
pub mod postgres;
pub mod skipped;
pub mod spark_log;
pub mod tez;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use serde_json::Value;

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// Makes the root of the repository the working directory, so that paths in reports are short and the same everywhere.
pub fn go_to_root() {
    std::env::set_current_dir(root()).unwrap();
}

/// A file or folder of the test material outside the repository: below `ELEPHANT_SHARED` or, if that is not set, next
/// to the repository. Without it the test is skipped, except under `CI=true`.
#[track_caller]
pub fn shared(sub: &str) -> Option<PathBuf> {
    let root = std::env::var_os("ELEPHANT_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    let path = root.join(sub);
    if path.exists() {
        return Some(path);
    }
    assert!(!is_ci(), "the test material {} is missing", path.display());
    skipped::note("no test material in ../shared");
    None
}

/// Whether everything that tests need must be present.
pub fn is_ci() -> bool {
    std::env::var("CI").as_deref() == Ok("true")
}

/// Whether generated files are written instead of compared: with `INSTA_UPDATE=always`, which also writes snapshots,
/// and with `BLESS=1`, which does not.
pub fn is_blessing() -> bool {
    std::env::var("BLESS").is_ok_and(|value| value == "1")
        || std::env::var("INSTA_UPDATE").is_ok_and(|value| ["always", "force"].contains(&value.as_str()))
}

/// Compares with the snapshots in `snapshots/<folder>`, one file per snapshot name.
pub fn with_snapshots(folder: &str, compare: impl FnOnce()) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(root().join("snapshots").join(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(compare);
}

/// Compares a JSON report with a snapshot for the part before the first application and one for each application, so
/// that they can be reviewed.
pub fn assert_json_snapshots(name: &str, report: &str) {
    let application = "\n    {\n      \"id\": ";
    let starts = report.match_indices(application).map(|(at, _)| at + 1);
    let bounds: Vec<usize> = std::iter::once(0).chain(starts).chain([report.len()]).collect();
    for (serial, bounds) in bounds.windows(2).enumerate() {
        insta::assert_snapshot!(format!("{name}-{serial}.json"), &report[bounds[0]..bounds[1]]);
    }
}

/// All files below a folder, sorted by name.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = walkdir::WalkDir::new(folder)
        .into_iter()
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().is_file())
        .map(walkdir::DirEntry::into_path)
        .collect();
    files.sort();
    files
}

/// The bytes of a file, decompressed if its name ends with `.gz`.
pub fn contents(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut file = File::open(path).unwrap();
    if path.extension().is_some_and(|extension| extension == "gz") {
        MultiGzDecoder::new(file).read_to_end(&mut bytes).unwrap();
    } else {
        file.read_to_end(&mut bytes).unwrap();
    }
    bytes
}

/// One row of the corpus manifest.
pub struct Listed {
    pub path: PathBuf,
    pub events: u64,
    pub tasks: Option<u64>,
    pub note: String,
}

impl Listed {
    /// A list in the note, such as `records Job:5,Task:35`.
    pub fn counts(&self, title: &str) -> Vec<(String, u64)> {
        let part = self.note.split("; ").find_map(|part| part.strip_prefix(title)?.strip_prefix(' '));
        let pairs = part.unwrap_or_default().split(',').filter_map(|pair| pair.split_once(':'));
        pairs.map(|(name, count)| (name.to_owned(), count.parse().unwrap())).collect()
    }

    /// A number in the note, such as `jobs 4`.
    pub fn count(&self, title: &str) -> Option<u64> {
        self.note.split("; ").find_map(|part| part.strip_prefix(title)?.strip_prefix(' ')?.parse().ok())
    }
}

/// The corpus files of one kind.
pub fn listed(corpus: &Path, kind: &str) -> Vec<Listed> {
    let manifest = std::fs::read_to_string(corpus.join("MANIFEST.tsv")).unwrap();
    let mut rows = manifest.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let header = rows.next().unwrap();
    let column = |row: &[&str], name: &str| {
        header
            .iter()
            .position(|title| *title == name)
            .and_then(|at| row.get(at))
            .map(|cell| (*cell).to_owned())
    };
    rows.filter(|row| row[0] == kind)
        .map(|row| Listed {
            path: corpus.join(column(&row, "path").unwrap()),
            events: column(&row, "lines_or_events").unwrap().parse().unwrap(),
            tasks: column(&row, "tasks").and_then(|cell| cell.parse().ok()),
            note: column(&row, "note").unwrap_or_default(),
        })
        .collect()
}

/// Panics unless all numbers of a JSON report are possible: keys name their unit, shares are between 0 and 1, and
/// counts are consistent.
pub fn assert_possible(key: &str, value: &Value) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| assert_possible(key, value)),
        Value::Array(list) => list.iter().for_each(|value| assert_possible(key, value)),
        Value::Number(number) => {
            let number = number.as_f64().unwrap();
            let may_be_negative = ["skewness", "correlation", "value"].iter().any(|end| key.ends_with(end));
            assert!(may_be_negative || number >= 0.0, "{key} is {number}");
            let is_share = key.ends_with("_percent")
                || key.ends_with("precision_ratio")
                || key.ends_with("recall_ratio");
            assert!(!is_share || number <= 100.0 + 1e-9, "{key} is {number}");
        }
        _ => {}
    }
}
