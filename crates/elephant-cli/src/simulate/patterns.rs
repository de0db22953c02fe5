//! `elephant-rs simulate patterns`

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::{fs, io};

use clap::Args;
use thiserror::Error;

use super::super::Exit;
use super::super::counts::positive_count;
use super::super::filter_args::FilterArgs;
use super::super::limits::LimitArgs;
use super::super::output::print_message;
use super::super::path_args::{Inputs, ListArgs, StdinArgs};
use super::super::warnings;
use super::SimulationArgs;
use elephant_base::address::Address;
use elephant_engine::engine::Progress;
use elephant_lab::patterns::settings::{SHIPPED, Settings};
use elephant_lab::patterns::{PatternsReport, Seeds, simulate, simulate_from};
use elephant_report::simulate::write_patterns;

pub(super) const EXAMPLES: &str = "\
All tasks of a job start at once; some are stragglers, whose progress falls behind from some time on. Detectors see \
noisy reports of progress. This is the simulation of Garraghan et al., \"Straggler Root-Cause and Impact Analysis for \
Massive-scale Virtualized Cloud Datacenters\" (2019), section 7.3. With --from, the patterns of progress, the share of \
stragglers and the noise are those of recorded runs: one pattern for each stage, or for the maps or reduces of a job.

Examples:
  elephant-rs simulate patterns
      the two workloads of the paper
  elephant-rs simulate patterns --from history/
      patterns of your own jobs
  elephant-rs simulate patterns --print-scenario > mine.yaml
      the scenario, to edit it for simulate patterns mine.yaml

Exit status: 0 the simulation ran, 2 it failed.";

#[derive(Debug, Args)]
pub(crate) struct Patterns {
    /// Learn the patterns from the event logs and job histories below these paths
    #[arg(long, value_name = "PATH", num_args = 1..)]
    from: Vec<PathBuf>,
    #[command(flatten)]
    list: ListArgs,
    #[command(flatten)]
    stdin: StdinArgs,
    /// With --from: simulate only the N groups of tasks with the most stragglers
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = positive_count, default_value = "5")]
    top: NonZeroUsize,
    /// A YAML file with jobs, detectors and patterns
    #[arg(value_name = "SCENARIO")]
    settings: Option<PathBuf>,
    #[command(flatten)]
    common: SimulationArgs,
    /// Print the built-in scenario with all its settings and exit
    #[arg(long, conflicts_with_all = ["settings", "from", "files_from"])]
    print_scenario: bool,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    filters: FilterArgs,
}

#[derive(Debug, Error)]
#[error("cannot read the scenario {}: {source}", Address::of(path))]
struct SettingsError {
    path: PathBuf,
    source: io::Error,
}

impl Patterns {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let output = self.common.open_output()?;
        if self.print_scenario {
            output.write(|out| out.write_all(SHIPPED.as_bytes()))?;
            return Ok(Exit::Clean);
        }
        let settings = self.settings()?;
        let inputs = self.stdin.with(&self.from, self.list.read()?)?;
        let report = self.common.run(|| self.report(&settings, &inputs))?;
        let text = output.text_options(self.common.color);
        output.write(|out| write_patterns(&report, self.common.format.into(), text, out))?;
        Ok(exit(&report))
    }

    fn settings(&self) -> Result<Settings, Box<dyn Error>> {
        let Some(path) = &self.settings else { return Ok(Settings::read(SHIPPED, "the built-in settings")?) };
        let text = fs::read_to_string(path).map_err(|source| SettingsError { path: path.clone(), source })?;
        Ok(Settings::read(&text, &Address::of(path).to_string())?)
    }

    fn report(&self, settings: &Settings, inputs: &Inputs<'_>) -> PatternsReport {
        let seeds = Seeds { first: self.common.seed, count: self.common.seeds };
        if inputs.files().is_empty() {
            return simulate(settings, seeds);
        }
        let (filter, limits, progress) = (self.filters.filter(), self.limits.limits(), Progress::default());
        simulate_from(inputs.named(), (&filter, &limits, &progress), (settings, self.top.get()), seeds)
    }
}

/// Status 2 if an input could not be read, or if there was no application.
fn exit(report: &PatternsReport) -> Exit {
    let Some(source) = &report.source else { return Exit::Clean };
    warnings::print(&source.problems, None);
    if source.named_input_failed {
        return Exit::Failure;
    }
    if source.files.applications == 0 {
        print_message("error", "no application was read");
        return Exit::Failure;
    }
    Exit::Clean
}
