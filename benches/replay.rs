//! Cost of a replay: jobs of ten thousand tasks with all detectors, in CPU-seconds.
//!
//! One job is read from a generated job history; the others are timelines built here: one wide wave, many
//! waves, and tasks of an hour. Each must stay below two seconds.

#[allow(dead_code)] // other benchmarks use the rest
mod support;

use std::process::ExitCode;

use elephant_rs::internals::benchmarks::replay;
use support::{Format, Job};

fn main() -> ExitCode {
    let mut history = Vec::new();
    let job = Job { maps: u32::try_from(replay::TASKS).unwrap_or(u32::MAX), reduces: 50 };
    // Writing to memory cannot fail; if it did, the benchmark would not show the line of the history.
    let _ = Format::AvroBinary.write(job, &mut history);
    replay::main(&history)
}
