//! Times every question of `history` on a store with many applications:
//! `cargo bench --bench store --features internals,store -- 100000`. The store is kept in `target/bench-data` and made
//! only once.

// A program: it may fail and print.
#![allow(missing_docs, clippy::print_stdout, clippy::expect_used, clippy::cast_precision_loss)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use elephant_rs::internals::benchmarks::store::{fill, sample};

/// Applications, unless the command line says how many.
const USUAL: u64 = 100_000;
/// Applications in one transaction while the store is filled. `ingest` has one, and so waits for the disk more often.
const A_COMMIT: usize = 1000;
/// Times that each question is asked; the fastest counts.
const REPEATS: usize = 5;

const QUESTIONS: &[&[&str]] = &[
    &[],
    &["--by", "user"],
    &["--by", "queue"],
    &["--by", "job"],
    &["--by", "day"],
    &["--by", "engine"],
    &["--by", "status"],
    &["--by", "trouble"],
    &["--by", "rule"],
    &["--by", "node"],
    &["--by", "queue", "--since", "2026-11-01"],
    &["--by", "node", "--since", "2026-11-01"],
    &["--by", "node", "--user", "qa*"],
    &["--worst"],
    &["--worst", "--since", "2026-11-01"],
    &["--job", "qb job"],
    &["--format", "html"],
];

fn main() {
    let count = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(USUAL);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench-data");
    fs::create_dir_all(&folder).expect("a folder for the store");
    let path = folder.join(format!("store-{count}.db"));
    if !path.exists() {
        make(&path, count);
    }
    let size = fs::metadata(&path).expect("the store").len();
    println!("{count} applications, {:.0} bytes each", size as f64 / count as f64);
    for question in QUESTIONS {
        let fastest = (0..REPEATS).map(|_| ask(&path, question)).min().unwrap_or_default();
        println!("{:>8.1} ms  history {}", fastest.as_secs_f64() * 1e3, question.join(" "));
    }
}

/// Fills the store beside its place, so that a part of one is never taken for all.
fn make(path: &Path, count: u64) {
    let sample = sample(&[PathBuf::from("testdata")]);
    let part = path.with_extension("part");
    for old in [part.clone(), part.with_extension("part-wal"), part.with_extension("part-shm")] {
        let _ = fs::remove_file(old);
    }
    let begin = Instant::now();
    fill(&part, &sample, count, A_COMMIT);
    let took = begin.elapsed().as_secs_f64();
    println!("{count} applications stored in {took:.1} s, {:.0} a second", count as f64 / took);
    fs::rename(&part, path).expect("the store can be renamed");
}

fn ask(path: &Path, question: &[&str]) -> Duration {
    let begin = Instant::now();
    let status = Command::new(env!("CARGO_BIN_EXE_elephant-rs"))
        .args(["history", "--store"])
        .arg(path)
        .args(question)
        .stdout(Stdio::null())
        .status()
        .expect("the program runs");
    assert!(status.success(), "{question:?}");
    begin.elapsed()
}
