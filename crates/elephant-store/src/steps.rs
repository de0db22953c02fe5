//! Where the configuration of a job changed for good, and how much a run took before and after.

use std::collections::{BTreeMap, BTreeSet};

use super::configured::Settings;
use super::levels::{Basis, Effect, LEAST_RUNS, effect};
use elephant_base::stats::descriptive::mean;
use elephant_base::units::{Millis, Timestamp};
use elephant_verdict::troubles::same_value;

/// A setting that changes more often than once in so many runs, such as the id of a run, decides nothing.
const RUNS_PER_CHANGE: usize = 3;

/// A run that succeeded, and whose memory is known.
#[derive(Debug, Clone)]
pub(super) struct MeasuredRun {
    pub(super) configuration: i64,
    pub(super) id: String,
    pub(super) submitted: Timestamp,
    pub(super) used_gb_hours: f64,
    /// Milliseconds.
    pub(super) run_time: Option<f64>,
    pub(super) core_hours: Option<f64>,
    /// Bytes.
    pub(super) input: Option<f64>,
}

/// A change after which a job took clearly more or less.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    /// The configurations before and after.
    pub(super) configurations: (i64, i64),
    /// The settings that changed.
    pub(super) settings: Vec<String>,
    /// The first run with the new settings.
    pub(super) first: String,
    pub(super) since: Timestamp,
    /// When an earlier configuration came back.
    pub(super) undone: Option<Timestamp>,
    /// Runs before that are compared.
    pub(super) runs_before: usize,
    /// All runs that have the change: those since then, until it was undone.
    pub(super) runs_since: usize,
    /// Memory of a run before and after; with the mean input of all runs since, if costs are compared by it.
    pub(super) used_gb_hours: (f64, f64),
    pub(super) run_time: Option<(Millis, Millis)>,
    /// Core-hours of a run before and after.
    pub(super) core_hours: Option<(f64, f64)>,
    /// Bytes that a run read before and after, if costs are compared for each of them.
    pub(super) input: Option<(f64, f64)>,
    /// The probability of such a change by chance.
    pub(super) p: f64,
}

impl Step {
    /// Whether a run that was submitted then has the change.
    pub(super) fn holds_at(&self, submitted: Timestamp) -> bool {
        submitted >= self.since && self.undone.is_none_or(|undone| submitted < undone)
    }
}

/// The clear changes among the runs of a job, which are in the order of time. Configurations that were tried in a run or
/// two, and settings that change all the time, are passed over. If an earlier configuration comes back, what changed in
/// between is undone.
pub(super) fn steps(runs: &[MeasuredRun], settings: &BTreeMap<i64, Settings>) -> Vec<Step> {
    let kinds = Kinds::of(runs, settings);
    let mut steps: Vec<Step> = Vec::new();
    let mut levels: Vec<Level<'_>> = Vec::new();
    for section in sections(runs, &kinds) {
        if let Some(at) = levels.iter().rposition(|level| level.kind == section.kind) {
            for step in levels.drain(at + 1..).filter_map(|level| level.step) {
                if let (Some(step), Some(first)) = (steps.get_mut(step), section.runs.first()) {
                    step.undone = Some(first.submitted);
                }
            }
            if let Some(level) = levels.last_mut() {
                level.runs = section.runs;
            }
            continue;
        }
        let found = levels.last().and_then(|before| compare(&before.runs, &section.runs, &kinds, settings));
        let step = found.is_some().then_some(steps.len());
        steps.extend(found);
        levels.push(Level { kind: section.kind, runs: section.runs, step });
    }
    for step in &mut steps {
        let since: Vec<&MeasuredRun> = runs.iter().filter(|run| step.holds_at(run.submitted)).collect();
        step.runs_since = since.len();
        let inputs: Vec<f64> = since.iter().filter_map(|run| Basis::Byte.size(run)).collect();
        if let Some(input) = mean(&inputs).filter(|_| step.input.is_some()) {
            step.used_gb_hours = scaled(step.used_gb_hours, input);
            step.core_hours = step.core_hours.map(|hours| scaled(hours, input));
        }
    }
    steps
}

/// Costs for each byte, as those of a run.
fn scaled((before, after): (f64, f64), input: f64) -> (f64, f64) {
    (before * input, after * input)
}

/// A configuration that is in force, or will be again if those after it are undone.
struct Level<'r> {
    kind: Option<usize>,
    runs: Vec<&'r MeasuredRun>,
    /// The change that led to it, if it was clear.
    step: Option<usize>,
}

/// Runs one after the other with configurations of one kind.
struct Section<'r> {
    kind: Option<usize>,
    runs: Vec<&'r MeasuredRun>,
}

/// The sections with enough runs; of others, only their neighbours are joined.
fn sections<'r>(runs: &'r [MeasuredRun], kinds: &Kinds) -> Vec<Section<'r>> {
    let mut all: Vec<Section<'_>> = Vec::new();
    for run in runs {
        let kind = kinds.of_configuration(run.configuration);
        match all.last_mut().filter(|section| section.kind == kind) {
            Some(section) => section.runs.push(run),
            None => all.push(Section { kind, runs: vec![run] }),
        }
    }
    let mut long: Vec<Section<'_>> = Vec::new();
    for section in all.into_iter().filter(|section| section.runs.len() >= LEAST_RUNS) {
        match long.last_mut().filter(|before| before.kind == section.kind) {
            Some(before) => before.runs.extend(section.runs),
            None => long.push(section),
        }
    }
    long
}

/// Configurations of a kind differ only in how values are written, and in settings that change all the time.
struct Kinds {
    by_configuration: BTreeMap<i64, usize>,
    /// The settings that tell kinds apart.
    settings: BTreeSet<String>,
}

impl Kinds {
    fn of(runs: &[MeasuredRun], settings: &BTreeMap<i64, Settings>) -> Self {
        let none = Settings::new();
        let used: BTreeSet<i64> = runs.iter().map(|run| run.configuration).collect();
        let of = |configuration: i64| settings.get(&configuration).unwrap_or(&none);
        let names: BTreeSet<&String> =
            used.iter().flat_map(|&configuration| of(configuration).keys()).collect();
        let mut decisive = BTreeSet::new();
        let mut signatures: BTreeMap<i64, Vec<usize>> =
            used.iter().map(|&configuration| (configuration, Vec::new())).collect();
        for name in names {
            let values = used.iter().map(|&configuration| (configuration, of(configuration).get(name)));
            let Some(values) = told_apart(name, values, runs.len()) else { continue };
            if !decides(runs, &values) {
                continue;
            }
            decisive.insert(name.clone());
            for (configuration, value) in values {
                if let Some(signature) = signatures.get_mut(&configuration) {
                    signature.push(value);
                }
            }
        }
        let mut known: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        let mut kind = |signature: Vec<usize>| {
            let next = known.len();
            *known.entry(signature).or_insert(next)
        };
        let by_configuration = signatures.into_iter().map(|(place, signature)| (place, kind(signature)));
        Self { by_configuration: by_configuration.collect(), settings: decisive }
    }

    fn of_configuration(&self, configuration: i64) -> Option<usize> {
        self.by_configuration.get(&configuration).copied()
    }
}

/// The value of a setting in each configuration, as a number; `None` if there are too many values for so many `runs`.
fn told_apart<'v>(
    name: &str,
    values: impl Iterator<Item = (i64, Option<&'v String>)>,
    runs: usize,
) -> Option<BTreeMap<i64, usize>> {
    let mut known: Vec<Option<&String>> = Vec::new();
    let mut numbers = BTreeMap::new();
    for (configuration, value) in values {
        let is_same = |other: Option<&String>| match (other, value) {
            (Some(other), Some(value)) => other == value || same_value(name, other, value),
            (other, value) => other.is_none() && value.is_none(),
        };
        let number = known.iter().position(|other| is_same(*other)).unwrap_or_else(|| {
            known.push(value);
            known.len() - 1
        });
        numbers.insert(configuration, number);
        if (known.len() - 1) * RUNS_PER_CHANGE > runs {
            return None;
        }
    }
    Some(numbers)
}

/// Whether a setting changes, but not all the time.
fn decides(runs: &[MeasuredRun], values: &BTreeMap<i64, usize>) -> bool {
    let pairs = runs.iter().zip(runs.iter().skip(1));
    let changes = pairs.filter(|(a, b)| values.get(&a.configuration) != values.get(&b.configuration)).count();
    changes > 0 && changes * RUNS_PER_CHANGE <= runs.len()
}

/// The change from one section to another, if it is clear.
fn compare(
    before: &[&MeasuredRun],
    after: &[&MeasuredRun],
    kinds: &Kinds,
    settings: &BTreeMap<i64, Settings>,
) -> Option<Step> {
    let Effect { before, after, basis, p } = effect(before, after)?;
    let sides = (before, after);
    let (last, first) = (before.last()?, after.first()?);
    let time = |ms: f64| Millis::from_f64(ms.round());
    let run_time = Basis::Run.medians(sides, |run| run.run_time);
    let none = Settings::new();
    let of = |run: &MeasuredRun| settings.get(&run.configuration).unwrap_or(&none);
    let changed = |name: &String| match (of(last).get(name), of(first).get(name)) {
        (Some(old), Some(new)) => !same_value(name, old, new),
        (old, new) => old != new,
    };
    Some(Step {
        configurations: (last.configuration, first.configuration),
        settings: kinds.settings.iter().filter(|name| changed(name)).cloned().collect(),
        first: first.id.clone(),
        since: first.submitted,
        undone: None,
        runs_before: before.len(),
        runs_since: 0,
        used_gb_hours: basis.medians(sides, |run| Some(run.used_gb_hours))?,
        run_time: run_time.and_then(|(before, after)| time(before).zip(time(after))),
        core_hours: basis.medians(sides, |run| run.core_hours),
        input: Basis::Run.medians(sides, |run| run.input).filter(|_| basis == Basis::Byte),
        p,
    })
}

#[cfg(test)]
mod tests;
