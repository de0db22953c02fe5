//! The cost of plans: event logs of Spark with their SQL events, and the same logs without them.
//!
//! `cargo bench --bench plans` runs the command on both and prints how many instructions it takes (with valgrind), or how
//! much CPU time, and the ratio. Nothing is asserted, because machines differ; the aims are at most 1.10 for logs of many
//! tasks, and at most 1.25 for logs of short queries.

// This is a program, so its results go to the terminal.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use elephant_generate::spark::SparkJob;
use elephant_generate::spark::recorded::Recorded;
use wait4::Wait4;

/// Runs of each command; the shortest counts.
const ROUNDS: usize = 7;
/// The class names of SQL events begin with this.
const SQL_EVENTS: &str = "{\"Event\":\"org.apache.spark.sql.execution.ui.";
/// Recorded logs that may be larger would hide the others.
const LARGEST: u64 = 20_000_000;

/// A log, or a folder of logs, with and without SQL events.
struct Pair {
    name: String,
    with: PathBuf,
    without: PathBuf,
    lines: u64,
    sql_lines: u64,
}

fn main() -> ExitCode {
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("plans: runs with `cargo bench` only");
        return ExitCode::SUCCESS;
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut pairs = Vec::new();
    let mut add = |name: &'static str, write: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
        let mut log = Vec::new();
        write(&mut log)?;
        let mut pair = Pair::new(name, &folder.path().join(pairs.len().to_string()))?;
        pair.add("log", &log)?;
        pairs.push(pair);
        io::Result::Ok(())
    };
    add("generated, 20,000 tasks", &|out| SparkJob::of(20_000).write(out))?;
    add("recorded tasks, 100 times", &|out| Recorded::Tasks.write(100, out))?;
    add("recorded short queries, 60 times", &|out| Recorded::Queries.write(60, out))?;
    for (name, path) in [
        ("recordings of Spark 4.0", "runs/sql-spark-4.0.1"),
        ("recordings of Spark 3.5", "runs/spark-3.5.7-pairs"),
        ("corpus", "corpus/spark-plain"),
    ] {
        let Some(source) = elephant_testing::shared(path) else {
            println!("{name}: skipped, because ../shared/{path} is not there");
            continue;
        };
        let mut pair = Pair::new(name, &folder.path().join(name.replace(' ', "-")))?;
        for (place, log) in logs(&source)?.into_iter().enumerate() {
            pair.add(&format!("log-{place}"), &log)?;
        }
        pairs.push(pair);
    }
    report(&pairs)
}

/// The logs in a folder that have SQL events, decompressed.
fn logs(folder: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut files: Vec<PathBuf> = walkdir::WalkDir::new(folder)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| {
            entry.file_type().is_file() && entry.metadata().is_ok_and(|meta| meta.len() < LARGEST)
        })
        .map(walkdir::DirEntry::into_path)
        .collect();
    files.sort();
    let mut logs = Vec::new();
    for file in files {
        let mut log = Vec::new();
        let mut head = [0; 2];
        let read = File::open(&file)?.read(&mut head)?;
        let stored = File::open(&file)?;
        match head.get(..read) {
            Some([0x28, 0xb5]) => zstd::Decoder::new(stored)?.read_to_end(&mut log)?,
            Some([0x1f, 0x8b]) => flate2::read::MultiGzDecoder::new(stored).read_to_end(&mut log)?,
            _ => BufReader::new(stored).read_to_end(&mut log)?,
        };
        if memchr::memmem::find(&log, SQL_EVENTS.as_bytes()).is_some() {
            logs.push(log);
        }
    }
    Ok(logs)
}

impl Pair {
    fn new(name: &str, folder: &Path) -> io::Result<Self> {
        let [with, without] = ["with", "without"].map(|name| folder.join(name));
        fs::create_dir_all(&with)?;
        fs::create_dir_all(&without)?;
        Ok(Self { name: name.to_owned(), with, without, lines: 0, sql_lines: 0 })
    }

    fn add(&mut self, name: &str, log: &[u8]) -> io::Result<()> {
        fs::write(self.with.join(name), log)?;
        let mut without = BufWriter::new(File::create(self.without.join(name))?);
        for line in BufReader::new(log).split(b'\n') {
            let line = line?;
            self.lines += 1;
            if line.starts_with(SQL_EVENTS.as_bytes()) {
                self.sql_lines += 1;
            } else {
                without.write_all(&line)?;
                without.write_all(b"\n")?;
            }
        }
        without.flush()
    }
}

/// Prints a row for each pair.
fn report(pairs: &[Pair]) -> io::Result<()> {
    let counts = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_ok();
    let unit = if counts { "10⁶ instructions" } else { "CPU ms" };
    println!(
        "| log | lines | SQL events | {unit} with | without | ratio |\n| --- | --- | --- | --- | --- | --- |"
    );
    for Pair { name, with, without, lines, sql_lines } in pairs {
        let [a, b] =
            if counts { [instructions(with)?, instructions(without)?] } else { times(with, without)? };
        println!("| {name} | {lines} | {sql_lines} | {a:.1} | {b:.1} | {:.3} |", a / b);
    }
    Ok(())
}

/// The command on a folder of logs.
fn analyze<'a>(command: &'a mut Command, path: &Path) -> &'a mut Command {
    command.args(["analyze", "--quiet", "--format", "json", "--jobs", "1"]).arg(path).stdin(Stdio::null())
}

/// Millions of instructions of one run.
fn instructions(path: &Path) -> io::Result<f64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", env!("CARGO_BIN_EXE_elephant-rs")]);
    // The stack address and the size of the environment would affect the count.
    let output = analyze(&mut command, path).env_clear().output()?;
    let told = String::from_utf8_lossy(&output.stderr);
    let counted = told.lines().find_map(|line| line.rsplit_once("Collected : ")?.1.trim().parse().ok());
    let counted: f64 =
        counted.ok_or_else(|| io::Error::other(format!("valgrind counted nothing: {told}")))?;
    Ok(counted / 1e6)
}

/// The shortest CPU times in milliseconds, of runs that alternate.
fn times(with: &Path, without: &Path) -> io::Result<[f64; 2]> {
    let mut shortest = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        for (path, shortest) in [with, without].into_iter().zip(&mut shortest) {
            let mut command = Command::new(env!("CARGO_BIN_EXE_elephant-rs"));
            let command = analyze(&mut command, path).stdout(Stdio::null()).stderr(Stdio::null());
            let usage = command.spawn()?.wait4()?.rusage;
            *shortest = shortest.min((usage.utime + usage.stime).as_secs_f64() * 1e3);
        }
    }
    Ok(shortest)
}
