//! Complete runs of the command: CPU time, wall time and peak memory, compared with other tools on the same
//! files.
//!
//! `cargo bench --bench histories` writes its logs once, to `bench-data` in Cargo's target folder, runs the
//! packagers' build on them and prints Markdown tables; `-- --help` lists the options. Nothing is asserted,
//! because machines differ; instead `wc -l`, `zstd -d` and `jq -c .` run on the same files, alternating with
//! the program.

#![allow(clippy::print_stdout, clippy::print_stderr)] // the tables go to the terminal

mod costs;
mod disk;
mod input;
mod instructions;
mod large;
mod machine;
mod markdown;
mod memory;
mod options;
mod page;
mod plan;
mod program;
mod small;
mod tools;
mod trial;

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, BufReader};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Parser;

use elephant_generate::spark::codec::unpack_lz4;
use options::Options;
use plan::Plan;
use tools::Tools;
use trial::Trials;

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
    if let Some(file) = &options.unpack {
        return unpack(file);
    }
    if !options.bench {
        println!("histories: runs with `cargo bench` only");
        return Ok(());
    }
    let default_folder = || Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("bench-data");
    let data = options.data.clone().unwrap_or_else(default_folder);
    if options.only_remove {
        return remove(&data);
    }
    options.write.as_deref().map_or(Ok(()), page::check)?;
    fs::create_dir_all(&data)?;
    let data = fs::canonicalize(data)?;
    if let Some(before) = &options.instructions {
        print!("{}", instructions::compare(before, &options.program, &data)?);
    } else {
        let plan = Plan::new(options.quick, options.huge);
        if options.only_prepare {
            return plan.prepare(&data);
        }
        disk::check(&plan, &data)?;
        prepare(&data, options)?;
        let text = measure(&plan, &data, options)?;
        println!("{text}");
        if let Some(file) = &options.write {
            page::write(file, &text)?;
        }
    }
    if options.remove { remove(&data) } else { Ok(()) }
}

/// Writes the logs in a separate process, because the peak memory of this one carries over to its children.
fn prepare(data: &Path, options: &Options) -> io::Result<()> {
    let flags = [("--quick", options.quick), ("--huge", options.huge)];
    let flags = flags.into_iter().filter_map(|(name, given)| given.then_some(name));
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--bench", "--only-prepare", "--data"]).arg(data).args(flags);
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{command:?}: {status}"))) }
}

fn remove(data: &Path) -> io::Result<()> {
    if data.exists() { fs::remove_dir_all(data) } else { Ok(()) }
}

fn unpack(file: &PathBuf) -> io::Result<()> {
    let mut file = BufReader::with_capacity(1 << 18, File::open(file)?);
    unpack_lz4(&mut file, |content| {
        black_box(content);
    })
    .map(|_| ())
}

/// Runs everything, and reports it as Markdown.
fn measure(plan: &Plan, data: &Path, options: &Options) -> io::Result<String> {
    let (program, mut trials) = (&options.program, Trials::default());
    let tools = Tools::find(program);
    let starts = program::add(data, &tools, &mut trials)?;
    let (mut large, mut small, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    for &content in &plan.large {
        large.extend(large::add(content, data, &tools, &mut trials)?);
    }
    for &folder in &plan.folders {
        small.extend(small::add(folder, data, &tools, &mut trials)?);
    }
    for content in std::iter::once(plan::SMALLEST).chain(plan.growing.iter().copied()) {
        memory.extend(memory::add(content, data, &tools, &mut trials)?);
    }
    let rounds = options.rounds.map_or(plan.rounds, NonZeroUsize::get);
    let load = machine::load();
    trials.run(rounds)?;
    program::check_peaks(&starts, &trials);

    let load = load.map_or_else(String::new, |load| format!(" The load was {load} at the start."));
    let missing: Vec<String> = tools.missing().collect();
    let paragraphs = [
        large::summary(&large, &trials),
        format!(
            "Measured by `cargo bench --bench histories{}`: {}.{load}",
            if options.quick { " -- --quick" } else { "" },
            machine::describe(program)
        ),
        missing.join(" "),
        large::table(&large, &trials).to_string(),
        format!(
            "CPU seconds are user and system time of all threads. Each command ran {rounds} times (`jq` once), \
             alternating with all others, with its files in the page cache. Times are the shortest, with the \
             distance to the median in parentheses; memory peaks are the largest. MB are 10⁶ uncompressed bytes. × is the CPU \
             time divided by that of the other command on the same log: `wc -l` and `jq` on the uncompressed file, \
             decompression with `zstd -d -c`, or for Spark's LZ4 blocks, which no tool reads, with a loop around the same \
             decoder."
        ),
        small::table(&small, &trials).to_string(),
        "Small logs: 30 % MapReduce in Avro-Json with their configurations, 15 % in Avro-Binary, 10 % \
         Hadoop 1, 20 % Spark, 25 % Spark with zstd; most have fewer than 10 tasks, some 400. `wc -l` \
         reads the stored (compressed) bytes."
            .to_owned(),
        memory::table(&memory, &trials).to_string(),
        "The base is the peak for an event log with one task. The last column compares with the row above."
            .to_owned(),
        program::table(program, &starts, &trials).to_string(),
        "Costs of the other commands:".to_owned(),
        large::table_of_tools(&large, &trials).to_string(),
        large::references(&large, &trials),
    ];
    let paragraphs: Vec<&str> = paragraphs.iter().map(|text| text.trim_end()).collect();
    Ok(paragraphs.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n") + "\n")
}
