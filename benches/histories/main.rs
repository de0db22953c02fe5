//! Whole runs of the command on large histories: CPU time, wall time and peak memory.
//!
//! `cargo bench --bench histories` writes its histories once, to `target/bench-data`, runs the release build
//! on them and prints a table; `-- --quick` does the same in little time. Nothing is asserted: machines
//! differ, so each time also stands beside the time of `wc -l` on the same file in the same run, and that of
//! packed files beside the time that unpacking alone takes.

#![allow(clippy::print_stdout)] // a table is what this is for

mod input;
mod measure;
#[path = "../support/mod.rs"]
mod support;
mod table;

use std::fs;
use std::io;
use std::path::Path;

use input::{Content, Input};
use measure::Row;
use support::spark::SparkJob;
use support::spark::codec::Codec;
use support::{Format, Job};

/// How much is measured.
struct Plan {
    inputs: [Input; 6],
    runs: usize,
}

const fn map_reduce(format: Format, job: Job) -> Input {
    Input { content: Content::MapReduce(format, job), threads: &[Some(1)] }
}

const fn spark(tasks: u32, codec: Codec) -> Input {
    Input { content: Content::Spark(SparkJob::of(tasks), codec), threads: &[Some(1), None] }
}

impl Plan {
    const FULL: Self = Self {
        inputs: [
            map_reduce(Format::AvroJson, Job { maps: 100_000, reduces: 500 }),
            map_reduce(Format::AvroBinary, Job { maps: 100_000, reduces: 500 }),
            map_reduce(Format::Hadoop1, Job { maps: 20_000, reduces: 100 }),
            spark(190_000, Codec::Plain),
            spark(190_000, Codec::Zstd),
            spark(190_000, Codec::Lz4),
        ],
        runs: 5,
    };
    const QUICK: Self = Self {
        inputs: [
            map_reduce(Format::AvroJson, Job { maps: 10_000, reduces: 50 }),
            map_reduce(Format::AvroBinary, Job { maps: 10_000, reduces: 50 }),
            map_reduce(Format::Hadoop1, Job { maps: 10_000, reduces: 50 }),
            spark(20_000, Codec::Plain),
            spark(20_000, Codec::Zstd),
            spark(20_000, Codec::Lz4),
        ],
        runs: 2,
    };
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [option, file] = arguments.as_slice()
        && option == measure::UNPACK
    {
        return measure::unpack(Path::new(file));
    }
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("histories: runs with `cargo bench` only");
        return Ok(());
    }
    let plan = if arguments.iter().any(|argument| argument == "--quick") { Plan::QUICK } else { Plan::FULL };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("bench-data");
    fs::create_dir_all(&folder)?;
    let mut rows = Vec::new();
    for input in plan.inputs {
        for &threads in input.threads {
            rows.push(Row::measure(input, threads, plan.runs, &folder)?);
        }
    }
    table::print(&rows);
    table::print_references(&rows);
    Ok(())
}
