//! Command-line options of the benchmark.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Parser;

/// Measures the packagers' build on generated logs, compared with `wc`, `zstd` and `jq`.
#[derive(Parser)]
#[command(name = "cargo bench --bench histories --", bin_name = "cargo bench --bench histories --")]
pub(crate) struct Options {
    /// Measure a tenth of the size in two rounds; not for `docs/speed.md`
    #[arg(long)]
    pub(crate) quick: bool,
    /// Also measure the memory for an event log of 4 GB
    #[arg(long)]
    pub(crate) huge: bool,
    /// Run every command N times
    #[arg(long, value_name = "N")]
    pub(crate) rounds: Option<NonZeroUsize>,
    /// Keep the logs in this folder; by default bench-data in Cargo's target folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data: Option<PathBuf>,
    /// Remove the logs at the end
    #[arg(long)]
    pub(crate) remove: bool,
    /// Only remove the logs of earlier runs
    #[arg(long)]
    pub(crate) only_remove: bool,
    /// Also write the result between the markers of this file
    #[arg(long, value_name = "FILE")]
    pub(crate) write: Option<PathBuf>,
    /// Measure this executable; by default the one just built
    #[arg(long, value_name = "FILE", default_value = env!("CARGO_BIN_EXE_elephant-rs"))]
    pub(crate) program: PathBuf,
    /// Count instructions instead (needs valgrind), of this executable or git revision and of --program
    #[arg(long, value_name = "VERSION")]
    pub(crate) instructions: Option<String>,
    /// Only write the logs
    #[arg(long)]
    pub(crate) only_prepare: bool,
    /// Only decompress a file of Spark's `LZ4Block`, which no tool reads
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) unpack: Option<PathBuf>,
    /// Passed by cargo to benchmarks
    #[arg(long, hide = true)]
    pub(crate) bench: bool,
}
