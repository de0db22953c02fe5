//! What the integration tests share.
// Each test binary uses a part of it, and clippy does not know helpers of tests for tests.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic
)]

use std::fs::File;
use std::io::Read;
pub mod browser;
pub mod history;
pub mod oracle;
pub mod pages;
pub mod spark_count;
pub mod spark_log;
pub mod spark_report;
pub mod told;

use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

/// A file or folder of the test material that is kept outside the repository: below `ELEPHANT_SHARED`, or
/// else next to the repository. Without it a test prints that it is skipped, except under `CI=true`.
pub fn shared(sub: &str) -> Option<PathBuf> {
    let root = std::env::var_os("ELEPHANT_SHARED").map_or_else(
        || Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared")).to_owned(),
        PathBuf::from,
    );
    let path = root.join(sub);
    if path.exists() {
        return Some(path);
    }
    assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "the test material {} is missing", path.display());
    println!("skipped: the test material {} is missing", path.display());
    None
}

/// All files below a folder, in name order.
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

/// The bytes of a file, unpacked when its name ends with `.gz`.
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

/// One row of the corpus's table of contents.
pub struct Listed {
    pub path: PathBuf,
    pub events: u64,
    pub tasks: Option<u64>,
    pub note: String,
}

impl Listed {
    /// A list such as `records Job:5,Task:35` in the note.
    pub fn counts(&self, title: &str) -> Vec<(String, u64)> {
        let part = self.note.split("; ").find_map(|part| part.strip_prefix(title)?.strip_prefix(' '));
        let pairs = part.unwrap_or_default().split(',').filter_map(|pair| pair.split_once(':'));
        pairs.map(|(name, count)| (name.to_owned(), count.parse().unwrap())).collect()
    }

    /// A number such as `jobs 4` in the note.
    pub fn count(&self, title: &str) -> Option<u64> {
        self.note.split("; ").find_map(|part| part.strip_prefix(title)?.strip_prefix(' ')?.parse().ok())
    }
}

/// The corpus's files of one kind.
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
