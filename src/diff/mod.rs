//! Two runs of the same job side by side, or two sets of runs.
//!
//! A [`Side`] is read from the JSON report of `analyze`: histories are analysed with details first, so that they and
//! reports that were kept compare alike. Runs are paired by job definition ([`crate::fingerprint::JobKey`]) and then by
//! order of start; one run on each side is a pair whatever its name. Phases are paired by what
//! [`crate::fingerprint::subject_key`] makes of them, because a stage's id differs from run to run.

mod analysed;
mod configuration;
mod figures;
mod findings;
mod pair;
mod phases;
mod side;

pub use configuration::{Configuration, Setting};
pub use figures::{Figure, Unit};
pub use findings::{FindingPair, Move};
pub use phases::PhasePair;
pub use side::{Run, Side, SideError};

/// What to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Also settings that differ between any two runs: ids, ports, folders of a run.
    pub all_configuration: bool,
}

/// Two sides beside each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Diff {
    /// Runs of the same job, in the order of their jobs' keys and starts.
    pub pairs: Vec<Pair>,
    /// Runs that only the first side has.
    pub only_a: Vec<Label>,
    /// Runs that only the second side has.
    pub only_b: Vec<Label>,
}

/// Two runs of the same job.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The first side's.
    pub a: Label,
    /// The second side's.
    pub b: Label,
    /// What they cost; what neither side tells is left out.
    pub figures: Vec<Figure>,
    /// Their phases in order; `None` where a side is a report without details.
    pub phases: Option<Vec<PhasePair>>,
    /// Settings that differ; `None` where a side does not tell its configuration.
    pub configuration: Option<Configuration>,
    /// Findings of either side, those that came first.
    pub findings: Vec<FindingPair>,
    /// What could not be compared, and why.
    pub notes: Vec<String>,
}

/// A run in a few words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Its job definition.
    pub job: String,
    /// The application's id.
    pub id: String,
    /// Its name.
    pub name: Option<String>,
    /// How it ended.
    pub status: String,
    /// When it was submitted or started, RFC 3339.
    pub started_at: Option<String>,
}

/// Compares two sides.
#[must_use]
pub fn diff(a: &Side, b: &Side, options: Options) -> Diff {
    let paired = pair::runs(&a.applications, &b.applications);
    Diff {
        pairs: paired.both.into_iter().map(|(a, b)| pair(a, b, options)).collect(),
        only_a: paired.only_a.into_iter().map(Run::label).collect(),
        only_b: paired.only_b.into_iter().map(Run::label).collect(),
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
            notes.push(format!("{side} does not tell its configuration"));
        }
        if !run.complete {
            notes.push(format!("the history of {side} is incomplete"));
        }
    }
    if a.engine != b.engine {
        notes.push("the engines differ: their costs are counted in different ways".to_owned());
    }
    Pair {
        a: a.label(),
        b: b.label(),
        figures: figures::of_runs(a, b),
        phases: a.phases.as_ref().zip(b.phases.as_ref()).map(|(a, b)| phases::compare(a, b)),
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
