//! Compares two runs of the same job, or two sets of runs.
//!
//! A [`Side`] is read from the JSON report of `analyze`. Histories are analysed with details first, so
//! histories and stored reports are compared in the same way. Runs are paired by job definition
//! ([`JobKey`](crate::results::JobKey)), by user where both sides have the same ones, and then by start
//! time. A single run on each side is always a pair, whatever the names. Phases are paired by name, because
//! a stage's id differs from run to run.

mod account;
mod analysed;
mod configuration;
mod figures;
mod findings;
mod jobs;
mod pair;
mod phases;
mod plans;
mod queries;
mod side;

use std::cmp::Ordering;

use crate::results::Sort;
use elephant_base::severity::Severity;

pub use account::{PartOfSide, PartPair};
pub use configuration::{Configuration, Setting};
pub use figures::{Figure, Unit};
pub use findings::{FindingPair, Move};
pub use jobs::{JobPairs, Total};
pub use phases::PhasePair;
pub use plans::PlanChange;
pub(crate) use plans::computed_by;
pub use queries::{Queries, QueryPair};
pub use side::{
    Finding, Metrics, NotEvaluated, Operator, Part, Phase, Query, Run, SchedulerIdentity, Side, SideError,
    Tasks, Wall,
};

/// Options of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Also show settings that differ between any two runs: ids, ports, folders of a run.
    pub all_configuration: bool,
}

/// The comparison of two sides.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Diff {
    /// Runs of the same job, ordered by job key and start.
    pub pairs: Vec<Pair>,
    /// Runs that only the first side has.
    pub only_a: Vec<Label>,
    /// Runs that only the second side has.
    pub only_b: Vec<Label>,
    /// The order of the pairs that changed.
    pub(crate) order: Sort,
}

/// Two runs of the same job.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Pair {
    /// The first side's run.
    pub a: Label,
    /// The second side's run.
    pub b: Label,
    /// Their costs; values unknown on both sides are absent.
    pub figures: Vec<Figure>,
    /// Where their run times went, the part that changed most first; `None` if a side is a report without it.
    pub account: Option<Vec<PartPair>>,
    /// Their phases in order; `None` if a side is a report without details.
    pub phases: Option<Vec<PhasePair>>,
    /// Their queries; `None` if a side is a report without details, or has no queries.
    pub queries: Option<Queries>,
    /// Settings that differ; `None` if a side lacks its configuration.
    pub configuration: Option<Configuration>,
    /// Findings of either side, new ones first.
    pub findings: Vec<FindingPair>,
    /// Notes on what could not be compared, and why.
    pub notes: Vec<String>,
}

/// A short description of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Label {
    /// Its job definition.
    pub job: String,
    /// The application's id.
    pub id: String,
    /// Its name.
    pub name: Option<String>,
    /// Who ran it.
    pub user: Option<String>,
    /// How it ended.
    pub status: String,
    /// When it was submitted or started, RFC 3339.
    pub started_at: Option<String>,
}

/// Run times that differ by less than this share are the same: the same run takes a little more or less each time.
const SAME_RUN_TIME: f64 = 0.05;

#[doc(hidden)]
impl Diff {
    /// The pairs that changed, the one whose run time changed most first, or in the order that was asked for.
    pub(crate) fn largest(&self) -> Vec<&Pair> {
        let mut changed: Vec<&Pair> = self.pairs.iter().filter(|pair| pair.changed()).collect();
        // The sort is stable: equal changes stay in the order of the jobs.
        changed.sort_by(|one, other| Pair::order(one, other, self.order));
        changed
    }

    /// Orders the pairs.
    pub fn sort(&mut self, by: Sort) {
        self.order = by;
        self.pairs.sort_by(|one, other| Pair::order(one, other, by));
    }
}

#[doc(hidden)]
impl Pair {
    /// The run times.
    #[must_use]
    pub fn run_time(&self) -> Option<&Figure> {
        self.figure("runtime_ms")
    }

    fn figure(&self, key: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.key == key)
    }

    fn order(one: &Self, other: &Self, by: Sort) -> Ordering {
        let change_of = |key: &str| {
            let moved = |pair: &Self| {
                let (a, b) = pair.figure(key).and_then(|figure| figure.a.zip(figure.b)).unwrap_or_default();
                (b - a).abs()
            };
            moved(other).total_cmp(&moved(one))
        };
        match by {
            Sort::Severity => other.worst_new().cmp(&one.worst_new()),
            Sort::Waste => change_of("resource_wasted_gb_hours"),
            Sort::RunTime | Sort::Saving => change_of("runtime_ms"),
            Sort::Name => (&one.b.job, &one.b.started_at).cmp(&(&other.b.job, &other.b.started_at)),
        }
    }

    /// The severity of the worst finding that is new or worse.
    fn worst_new(&self) -> Option<Severity> {
        let new = self.findings.iter().filter(|pair| matches!(pair.moved, Move::Came | Move::Worse));
        new.filter_map(|pair| pair.b).max()
    }

    /// Whether the run time, a setting, a plan or a finding changed.
    #[must_use]
    pub fn changed(&self) -> bool {
        let run_time = self.run_time().is_some_and(|figure| match figure.change() {
            Some(change) => change.abs() >= SAME_RUN_TIME,
            None => figure.differs(),
        });
        let settings = self.configuration.as_ref().is_some_and(|conf| !conf.settings.is_empty());
        let plans = self.queries.as_ref().is_some_and(|queries| !queries.changed.is_empty());
        run_time || settings || plans || self.findings.iter().any(|pair| pair.moved != Move::Same)
    }
}

/// Compares two sides.
#[must_use]
pub fn diff(a: &Side, b: &Side, options: Options) -> Diff {
    let paired = pair::runs(&a.applications, &b.applications);
    Diff {
        pairs: paired.both.into_iter().map(|(a, b)| pair(a, b, options)).collect(),
        only_a: paired.only_a.into_iter().map(Run::label).collect(),
        only_b: paired.only_b.into_iter().map(Run::label).collect(),
        order: Sort::RunTime,
    }
}

fn pair(a: &Run, b: &Run, options: Options) -> Pair {
    let mut notes = Vec::new();
    for (side, run) in [("A", a), ("B", b)] {
        if run.phases.is_none() {
            notes.push(format!(
                "{side} is a report without details: `analyze --format json --details` also writes phases and configuration"
            ));
        } else if run.configuration.is_none() {
            notes.push(format!("{side} does not contain the configuration"));
        }
        if !run.complete {
            notes.push(format!("the log of {side} is incomplete"));
        }
    }
    if a.engine != b.engine {
        notes.push("the engines differ: they count costs in different ways".to_owned());
    }
    let same = a.with_plans().zip(b.with_plans()).map(|(a, b)| queries::same(a, b)).unwrap_or_default();
    Pair {
        a: a.label(),
        b: b.label(),
        account: account::compare(&a.run_time_parts, &b.run_time_parts, &same),
        figures: figures::of_runs(a, b),
        phases: phases::compare(a, b, &same),
        queries: a.with_plans().zip(b.with_plans()).map(|(a, b)| queries::compare(a, b)),
        configuration: a
            .configuration
            .as_ref()
            .zip(b.configuration.as_ref())
            .map(|(a, b)| configuration::compare(a, b, options.all_configuration)),
        findings: findings::compare(a, b),
        notes,
    }
}

#[cfg(test)]
mod tests;
