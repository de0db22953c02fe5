//! Times every question of `history` on a store with many applications:
//! `cargo bench --bench store --features internals,store -- 100000`. The store is kept in `target/bench-data` and made
//! only once. With `-- 100000 postgres://…` it is a database on a server, which is filled if it is empty.

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
/// Changes with what a store contains, so that old ones are not measured.
const EDITION: u32 = 3;
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
    let words: Vec<String> = std::env::args().skip(1).collect();
    let count = words.iter().find_map(|word| word.parse().ok()).unwrap_or(USUAL);
    let place = match words.into_iter().find(|word| word.starts_with("postgres")) {
        Some(address) => {
            if !answers(&address, &["--by", "engine"]) {
                fill_and_time(&address, count);
            }
            println!("{count} applications in PostgreSQL");
            address
        }
        None => file(count),
    };
    for question in QUESTIONS {
        let fastest = (0..REPEATS).map(|_| ask(&place, question)).min().unwrap_or_default();
        println!("{:>8.1} ms  history {}", fastest.as_secs_f64() * 1e3, question.join(" "));
    }
}

/// The store in a file, which is made if it is missing.
fn file(count: u64) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench-data");
    fs::create_dir_all(&folder).expect("a folder for the store");
    let path = folder.join(format!("store-{count}-{EDITION}.db"));
    if !path.exists() {
        make(&path, count);
    }
    let size = fs::metadata(&path).expect("the store").len();
    println!("{count} applications, {:.0} bytes each", size as f64 / count as f64);
    text(&path).to_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of letters")
}

/// Fills the store beside its place, so that a part of one is never taken for all.
fn make(path: &Path, count: u64) {
    let part = path.with_extension("part");
    for old in [part.clone(), part.with_extension("part-wal"), part.with_extension("part-shm")] {
        let _ = fs::remove_file(old);
    }
    fill_and_time(text(&part), count);
    fs::rename(&part, path).expect("the store can be renamed");
}

fn fill_and_time(place: &str, count: u64) {
    let sample = sample(&[PathBuf::from("testdata")]);
    let begin = Instant::now();
    fill(place, &sample, count, A_COMMIT);
    let took = begin.elapsed().as_secs_f64();
    println!("{count} applications stored in {took:.1} s, {:.0} a second", count as f64 / took);
}

fn ask(place: &str, question: &[&str]) -> Duration {
    let begin = Instant::now();
    assert!(answers(place, question), "{question:?}");
    begin.elapsed()
}

/// Whether the store answers a question.
fn answers(place: &str, question: &[&str]) -> bool {
    let mut history = Command::new(env!("CARGO_BIN_EXE_elephant-rs"));
    let history = history.args(["history", "--store", place]).args(question);
    let status = history.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.expect("the program runs").success()
}
