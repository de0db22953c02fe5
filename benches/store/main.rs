//! Times every question of `history` on a store with many applications:
//! `cargo bench --bench store -- 100000`. The store is kept in `target/bench-data` and made
//! only once. With `-- 100000 postgres://…` it is a database on a server, which is filled if it is empty. With `changed`,
//! every job changes its settings in the middle of the year, and not one of ten. With `singly`, each application is one
//! transaction while the store is filled, as `ingest` does it; otherwise `fill` writes 1,000 in one.

// A program: it may fail and print.
#![allow(missing_docs, clippy::print_stdout, clippy::expect_used)]

mod fill;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fill::{fill, sample};

/// Applications, unless the command line says how many.
const USUAL: u64 = 100_000;
/// Applications in one transaction while the store is filled. `ingest` has one, and so waits for the disk more often.
const A_COMMIT: usize = 1000;
/// One job of so many changes its settings.
const JOBS_OF_A_CHANGE: u64 = 10;
/// Changes with what a store contains, so that old ones are not measured.
const EDITION: u32 = 6;
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
    &["--rule", "spark-skew"],
    &["--by", "user", "--rule", "spark-skew"],
];
/// Questions that are also asked with prices.
const PRICED: &[&[&str]] = &[
    &[],
    &["--by", "user"],
    &["--by", "queue"],
    &["--by", "job"],
    &["--by", "day"],
    &["--by", "trouble"],
    &["--by", "rule"],
    &["--by", "queue", "--since", "2026-11-01"],
    &["--by", "user", "--user", "qa*"],
    &["--worst"],
    &["--format", "html"],
];
const PRICES: &[&str] = &["--prices", "testdata/prices.yaml"];

/// What the command line asks for.
struct Wanted {
    count: u64,
    address: Option<String>,
    /// Whether every job changes its settings.
    changed: bool,
    a_commit: usize,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    let wanted = Wanted {
        count: words.iter().find_map(|word| word.parse().ok()).unwrap_or(USUAL),
        address: words.iter().find(|word| word.starts_with("postgres")).cloned(),
        changed: has("changed"),
        a_commit: if has("singly") { 1 } else { A_COMMIT },
    };
    let place = match &wanted.address {
        Some(address) => {
            if !answers(address, &["--by", "engine"]) {
                fill_and_time(address, &wanted);
            }
            println!("{} applications in PostgreSQL", wanted.count);
            address.clone()
        }
        None => file(&wanted),
    };
    let plain = QUESTIONS.iter().map(|question| question.to_vec());
    let priced = PRICED.iter().map(|question| [question, PRICES].concat());
    for question in plain.chain(priced) {
        let fastest = (0..REPEATS).map(|_| ask(&place, &question)).min().unwrap_or_default();
        println!("{:>8.1} ms  history {}", fastest.as_secs_f64() * 1e3, question.join(" "));
    }
}

/// The store in a file, which is made if it is missing.
fn file(wanted: &Wanted) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench-data");
    fs::create_dir_all(&folder).expect("a folder for the store");
    let changed = if wanted.changed { "-changed" } else { "" };
    let path = folder.join(format!("store-{}-{EDITION}{changed}.db", wanted.count));
    if !path.exists() {
        make(&path, wanted);
    }
    let size = fs::metadata(&path).expect("the store").len();
    println!("{} applications, {:.0} bytes each", wanted.count, size as f64 / wanted.count as f64);
    text(&path).to_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of letters")
}

/// Fills the store beside its place, so that a part of one is never taken for all.
fn make(path: &Path, wanted: &Wanted) {
    let part = path.with_extension("part");
    for old in [part.clone(), part.with_extension("part-wal"), part.with_extension("part-shm")] {
        let _ = fs::remove_file(old);
    }
    fill_and_time(text(&part), wanted);
    fs::rename(&part, path).expect("the store can be renamed");
}

fn fill_and_time(place: &str, wanted: &Wanted) {
    let sample = sample(&[PathBuf::from("testdata")]);
    let begin = Instant::now();
    let jobs_of_a_change = if wanted.changed { 1 } else { JOBS_OF_A_CHANGE };
    fill(place, &sample, (wanted.count, jobs_of_a_change), wanted.a_commit);
    let took = begin.elapsed().as_secs_f64();
    println!(
        "{} applications stored in {took:.1} s, {:.0} a second",
        wanted.count,
        wanted.count as f64 / took
    );
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
