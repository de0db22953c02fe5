//! Cluster traces of full size: CPU time and peak memory of `nodes` and `stragglers`.
//!
//! `cargo bench --bench traces` writes traces of 92,848 jobs, 10.9 million tasks and 12,583 machines, the size in Ouyang et
//! al. (2016), to `bench-data` in Cargo's target folder (6 GB), and runs the program just built on them; `-- --quick` takes a
//! tenth, `-- --program FILE` another executable, `-- --remove` removes the traces at the end. Nothing is asserted, because
//! machines differ.

#![allow(clippy::print_stdout, clippy::print_stderr)] // the table goes to the terminal

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use clap::Parser;
use elephant_generate::trace_folder::Folder;
use elephant_generate::traces::{Size, Trace};
use wait4::Wait4;

/// Raised when the generator writes something else.
const EDITION: u32 = 1;
/// Lines in each part of Google's task events.
const PART: u64 = 1_000_000;

/// Measures nodes and stragglers on cluster traces of full size.
#[derive(Parser)]
struct Options {
    /// A tenth of the size
    #[arg(long)]
    quick: bool,
    /// Keep the traces in this folder; by default bench-data in Cargo's target folder
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Remove the traces at the end
    #[arg(long)]
    remove: bool,
    /// Only write the traces
    #[arg(long)]
    only_prepare: bool,
    /// Measure this executable; by default the one just built
    #[arg(long, value_name = "FILE", default_value = env!("CARGO_BIN_EXE_elephant-rs"))]
    program: PathBuf,
    /// Passed by cargo to benchmarks
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> io::Result<()> {
    if !options.bench {
        println!("traces: runs with `cargo bench` only");
        return Ok(());
    }
    let full = Size::FULL;
    let size = if options.quick {
        Size { jobs: full.jobs / 10, tasks: full.tasks / 10, machines: full.machines / 10, ..full }
    } else {
        full
    };
    let default_folder = || Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("bench-data");
    let data =
        options.data.clone().unwrap_or_else(default_folder).join(format!("traces-{EDITION}-{}", size.jobs));
    let traces = [
        ("Google 2011", Trace::Google2011, false),
        ("Google 2011, gzip", Trace::Google2011, true),
        ("Alibaba 2017", Trace::Alibaba2017, false),
        ("Alibaba 2018", Trace::Alibaba2018, false),
    ];
    for (name, trace, gzip) in traces {
        prepare(trace, size, &data.join(name), gzip)?;
    }
    if options.only_prepare {
        return Ok(());
    }
    println!("| trace | command | CPU s | wall s | peak MiB |\n| --- | --- | --- | --- | --- |");
    for (name, ..) in traces {
        let folder = data.join(name);
        for command in [&["nodes"][..], &["stragglers", "--no-replay"], &["stragglers"]] {
            measure(options, name, command, std::slice::from_ref(&folder))?;
        }
    }
    // Without the table that says how many instances a job has, all of them are kept to the end.
    let instances = data.join("Alibaba 2018").join("batch_instance.csv");
    measure(options, "Alibaba 2018, only batch_instance", &["nodes"], &[instances])?;
    if options.remove { fs::remove_dir_all(&data) } else { Ok(()) }
}

/// Writes a trace, unless it is there.
fn prepare(trace: Trace, size: Size, path: &Path, gzip: bool) -> io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    let unfinished = path.with_extension("unfinished");
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished)?;
    }
    trace.write(size, &mut Folder::new(trace, &unfinished, gzip, PART))?;
    fs::rename(unfinished, path)
}

fn measure(options: &Options, name: &str, command: &[&str], paths: &[PathBuf]) -> io::Result<()> {
    let started = Instant::now();
    let mut child = Command::new(&options.program)
        .args(command)
        .arg("--quiet")
        .args(paths)
        .stdout(Stdio::null())
        .spawn()?;
    let used = child.wait4()?;
    let wall = started.elapsed();
    if !used.status.success() {
        return Err(io::Error::other(format!("{} on {name}: {}", command.join(" "), used.status)));
    }
    let cpu = used.rusage.utime + used.rusage.stime;
    println!(
        "| {name} | `{}` | {:.1} | {:.1} | {:.0} |",
        command.join(" "),
        cpu.as_secs_f64(),
        wall.as_secs_f64(),
        used.rusage.maxrss as f64 / f64::from(1 << 20)
    );
    Ok(())
}
