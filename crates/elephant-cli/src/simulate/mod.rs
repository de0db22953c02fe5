//! `elephant-rs simulate …`: detectors of stragglers where the truth is known.

mod cluster;
mod patterns;

use std::error::Error;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use rayon::ThreadPoolBuilder;

use super::counts::threads;
use super::output::{Output, OutputError};
use super::{Color, Exit};
use elephant_report::simulate::SimulationFormat;

pub(super) const EXAMPLES: &str = "\
Examples:
  elephant-rs simulate cluster
      how well detectors find stragglers on clusters with slow nodes, and what
      copies of stragglers cost
  elephant-rs simulate patterns
      how early detectors find stragglers with given patterns of progress";

/// More seeds take hours and change little.
const MOST_SEEDS: u64 = 10_000;

#[derive(Debug, Subcommand)]
pub(super) enum Simulate {
    /// Run a job on a cluster with slow nodes: quality of detectors, time, energy and copies
    #[command(after_help = cluster::EXAMPLES)]
    Cluster(cluster::Cluster),
    /// Run tasks with given patterns of progress, or with those of recorded runs: how early detectors find stragglers
    #[command(after_help = patterns::EXAMPLES)]
    Patterns(patterns::Patterns),
}

impl Simulate {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        match self {
            Self::Cluster(cluster) => cluster.run(),
            Self::Patterns(patterns) => patterns.run(),
        }
    }
}

/// Options of all simulations.
#[derive(Debug, Args)]
struct SimulationArgs {
    /// Repeat with N seeds, to show how much results vary
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = seeds, default_value_t = 20)]
    seeds: u64,
    /// The first seed; the others follow it. The same seed gives the same result everywhere
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Write the report to a file; the file appears whole or not at all
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Use N threads (1 to 1024) [default: one per processor]
    #[arg(long, short, value_name = "N", allow_negative_numbers = true, value_parser = threads)]
    jobs: Option<u16>,
    /// When to use colour; auto also honours `NO_COLOR`
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    color: Color,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// For people at a terminal
    Text,
    /// For scripts, with the spread over the seeds
    Json,
    /// For spreadsheets, one row per metric
    Csv,
    /// For papers and pages: the figures, as one picture
    Svg,
}

impl From<Format> for SimulationFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Text => Self::Text,
            Format::Json => Self::Json,
            Format::Csv => Self::Csv,
            Format::Svg => Self::Svg,
        }
    }
}

impl SimulationArgs {
    fn open_output(&self) -> Result<Output, OutputError> {
        Output::open(self.output.as_deref())
    }

    /// Runs `work` on the chosen number of threads.
    fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, rayon::ThreadPoolBuildError> {
        let pool = ThreadPoolBuilder::new().num_threads(self.jobs.map_or(0, usize::from)).build()?;
        Ok(pool.install(work))
    }
}

fn seeds(text: &str) -> Result<u64, String> {
    let count = text.parse().ok().filter(|count| (1..=MOST_SEEDS).contains(count));
    count.ok_or_else(|| format!("expected a whole number from 1 to {MOST_SEEDS}, got \"{text}\""))
}
