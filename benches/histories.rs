//! Whole runs of the command on large histories: CPU time, wall time and peak memory.
//!
//! `cargo bench --bench histories` writes its histories once, to `target/bench-data`, runs the release build
//! on them and prints a table; `-- --quick` does the same in little time. Nothing is asserted: machines
//! differ, so each time also stands beside the time of `wc -l` on the same file in the same run.

#![allow(clippy::print_stdout)] // a table is what this is for

mod support;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use support::{Format, Job};
use wait4::Wait4;

/// Changes with everything that changes the histories, so that old ones are not used again.
const EDITION: u32 = 1;

/// What Hadoop's own parser took for a job of the same shape, written by Hadoop's own writer: measured once,
/// on another machine, as a point of reference.
struct HadoopParser {
    cpu_seconds: f64,
    gigabytes: f64,
    megabytes_read: f64,
}

const fn hadoop_parser(format: Format) -> Option<HadoopParser> {
    match format {
        Format::AvroJson => Some(HadoopParser { cpu_seconds: 12.7, gigabytes: 2.3, megabytes_read: 683.0 }),
        Format::AvroBinary => Some(HadoopParser { cpu_seconds: 9.4, gigabytes: 2.1, megabytes_read: 349.0 }),
        Format::Hadoop1 => None,
    }
}

/// How much is measured.
struct Plan {
    inputs: [(Format, Job); 3],
    runs: usize,
}

impl Plan {
    const FULL: Self = Self {
        inputs: [
            (Format::AvroJson, Job { maps: 100_000, reduces: 500 }),
            (Format::AvroBinary, Job { maps: 100_000, reduces: 500 }),
            (Format::Hadoop1, Job { maps: 20_000, reduces: 100 }),
        ],
        runs: 5,
    };
    const QUICK: Self = Self {
        inputs: [
            (Format::AvroJson, Job { maps: 10_000, reduces: 50 }),
            (Format::AvroBinary, Job { maps: 10_000, reduces: 50 }),
            (Format::Hadoop1, Job { maps: 10_000, reduces: 50 }),
        ],
        runs: 2,
    };
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("histories: runs with `cargo bench` only");
        return Ok(());
    }
    let plan = if arguments.iter().any(|argument| argument == "--quick") { Plan::QUICK } else { Plan::FULL };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("bench-data");
    fs::create_dir_all(&folder)?;
    let mut rows = Vec::new();
    for (format, job) in plan.inputs {
        let file = history(&folder, format, job)?;
        let small = history(&folder, format, Job { maps: 1, reduces: 0 })?;
        rows.push(Row::measure(format, job, &file, &small, plan.runs)?);
    }
    print_table(&rows);
    print_references(&rows);
    Ok(())
}

/// The job's history, written unless an earlier run did. A file with this name is complete.
fn history(folder: &Path, format: Format, job: Job) -> io::Result<PathBuf> {
    let name = format!("{}-{}-maps-{}-reduces.{EDITION}.jhist", format.name(), job.maps, job.reduces);
    let (place, unfinished) = (folder.join(&name), folder.join(format!("{name}.part")));
    if !place.exists() {
        println!("writing {}", place.display());
        let mut out = BufWriter::with_capacity(1 << 18, File::create(&unfinished)?);
        format.write(job, &mut out)?;
        out.flush()?;
        fs::rename(&unfinished, &place)?;
    }
    Ok(place)
}

/// What one run took.
#[derive(Clone, Copy)]
struct Cost {
    cpu: f64,
    wall: f64,
    peak_bytes: u64,
}

/// Runs a command to its end without its output.
///
/// A child's peak starts at its parent's size, which therefore has to stay below it: nothing here holds a
/// history in memory.
fn run(program: &str, arguments: &[&str], file: &Path) -> io::Result<Cost> {
    let started = Instant::now();
    let mut child = Command::new(program).args(arguments).arg(file).stdout(Stdio::null()).spawn()?;
    let result = child.wait4()?;
    let wall = started.elapsed();
    if !result.status.success() {
        return Err(io::Error::other(format!("{program} {}: {}", file.display(), result.status)));
    }
    let cpu = result.rusage.utime + result.rusage.stime;
    Ok(Cost { cpu: cpu.as_secs_f64(), wall: wall.as_secs_f64(), peak_bytes: result.rusage.maxrss })
}

fn analyze(file: &Path) -> io::Result<Cost> {
    run(env!("CARGO_BIN_EXE_elephant-rs"), &["analyze", "--format", "json", "--jobs", "1"], file)
}

/// One input with all that was measured on it.
struct Row {
    format: Format,
    megabytes: f64,
    attempts: f64,
    cpu: Vec<f64>,
    wall: Vec<f64>,
    /// CPU seconds of `wc -l`; empty where there is none.
    count_lines: Vec<f64>,
    peak_bytes: u64,
    baseline_bytes: u64,
}

impl Row {
    fn measure(format: Format, job: Job, file: &Path, small: &Path, runs: usize) -> io::Result<Self> {
        let mut row = Self {
            format,
            megabytes: fs::metadata(file)?.len() as f64 / 1e6,
            attempts: f64::from(job.maps + job.reduces),
            cpu: Vec::new(),
            wall: Vec::new(),
            count_lines: Vec::new(),
            peak_bytes: 0,
            baseline_bytes: analyze(small)?.peak_bytes,
        };
        // Brings the file into memory and the processor up to speed.
        analyze(file)?;
        for _ in 0..runs {
            let cost = analyze(file)?;
            row.cpu.push(cost.cpu);
            row.wall.push(cost.wall);
            row.peak_bytes = row.peak_bytes.max(cost.peak_bytes);
            row.count_lines.extend(run("wc", &["-l"], file).ok().map(|cost| cost.cpu));
        }
        for times in [&mut row.cpu, &mut row.wall, &mut row.count_lines] {
            times.sort_by(f64::total_cmp);
        }
        Ok(row)
    }

    fn cells(&self) -> [String; 12] {
        let cpu = median(&self.cpu);
        let per_attempt = self.peak_bytes.saturating_sub(self.baseline_bytes) as f64 / self.attempts;
        [
            self.format.name().to_owned(),
            format!("{:.1}", self.megabytes),
            format!("{:.0}", self.attempts),
            format!("{cpu:.3}"),
            format!("{:.3}", least(&self.cpu)),
            format!("{:.3}", median(&self.wall)),
            format!("{:.0}", self.megabytes / cpu),
            format!("{:.2}", cpu * 1e6 / self.attempts),
            format!("{:.1}", self.peak_bytes as f64 / f64::from(1 << 20)),
            format!("{:.1}", self.baseline_bytes as f64 / f64::from(1 << 20)),
            format!("{per_attempt:.0}"),
            if self.count_lines.is_empty() {
                "-".to_owned()
            } else {
                format!("{:.1}", cpu / median(&self.count_lines))
            },
        ]
    }
}

const HEAD: [&str; 12] = [
    "input",
    "MB",
    "attempts",
    "CPU s",
    "min",
    "wall s",
    "MB/s per core",
    "µs/attempt",
    "peak MiB",
    "baseline MiB",
    "B/attempt",
    "x wc -l",
];

fn print_table(rows: &[Row]) {
    let mut lines = vec![HEAD.map(str::to_owned)];
    lines.extend(rows.iter().map(Row::cells));
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    println!();
    for line in &lines {
        let cells = line.iter().enumerate().map(|(column, cell)| format!("{cell:>w$}", w = width(column)));
        println!("{}", cells.collect::<Vec<_>>().join("  "));
    }
    println!(
        "\nCPU and wall: medians of all runs but a first one. B/attempt: peak above that of a job of one map."
    );
}

/// Per megabyte, since the histories are not of exactly the same size.
fn print_references(rows: &[Row]) {
    println!("\nHadoop's own JobHistoryParser on a job of this shape (measured once, on another machine):");
    for row in rows {
        let Some(reference) = hadoop_parser(row.format) else { continue };
        let factor = reference.cpu_seconds / reference.megabytes_read / (median(&row.cpu) / row.megabytes);
        println!(
            "  {}: {} CPU s and {} GB of memory for {} MB; per MB {factor:.1} times the CPU time of this run",
            row.format.name(),
            reference.cpu_seconds,
            reference.gigabytes,
            reference.megabytes_read,
        );
    }
}

fn least(sorted: &[f64]) -> f64 {
    sorted.first().copied().unwrap_or(f64::NAN)
}

fn median(sorted: &[f64]) -> f64 {
    let at = |place: usize| sorted.get(place).copied().unwrap_or(f64::NAN);
    f64::midpoint(at(sorted.len().saturating_sub(1) / 2), at(sorted.len() / 2))
}
