//! `elephant-rs simulate cluster`

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::{Args, ValueEnum, ValueHint};
use thiserror::Error;

use super::super::Exit;
use super::super::output::Output;
use super::SimulationArgs;
use elephant_base::address::Address;
use elephant_lab::cluster::policy::Policy;
use elephant_lab::cluster::scenario::Scenario;
use elephant_lab::cluster::study::{Plan, Study, check, simulate, single};
use elephant_report::simulate::{write_cluster, write_history};

pub(super) const EXAMPLES: &str = "\
Some nodes have fewer active cores, so tasks on them take longer. Detectors look for these stragglers while the job \
runs, copies of what they flag run on other nodes, and the result is judged by the usual times of the tasks. This is \
the testbed of Phan et al., \"A New Framework for Evaluating Straggler Detection Mechanisms in MapReduce\" (2019), \
with its clusters C1 to C4; docs/lab/simulate.md says which of its results are reproduced.

Examples:
  elephant-rs simulate cluster
      all tables and figures
  elephant-rs simulate cluster --format svg --output figures.svg
      the same as a picture
  elephant-rs simulate cluster --print-scenario C2 > mine.yaml
      a scenario with all its settings, to edit it
  elephant-rs simulate cluster mine.yaml --detector default,mr2-legacy
      two detectors on your own cluster
  elephant-rs simulate cluster C4 --write-histories runs/
      also write the runs of the first seed as job histories, for stragglers runs/

Exit status: 0 the simulation ran, 2 it failed.";

#[derive(Debug, Args)]
pub(crate) struct Cluster {
    /// Built-in scenarios or YAML files [default: C1 to C4; policies and lags with C2 only]
    #[arg(value_name = "SCENARIO", value_hint = ValueHint::AnyPath)]
    scenario: Vec<String>,
    /// What to vary; repeatable [default: everything]
    #[arg(long, value_enum, value_delimiter = ',')]
    study: Vec<StudyArg>,
    /// Percentage of the containers for original attempts, or shared; instead of those of the scenario
    #[arg(long, value_name = "POLICY", value_delimiter = ',', value_parser = Policy::parse)]
    policy: Vec<Policy>,
    /// Detectors, by their names in stragglers; instead of those of the scenario
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    detector: Vec<String>,
    #[command(flatten)]
    common: SimulationArgs,
    /// Also write the runs of the first seed to a folder, as job histories
    #[arg(long, value_name = "FOLDER")]
    write_histories: Option<PathBuf>,
    /// List the built-in scenarios and exit
    #[arg(long, conflicts_with_all = ["scenario", "print_scenario", "write_histories"])]
    list: bool,
    /// Print a built-in scenario with all its settings and exit
    #[arg(long, value_name = "NAME", conflicts_with_all = ["scenario", "write_histories"])]
    print_scenario: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StudyArg {
    /// Each detector without a reserve for copies (table 6)
    Characteristics,
    /// Each detector under each policy (table 7, figures 4 to 6)
    Policies,
    /// The first detector with different lags (figure 3)
    Lag,
}

impl From<StudyArg> for Study {
    fn from(study: StudyArg) -> Self {
        match study {
            StudyArg::Characteristics => Self::Characteristics,
            StudyArg::Policies => Self::Policies,
            StudyArg::Lag => Self::Lag,
        }
    }
}

#[derive(Debug, Error)]
enum ClusterError {
    #[error("there is no scenario \"{0}\"; give a YAML file or a built-in scenario: {known}", known = known())]
    Unknown(String),
    #[error("cannot read the scenario {}: {source}", Address::of(path))]
    Read { path: PathBuf, source: io::Error },
    #[error("{} already exists; choose another folder for --write-histories", Address::of(.0))]
    Exists(PathBuf),
    #[error("cannot create the folder {}: {source}", Address::of(path))]
    Folder { path: PathBuf, source: io::Error },
}

fn known() -> String {
    Scenario::shipped_names().collect::<Vec<_>>().join(", ")
}

impl Cluster {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let output = self.common.open_output()?;
        if let Some(text) = self.text()? {
            output.write(|out| out.write_all(text.as_bytes()))?;
            return Ok(Exit::Clean);
        }
        let plan = self.plan()?;
        let report = self.common.run(|| simulate(&plan))?;
        if let Some(folder) = &self.write_histories {
            self.write_runs(folder)?;
        }
        let text = output.text_options(self.common.color);
        output.write(|out| write_cluster(&report, self.common.format.into(), text, out))?;
        Ok(Exit::Clean)
    }

    /// The text that `--list` or `--print-scenario` prints.
    fn text(&self) -> Result<Option<String>, ClusterError> {
        if let Some(name) = &self.print_scenario {
            let text = Scenario::shipped_text(name).ok_or_else(|| ClusterError::Unknown(name.clone()))?;
            return Ok(Some(text));
        }
        let line = |name: &str| {
            let text = Scenario::shipped_text(name)?;
            Some(format!("{name}  {}\n", text.lines().next()?.trim_start_matches(['#', ' '])))
        };
        Ok(self.list.then(|| Scenario::shipped_names().filter_map(line).collect()))
    }

    fn plan(&self) -> Result<Plan, Box<dyn Error>> {
        let scenarios = self.scenarios()?;
        let second = || scenarios.iter().filter(|scenario| scenario.name == "C2").cloned().collect();
        let of_study = |study: Study| match study {
            // The paper varies policies and lags on C2 only.
            Study::Policies | Study::Lag if self.scenario.is_empty() => (study, second()),
            _ => (study, scenarios.clone()),
        };
        let wanted =
            |study: &Study| self.study.is_empty() || self.study.iter().any(|it| Study::from(*it) == *study);
        let studies = Study::ALL.into_iter().filter(wanted).map(of_study).collect();
        Ok(Plan { studies, first_seed: self.common.seed, seeds: self.common.seeds })
    }

    fn scenarios(&self) -> Result<Vec<Scenario>, Box<dyn Error>> {
        let built_in: Vec<String> = Scenario::shipped_names().map(str::to_owned).collect();
        let names = if self.scenario.is_empty() { &built_in } else { &self.scenario };
        let mut scenarios = Vec::new();
        for name in names {
            let mut scenario = read(name)?;
            if !self.policy.is_empty() {
                scenario.policies.clone_from(&self.policy);
            }
            if !self.detector.is_empty() {
                scenario.detectors.clone_from(&self.detector);
            }
            scenarios.push(scenario);
        }
        check(&scenarios)?;
        Ok(scenarios)
    }

    /// Writes a history for each scenario, policy and detector. Without `--policy`, copies have no reserve.
    fn write_runs(&self, folder: &Path) -> Result<(), Box<dyn Error>> {
        fs::create_dir_all(folder)
            .map_err(|source| ClusterError::Folder { path: folder.to_owned(), source })?;
        let policies = if self.policy.is_empty() { &[Policy::Reserve(100)][..] } else { &self.policy };
        let seed = self.common.seed;
        let mut number = 0;
        for scenario in self.scenarios()? {
            for &policy in policies {
                for detector in &scenario.detectors {
                    let Some(run) = single(&scenario, policy, detector, seed) else { continue };
                    number += 1;
                    let name = format!("{} {detector} {policy}", scenario.name);
                    let path = folder.join(format!("job_{seed}_{number:04}.jhist"));
                    if path.exists() {
                        return Err(ClusterError::Exists(path).into());
                    }
                    let output = Output::open(Some(&path))?;
                    output.write(|out| write_history(&scenario, &run, &name, (seed, number), out))?;
                }
            }
        }
        Ok(())
    }
}

/// A built-in scenario, or that of a file.
fn read(name: &str) -> Result<Scenario, Box<dyn Error>> {
    if let Some(scenario) = Scenario::shipped(name) {
        return Ok(scenario?);
    }
    let path = Path::new(name);
    if !path.exists() {
        return Err(ClusterError::Unknown(name.to_owned()).into());
    }
    let text =
        fs::read_to_string(path).map_err(|source| ClusterError::Read { path: path.to_owned(), source })?;
    Ok(Scenario::read(&text, name)?)
}
