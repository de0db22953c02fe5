//! What the benchmark is told to do.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Parser;

/// Measures the release build on histories that it writes itself, beside `wc`, `zstd` and `jq`.
#[derive(Parser)]
#[allow(clippy::struct_excessive_bools)] // switches of a command line
#[command(name = "cargo bench --bench histories --", bin_name = "cargo bench --bench histories --")]
pub(crate) struct Options {
    /// Measure a tenth of the size, in two rounds: for a look, not for the README
    #[arg(long)]
    pub(crate) quick: bool,
    /// Also measure the memory for an event log of 4 GB
    #[arg(long)]
    pub(crate) huge: bool,
    /// Run every command N times
    #[arg(long, value_name = "N")]
    pub(crate) rounds: Option<NonZeroUsize>,
    /// Keep the histories here; by default in bench-data below Cargo's target folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data: Option<PathBuf>,
    /// Remove the histories at the end
    #[arg(long)]
    pub(crate) remove: bool,
    /// Remove the histories of earlier runs and measure nothing
    #[arg(long)]
    pub(crate) only_remove: bool,
    /// Write the result between the markers of this file, too
    #[arg(long, value_name = "FILE")]
    pub(crate) write: Option<PathBuf>,
    /// Measure this executable; by default the one that was just built
    #[arg(long, value_name = "FILE", default_value = env!("CARGO_BIN_EXE_elephant-rs"))]
    pub(crate) program: PathBuf,
    /// Count instructions instead (needs valgrind): of this executable or git revision, and of --program
    #[arg(long, value_name = "VERSION")]
    pub(crate) instructions: Option<String>,
    /// Write the histories and measure nothing
    #[arg(long)]
    pub(crate) only_prepare: bool,
    /// Unpack a file of Spark's `LZ4Block`, for which there is no tool, and do nothing else
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) unpack: Option<PathBuf>,
    /// What cargo says to a benchmark
    #[arg(long, hide = true)]
    pub(crate) bench: bool,
}
