//! Compares the costs of a job's runs with the accepted runs.

use super::growth::Growth;
use super::run::unfit;
use super::spread::{Tolerance, range};
use super::{Job, Run};
use crate::results::{ApplicationReport, Metric, MetricChange, MetricVerdict, NotCompared, Range};

/// The costs of the runs of one job.
#[derive(Debug, Default)]
pub(super) struct Costs {
    /// The worst run of each metric.
    pub(super) metrics: Vec<MetricChange>,
    /// Runs that were not compared.
    pub(super) not_compared: Vec<NotCompared>,
    /// When the first regressed run started.
    pub(super) regressed_since: Option<String>,
}

/// Compares each of `apps` with the accepted runs of `job`.
pub(super) fn compare(job: &Job, apps: &[&ApplicationReport], tolerance: &Tolerance) -> Costs {
    let mut costs = Costs::default();
    let (mut fit, mut parts) = (Vec::new(), Vec::new());
    for app in apps {
        let run = Run::of(app);
        let unfit = unfit(app);
        if !app.complete && settled(job, &run).is_none() && !job.incomplete_runs.contains(&run.run) {
            parts.push((app.id.as_str(), Run::at_least(app)));
        }
        match unfit.or_else(|| settled(job, &run)) {
            Some(reason) => {
                let (application, unfit) = (app.id.clone(), unfit.is_some());
                costs.not_compared.push(NotCompared { application, reason, unfit });
            }
            None => fit.push((app.id.as_str(), run)),
        }
    }
    if !tolerance.metrics {
        return costs;
    }
    let whole = fit.iter().map(|run| (run, false));
    let compared = whole.chain(parts.iter().map(|run| (run, true)));
    let compared: Vec<(&(&str, Run), bool, Growth)> =
        compared.map(|(run, at_least)| (run, at_least, Growth::of(&job.runs, &run.1))).collect();
    for metric in Metric::ALL {
        let accepted: Vec<f64> = job.runs.iter().filter_map(|run| run.cost(metric)).collect();
        let Some(range) = range(&accepted, tolerance.of(metric)) else { continue };
        let mut worst: Option<MetricChange> = None;
        let (mut runs, mut regressed_runs) = (0, 0);
        for ((id, run), at_least, growth) in &compared {
            let Some(value) = run.cost(metric) else { continue };
            let at_least = *at_least;
            let change = MetricChange { at_least, ..change(metric, id, value, range, growth) };
            // More than is accepted in a part is more in the whole; less says nothing.
            if at_least && change.verdict != MetricVerdict::Regressed {
                continue;
            }
            runs += 1;
            if change.verdict == MetricVerdict::Regressed {
                regressed_runs += 1;
            }
            // A part does not tell what the whole run costs, so it does not begin a new level.
            if change.verdict == MetricVerdict::Regressed && !at_least {
                costs.regressed_since = earliest(costs.regressed_since.take(), run.started_at.clone());
            }
            if worst.as_ref().is_none_or(|worst| is_worse(&change, worst)) {
                worst = Some(change);
            }
        }
        costs.metrics.extend(worst.map(|worst| MetricChange { runs, regressed_runs, ..worst }));
    }
    costs.not_compared.extend(without_counterpart(job, fit));
    costs
}

/// The runs with costs that no accepted run has.
fn without_counterpart(job: &Job, fit: Vec<(&str, Run)>) -> Vec<NotCompared> {
    let has_costs = |run: &Run| Metric::ALL.into_iter().any(|metric| run.cost(metric).is_some());
    if job.runs.iter().any(has_costs) {
        return Vec::new();
    }
    let reason = "no accepted run of the job has costs to compare with";
    let not_compared = |(id, _): (&str, Run)| NotCompared { application: id.to_owned(), reason, unfit: true };
    fit.into_iter().filter(|(_, run)| has_costs(run)).map(not_compared).collect()
}

/// Why a run is not compared again; `None` if it is new.
pub(super) fn settled(job: &Job, run: &Run) -> Option<&'static str> {
    if job.runs.iter().any(|known| known.run == run.run) {
        return Some("the baseline already contains this run");
    }
    let is_before =
        job.since.as_ref().is_some_and(|since| run.started_at.as_ref().is_none_or(|at| at < since));
    is_before.then_some("it is older than the accepted runs")
}

fn change(metric: Metric, id: &str, value: f64, range: Range, growth: &Growth) -> MetricChange {
    let limit_growth = growth.of_limit(metric);
    let range = range.grown(limit_growth.factor);
    let verdict = if value > range.high {
        MetricVerdict::Regressed
    } else if value < range.low {
        MetricVerdict::Improved
    } else {
        MetricVerdict::Steady
    };
    let application = id.to_owned();
    MetricChange {
        metric,
        verdict,
        application,
        value,
        at_least: false,
        range,
        input_growth: growth.input,
        limit_growth,
        runs: 0,
        regressed_runs: 0,
    }
}

/// If two runs regressed, the one further beyond its limit is worse; otherwise the verdict decides.
fn is_worse(one: &MetricChange, other: &MetricChange) -> bool {
    let beyond = |change: &MetricChange| change.value - change.range.high;
    one.verdict < other.verdict || (one.verdict == other.verdict && beyond(one) > beyond(other))
}

fn earliest(one: Option<String>, other: Option<String>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
