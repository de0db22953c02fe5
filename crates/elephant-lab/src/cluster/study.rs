//! The experiments of S0, each with its varied settings, over seeds.

use rayon::prelude::*;

use super::chances::Chances;
use super::detectors::detector;
use super::outcome::Outcome;
use super::policy::Policy;
use super::run::{Conditions, Run, run};
use super::scenario::{Scenario, ScenarioError};
use super::usual::Usual;
use crate::spread::Spread;

/// An experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Study {
    /// Each detector without a reserve for copies (S0 table 6).
    Characteristics,
    /// Each detector under each policy (S0 table 7, figures 4 to 6).
    Policies,
    /// The first detector with different lags (S0 figure 3).
    Lag,
}

impl Study {
    /// All experiments, in the order of reports.
    pub const ALL: [Self; 3] = [Self::Characteristics, Self::Policies, Self::Lag];

    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Characteristics => "characteristics",
            Self::Policies => "policies",
            Self::Lag => "lag",
        }
    }
}

/// Scenarios for each experiment, and the seeds.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The experiments, each with its scenarios.
    pub studies: Vec<(Study, Vec<Scenario>)>,
    /// The first seed; the others follow it.
    pub first_seed: u64,
    /// How many seeds there are.
    pub seeds: u64,
}

/// The results of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterReport {
    /// The first seed.
    pub first_seed: u64,
    /// How many seeds there are.
    pub seeds: u64,
    /// The experiments, each with its results.
    pub studies: Vec<(Study, Vec<Row>)>,
}

/// The results of one detector under one policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The name of the scenario.
    pub scenario: String,
    /// When copies are started.
    pub policy: Policy,
    /// The name of the detector.
    pub detector: String,
    /// How late the detector sees reports of progress, in seconds.
    pub lag_s: f64,
    /// By [`Metric::ALL`].
    values: [Option<Spread>; Metric::ALL.len()],
}

/// A measure of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Share of flagged tasks that were stragglers and no fakes.
    Precision,
    /// Share of flagged tasks that were stragglers.
    PrecisionRaw,
    /// Share of stragglers that were flagged.
    Recall,
    /// Share of stragglers that were flagged and were no fakes.
    RecallStrict,
    /// Mean time to detection over usual time, of flagged stragglers.
    DetectionLatency,
    /// Share of flagged tasks that were fakes: stragglers that were flagged too late to help.
    FakeRatio,
    /// Mean duration over usual time, of stragglers that were not flagged.
    UndetectedTime,
    /// Executions that were judged.
    Executions,
    /// Stragglers among them.
    Stragglers,
    /// Tasks that were flagged.
    Detected,
    /// Stragglers that were flagged.
    TruePositives,
    /// Flagged stragglers that a copy could not have beaten.
    Fakes,
    /// Executions that were not judged, because they ended too early.
    Undetermined,
    /// Time of the job, in seconds.
    Seconds,
    /// Time of the job over that of the run that it is compared with.
    RelativeTime,
    /// Energy of the cluster during the job, in kilojoules.
    Kilojoules,
    /// Energy over that of the run that it is compared with.
    RelativeEnergy,
    /// Copies that were started.
    Copies,
    /// Copies that ended before the original.
    Successful,
    /// Copies that did not.
    Unsuccessful,
}

impl Metric {
    /// All measures, in the order of reports.
    pub const ALL: [Self; 20] = [
        Self::Precision,
        Self::PrecisionRaw,
        Self::Recall,
        Self::RecallStrict,
        Self::DetectionLatency,
        Self::FakeRatio,
        Self::UndetectedTime,
        Self::Executions,
        Self::Stragglers,
        Self::Detected,
        Self::TruePositives,
        Self::Fakes,
        Self::Undetermined,
        Self::Seconds,
        Self::RelativeTime,
        Self::Kilojoules,
        Self::RelativeEnergy,
        Self::Copies,
        Self::Successful,
        Self::Unsuccessful,
    ];

    /// The name in reports, with the unit as its ending.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Precision => "precision_ratio",
            Self::PrecisionRaw => "precision_raw_ratio",
            Self::Recall => "recall_ratio",
            Self::RecallStrict => "recall_strict_ratio",
            Self::DetectionLatency => "detection_latency_ratio",
            Self::FakeRatio => "fake_positive_ratio",
            Self::UndetectedTime => "undetected_time_ratio",
            Self::Executions => "executions_count",
            Self::Stragglers => "stragglers_count",
            Self::Detected => "detected_count",
            Self::TruePositives => "true_positives_count",
            Self::Fakes => "fakes_count",
            Self::Undetermined => "undetermined_count",
            Self::Seconds => "time_s",
            Self::RelativeTime => "relative_time_ratio",
            Self::Kilojoules => "energy_kj",
            Self::RelativeEnergy => "relative_energy_ratio",
            Self::Copies => "copies_count",
            Self::Successful => "successful_copies_count",
            Self::Unsuccessful => "unsuccessful_copies_count",
        }
    }

    /// The value of a run; `base` is the run that time and energy are compared with.
    fn value(self, run: &Outcome, base: &Outcome) -> Option<f64> {
        let quality = &run.quality;
        let count = |count: u64| Some(count as f64);
        match self {
            Self::Precision => quality.precision(),
            Self::PrecisionRaw => quality.precision_raw(),
            Self::Recall => quality.recall(),
            Self::RecallStrict => quality.recall_strict(),
            Self::DetectionLatency => quality.detection_latency(),
            Self::FakeRatio => quality.fake_positive_ratio(),
            Self::UndetectedTime => quality.undetected_time(),
            Self::Executions => count(quality.tasks),
            Self::Stragglers => count(quality.stragglers),
            Self::Detected => count(quality.detected),
            Self::TruePositives => count(quality.true_positives),
            Self::Fakes => count(quality.fakes),
            Self::Undetermined => count(run.undetermined),
            Self::Seconds => Some(run.seconds),
            Self::RelativeTime => (base.seconds > 0.0).then(|| run.seconds / base.seconds),
            Self::Kilojoules => Some(run.joules / 1000.0),
            Self::RelativeEnergy => (base.joules > 0.0).then(|| run.joules / base.joules),
            Self::Copies => count(run.copies),
            Self::Successful => count(run.successful),
            Self::Unsuccessful => count(run.copies.saturating_sub(run.successful)),
        }
    }
}

impl Row {
    /// The spread of a metric over the seeds; `None` if it is defined for no seed.
    #[must_use]
    pub fn get(&self, metric: Metric) -> Option<Spread> {
        Metric::ALL.iter().zip(self.values).find(|(own, _)| **own == metric).and_then(|(_, value)| value)
    }
}

/// One detector under one policy, with the scenario's other settings.
struct Cell {
    scenario: Scenario,
    policy: Policy,
    detector: String,
}

/// Checks that the detectors of the scenarios exist.
pub fn check(scenarios: &[Scenario]) -> Result<(), ScenarioError> {
    for scenario in scenarios {
        let unknown = scenario.detectors.iter().find(|id| detector(id, &scenario.detection).is_none());
        let problem = match unknown {
            Some(id) => {
                format!("there is no detector \"{id}\"; there are {}", super::detectors::names().join(", "))
            }
            None if scenario.detectors.is_empty() => "there is no detector".to_owned(),
            None => continue,
        };
        return Err(ScenarioError::Value { name: scenario.name.clone(), problem });
    }
    Ok(())
}

/// Runs every experiment of a plan. The result does not depend on the number of threads.
#[must_use]
pub fn simulate(plan: &Plan) -> ClusterReport {
    let seeds: Vec<u64> = (0..plan.seeds).map(|number| plan.first_seed.wrapping_add(number)).collect();
    let studies = plan.studies.iter().map(|(study, scenarios)| {
        let rows = scenarios.iter().flat_map(|scenario| rows(*study, scenario, &seeds));
        (*study, rows.collect())
    });
    ClusterReport { first_seed: plan.first_seed, seeds: plan.seeds, studies: studies.collect() }
}

/// A single run with this seed; `None` if the detector is unknown.
#[must_use]
pub fn single(scenario: &Scenario, policy: Policy, id: &str, seed: u64) -> Option<Run> {
    let usual = Usual::of(scenario, seed);
    let detector = detector(id, &scenario.detection)?;
    let conditions =
        Conditions { policy, detector: Some(detector.as_ref()), usual_progress: usual.progress.as_ref() };
    Some(run(scenario, &Chances::draw(scenario, seed, 0), conditions))
}

fn rows(study: Study, scenario: &Scenario, seeds: &[u64]) -> Vec<Row> {
    let chances: Vec<(Usual, Chances)> =
        seeds.par_iter().map(|&seed| (Usual::of(scenario, seed), Chances::draw(scenario, seed, 0))).collect();
    let cells = cells(study, scenario);
    let runs: Vec<Vec<Option<Outcome>>> = cells
        .par_iter()
        .map(|cell| chances.par_iter().map(|(usual, chances)| outcome(cell, usual, chances)).collect())
        .collect();
    // Time and energy are relative to the first detector with 100, as in S0, or to the first policy.
    let base = cells.iter().position(|cell| cell.policy == Policy::Reserve(100)).unwrap_or_default();
    let Some(base) = runs.get(base) else { return Vec::new() };
    let row = |(cell, runs): (Cell, &Vec<Option<Outcome>>)| {
        let pairs = || runs.iter().zip(base).filter_map(|(run, base)| Some((run.as_ref()?, base.as_ref()?)));
        Row {
            scenario: cell.scenario.name,
            policy: cell.policy,
            detector: cell.detector,
            lag_s: cell.scenario.detection.lag_s,
            values: Metric::ALL.map(|metric| Spread::of(pairs().map(|(run, base)| metric.value(run, base)))),
        }
    };
    cells.into_iter().zip(&runs).map(row).collect()
}

fn outcome(cell: &Cell, usual: &Usual, chances: &Chances) -> Option<Outcome> {
    let detector = detector(&cell.detector, &cell.scenario.detection)?;
    let conditions = Conditions {
        policy: cell.policy,
        detector: Some(detector.as_ref()),
        usual_progress: usual.progress.as_ref(),
    };
    let done = run(&cell.scenario, chances, conditions);
    Some(Outcome::of(&done, &usual.seconds, &cell.scenario.judgement))
}

fn cells(study: Study, scenario: &Scenario) -> Vec<Cell> {
    let cell =
        |policy, detector: &String| Cell { scenario: scenario.clone(), policy, detector: detector.clone() };
    let of_policy = |&policy: &Policy| scenario.detectors.iter().map(move |detector| cell(policy, detector));
    match study {
        Study::Characteristics => of_policy(&Policy::Reserve(100)).collect(),
        Study::Policies => scenario.policies.iter().flat_map(of_policy).collect(),
        Study::Lag => {
            let with_lag = |(&lag_s, detector)| {
                let mut cell = cell(Policy::Reserve(100), detector);
                cell.scenario.detection.lag_s = lag_s;
                cell
            };
            let first = scenario.detectors.first();
            first.map_or_else(Vec::new, |first| {
                scenario.lags_s.iter().map(|lag| with_lag((lag, first))).collect()
            })
        }
    }
}
