//! The settings of the simulated jobs.

use serde::Deserialize;

use super::pattern::{Curve, Pattern};
use crate::cluster::scenario::ScenarioError;
use elephant_analysis::stragglers::detect;

/// S2's simulation.
pub const SHIPPED: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/patterns.yaml"));
/// More tasks, or more jobs, take hours.
const MOST: usize = 100_000;

/// Shorter times between scans take hours, too.
const LEAST_SCAN: f64 = 0.01;

/// Jobs and the patterns of their tasks. The file explains the settings.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub(crate) jobs: usize,
    pub(crate) tasks: usize,
    pub(crate) straggler_share: f64,
    pub(crate) first_scan_s: f64,
    pub(crate) scan_s: f64,
    pub(crate) correlation: f64,
    pub(crate) detectors: Vec<String>,
    pub(crate) workloads: Vec<Workload>,
}

/// A pattern of progress, as formulas.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Workload {
    pub(crate) name: String,
    pub(crate) usual_s: f64,
    pub(crate) exponent: f64,
    pub(crate) straggler_s: f64,
    pub(crate) onset_s: f64,
    pub(crate) straggler_exponent: f64,
    pub(crate) noise: f64,
    pub(crate) noise_fades_s: f64,
    /// Its own correlation of the noise, if it differs from that of the settings.
    pub(crate) correlation: Option<f64>,
}

impl Workload {
    /// The formulas as curves.
    fn pattern(&self, correlation: f64, straggler_share: f64) -> Pattern {
        let Self {
            usual_s, exponent, straggler_s, onset_s, straggler_exponent, noise, noise_fades_s, ..
        } = *self;
        let usual = move |time: f64| (time / usual_s).clamp(0.0, 1.0).powf(exponent);
        let straggler = move |time: f64| {
            if time <= onset_s {
                return usual(time);
            }
            let since = ((time - onset_s) / (straggler_s - onset_s)).clamp(0.0, 1.0);
            let onset = usual(onset_s);
            onset + (1.0 - onset) * since.powf(straggler_exponent)
        };
        Pattern {
            usual: Curve::of(usual_s, usual),
            straggler: Curve::of(straggler_s, straggler),
            noise: Curve::of(straggler_s, |time| noise * (-time / noise_fades_s).exp()),
            correlation: self.correlation.unwrap_or(correlation),
            straggler_share,
        }
    }
}

impl Settings {
    /// Reads settings; `name` is for messages.
    pub fn read(text: &str, name: &str) -> Result<Self, ScenarioError> {
        let wrong = |source| ScenarioError::Yaml { name: name.to_owned(), source };
        let settings: Self = serde_yaml::from_str(text).map_err(wrong)?;
        match settings.problem() {
            Some(problem) => Err(ScenarioError::Value { name: name.to_owned(), problem }),
            None => Ok(settings),
        }
    }

    /// The patterns of the workloads, by name.
    #[must_use]
    pub(super) fn patterns(&self) -> Vec<(String, Pattern)> {
        let pattern = |it: &Workload| (it.name.clone(), it.pattern(self.correlation, self.straggler_share));
        self.workloads.iter().map(pattern).collect()
    }

    fn problem(&self) -> Option<String> {
        let positive = |name: &str, value: f64| {
            (!(value > 0.0 && value < 1e6)).then(|| format!("{name} is {value}, not above 0"))
        };
        let share = |name: &str, value: f64| {
            (!(0.0..=1.0).contains(&value)).then(|| format!("{name} is {value}, not from 0 to 1"))
        };
        let count = |name: &str, value: usize| {
            (!(1..=MOST).contains(&value)).then(|| format!("{name} is {value}, not from 1 to {MOST}"))
        };
        let known = detect::all();
        let unknown =
            self.detectors.iter().find(|id| !known.iter().any(|detector| detector.id() == id.as_str()));
        let of_workload = |it: &Workload| {
            positive("usual_s", it.usual_s)
                .or_else(|| positive("exponent", it.exponent))
                .or_else(|| positive("straggler_s", it.straggler_s))
                .or_else(|| positive("straggler_exponent", it.straggler_exponent))
                .or_else(|| positive("noise_fades_s", it.noise_fades_s))
                .or_else(|| it.correlation.and_then(|value| share("correlation", value)))
                .or_else(|| (!(0.0..10.0).contains(&it.noise)).then(|| format!("noise is {}", it.noise)))
                .or_else(|| {
                    let possible = it.onset_s >= 0.0 && it.onset_s < it.straggler_s.min(it.usual_s);
                    (!possible).then(|| format!("onset_s is {}, not before the end", it.onset_s))
                })
                .map(|problem| format!("{}: {problem}", it.name))
        };
        count("jobs", self.jobs)
            .or_else(|| count("tasks", self.tasks))
            .or_else(|| share("straggler_share", self.straggler_share))
            .or_else(|| share("correlation", self.correlation))
            .or_else(|| positive("first_scan_s", self.first_scan_s))
            .or_else(|| positive("scan_s", self.scan_s))
            .or_else(|| (self.scan_s < LEAST_SCAN).then(|| format!("scan_s is {}, too small", self.scan_s)))
            .or_else(|| unknown.map(|id| format!("there is no detector \"{id}\"")))
            .or_else(|| self.workloads.iter().find_map(of_workload))
    }
}
