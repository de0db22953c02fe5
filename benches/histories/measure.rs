//! Runs of commands, and what they take.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use wait4::Wait4;

use crate::input::{Content, Input};
use crate::support::spark::codec::{Codec, unpack_lz4};

/// What one run took.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) cpu: f64,
    pub(crate) wall: f64,
    pub(crate) peak_bytes: u64,
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

fn analyze(file: &Path, threads: Option<u32>) -> io::Result<Cost> {
    let jobs = threads.map(|threads| threads.to_string());
    let mut arguments = vec!["analyze", "--format", "json"];
    if let Some(jobs) = &jobs {
        arguments.extend(["--jobs", jobs]);
    }
    run(env!("CARGO_BIN_EXE_elephant-rs"), &arguments, file)
}

/// The option that makes this program unpack a file and nothing else.
pub(crate) const UNPACK: &str = "--unpack";

/// Unpacks `LZ4Block`, for which there is no tool.
pub(crate) fn unpack(file: &Path) -> io::Result<()> {
    let mut file = BufReader::with_capacity(1 << 18, File::open(file)?);
    unpack_lz4(&mut file, |content| {
        black_box(content);
    })
    .map(|_| ())
}

/// What unpacking alone takes; `None` where nothing is packed, or the tool is missing.
fn unpacking(codec: Codec, file: &Path) -> io::Result<Option<Cost>> {
    match codec {
        Codec::Plain => Ok(None),
        Codec::Zstd => Ok(run("zstd", &["-dcq"], file).ok()),
        Codec::Lz4 => {
            let program = std::env::current_exe()?;
            run(&program.to_string_lossy(), &[UNPACK], file).map(Some)
        }
    }
}

/// Runs of one command.
#[derive(Default)]
pub(crate) struct Costs(Vec<Cost>);

impl Costs {
    /// `None` without runs.
    pub(crate) fn median(&self, of: impl Fn(&Cost) -> f64) -> Option<f64> {
        let mut values: Vec<f64> = self.0.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        let at = |place: usize| values.get(place).copied();
        Some(f64::midpoint(at(values.len().saturating_sub(1) / 2)?, at(values.len() / 2)?))
    }

    pub(crate) fn cpu(&self) -> Option<f64> {
        self.median(|cost| cost.cpu)
    }

    pub(crate) fn wall(&self) -> Option<f64> {
        self.median(|cost| cost.wall)
    }

    pub(crate) fn peak_bytes(&self) -> u64 {
        self.0.iter().map(|cost| cost.peak_bytes).max().unwrap_or_default()
    }
}

/// One input with all that was measured on it.
pub(crate) struct Row {
    pub(crate) content: Content,
    pub(crate) threads: Option<u32>,
    pub(crate) stored_bytes: u64,
    pub(crate) bytes: u64,
    pub(crate) analyze: Costs,
    /// On the file that is not packed; empty where there is no `wc`.
    pub(crate) count_lines: Costs,
    pub(crate) unpack: Costs,
    /// The peak for a history of one task.
    pub(crate) baseline_bytes: u64,
}

impl Row {
    pub(crate) fn measure(
        input: Input,
        threads: Option<u32>,
        runs: usize,
        folder: &Path,
    ) -> io::Result<Self> {
        let content = input.content;
        let (plain, file) = (content.plain().file(folder)?, content.file(folder)?);
        let mut row = Self {
            content,
            threads,
            stored_bytes: fs::metadata(&file)?.len(),
            bytes: fs::metadata(&plain)?.len(),
            analyze: Costs::default(),
            count_lines: Costs::default(),
            unpack: Costs::default(),
            baseline_bytes: analyze(&content.smallest().file(folder)?, threads)?.peak_bytes,
        };
        // Brings the files into memory and the processor up to speed.
        analyze(&file, threads)?;
        run("wc", &["-l"], &plain).ok();
        for _ in 0..runs {
            row.analyze.0.push(analyze(&file, threads)?);
            row.count_lines.0.extend(run("wc", &["-l"], &plain));
            row.unpack.0.extend(unpacking(content.codec(), &file)?);
        }
        Ok(row)
    }
}
