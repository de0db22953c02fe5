//! Histories in a storage: the report is that of the same files in folders.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use elephant_engine::engine::{Options, Progress, analyze, analyze_by};
use elephant_engine::results::Report;
use elephant_input::named::Named;
use elephant_input::storage::{Listing, Stat, Storage, Storages};
use elephant_report::write_json;
use elephant_ruleset::RuleSet;
use elephant_verdict::troubles::Basis;

/// Objects in memory.
#[derive(Debug, Default)]
struct Memory {
    objects: BTreeMap<PathBuf, Vec<u8>>,
    /// Ranges that were read.
    reads: AtomicU64,
    /// An object that ends before its announced size.
    cut: Option<PathBuf>,
}

impl Storage for Memory {
    fn scheme(&self) -> &'static str {
        "mem"
    }

    fn list(
        &self,
        listing: Listing<'_>,
        found: &mut dyn FnMut(PathBuf, Stat) -> ControlFlow<()>,
    ) -> io::Result<()> {
        // In an order that does not help.
        for (path, bytes) in self.objects.iter().rev().filter(|(path, _)| path.starts_with(listing.folder)) {
            if found(path.clone(), stat(bytes)).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.objects.get(path).map(|bytes| stat(bytes)).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn read_at(&self, path: &Path, _: &Stat, at: u64, out: &mut [u8]) -> io::Result<usize> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let mut bytes = self.objects[path].as_slice();
        if self.cut.as_deref() == Some(path) {
            bytes = &bytes[..bytes.len() / 2];
        }
        let rest = bytes.get(usize::try_from(at).unwrap()..).unwrap_or_default();
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

fn stat(bytes: &[u8]) -> Stat {
    Stat { size: Some(bytes.len() as u64), modified: None, etag: Some(format!("{:x}", bytes.len())) }
}

const BUCKET: &str = "mem://bucket/";

/// All files below a folder.
fn stored(folder: &str) -> Memory {
    elephant_testing::go_to_root();
    let files = elephant_testing::files_below(Path::new(folder));
    let object = |path: PathBuf| (Path::new(BUCKET).join(&path), std::fs::read(&path).unwrap());
    Memory { objects: files.into_iter().map(object).collect(), ..Memory::default() }
}

fn judged(storage: &Arc<Memory>, paths: &[&str]) -> Report {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let storages = Storages::only(storage.clone());
    let paths: Vec<PathBuf> = paths.iter().map(|path| Path::new(BUCKET).join(path)).collect();
    let named = Named { storages: Some(&storages), ..Named::from(paths.as_slice()) };
    let basis = Basis { rules: &rules, prices: None };
    analyze_by(named, basis, &Options::default(), &Progress::default())
}

fn json(report: &Report) -> String {
    let mut out = Vec::new();
    write_json(report, &mut out).unwrap();
    String::from_utf8(out).unwrap().replace(BUCKET, "")
}

#[test]
fn histories_in_a_storage_give_the_same_bytes() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    for paths in [
        vec!["testdata"],
        vec!["testdata/hadoop1", "testdata/spark", "testdata/done"],
        // A history that is named itself finds its configuration.
        vec!["testdata/hadoop1/jt1_1386370000000_job_201311192236_0042_etl_nightly+sessions"],
    ] {
        let storage = Arc::new(stored("testdata"));
        let local: Vec<PathBuf> = paths.iter().map(Into::into).collect();
        let expected = analyze(&local, &rules, Options::default());
        assert!(expected.summary.applications > 0);
        let report = judged(&storage, &paths);
        assert_eq!(report.named_input_failed, expected.named_input_failed);
        assert!(json(&report) == json(&expected), "{paths:?}: {}", json(&report));
        // Each object is looked at, and each history is read for its id and then as a whole.
        let (reads, found) = (storage.reads.load(Ordering::Relaxed), report.summary.files_found);
        assert!(reads >= found && reads <= 5 * found + 50, "{reads} ranges of {found} objects");
    }
}

#[test]
fn folders_without_objects_and_other_schemes_are_failures() {
    let storage = Arc::new(stored("testdata/hadoop1"));
    let report = judged(&storage, &["testdata/hadoop2"]);
    assert!(report.named_input_failed && report.summary.applications == 0);
    assert!(report.problems[0].problem.message.contains("there is no object of that name"));
    assert_eq!(storage.reads.load(Ordering::Relaxed), 0);
}

#[test]
fn an_object_that_became_shorter_is_no_whole_history() {
    let history = "testdata/hadoop1/jt1_1386370000000_job_201311192236_0042_etl_nightly+sessions";
    let cut = Some(Path::new(BUCKET).join(history));
    let storage = Arc::new(Memory { cut, ..stored("testdata/hadoop1") });
    let report = judged(&storage, &["testdata/hadoop1"]);
    assert!(!report.applications[0].complete);
    let told = report.problems.iter().any(|entry| entry.problem.message.contains("shorter than it was"));
    assert!(told, "{:?}", report.problems);
}
