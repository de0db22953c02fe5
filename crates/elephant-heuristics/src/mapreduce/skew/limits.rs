//! The conditions of a finding in words.

use super::{DEVIATION, Side};
use elephant_base::severity::Severity;
use elephant_rule::finding::{Condition, Measured};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::Unit;
use elephant_rule::wording::condition;

/// What the limits are on, for readers.
pub(super) const SHARE: &str = "share of the time lost";
pub(super) const TIME: &str = "time lost";
pub(super) const RATIO: &str = "ratio of the means";
pub(super) const SIZE: &str = "mean of the large group";
pub(super) const TASKS: &str = "number of tasks compared";

/// A condition of a finding: the severity that it allows, and its cut-offs in words.
pub(super) struct Limit {
    pub(super) name: &'static str,
    pub(super) severity: Severity,
    measured: String,
    /// Low, moderate, severe, critical.
    cutoffs: [String; 4],
}

impl Limit {
    /// `None` if the condition is off.
    pub(super) fn of<U: Unit>(
        name: &'static str,
        cutoffs: &Ascending<U>,
        (severity, measured): (Severity, f64),
        show: impl Fn(f64) -> String,
    ) -> Option<Self> {
        cutoffs.values()?;
        let [_, levels @ ..] = Severity::ALL;
        let cutoffs = levels.map(|level| cutoffs.describe_in(level, &show));
        Some(Self { name, severity, measured: show(measured), cutoffs })
    }

    pub(super) fn unknown_cost() -> Self {
        let cutoffs = [(); 4].map(|()| "low: the time lost is unknown".to_owned());
        Self { name: TIME, severity: Severity::Low, measured: "unknown".to_owned(), cutoffs }
    }

    /// "low from 5 %"; the lowest cut-off for no severity.
    fn at(&self, level: Severity) -> &str {
        let [low, moderate, severe, critical] = &self.cutoffs;
        match level {
            Severity::None | Severity::Low => low,
            Severity::Moderate => moderate,
            Severity::Severe => severe,
            Severity::Critical => critical,
        }
    }
}

impl Side {
    /// The text in brackets: the limit that decides.
    pub(super) fn limit(&self) -> String {
        let decides = self.limits.iter().find(|limit| limit.severity == self.severity);
        match decides.or(self.limits.first()) {
            Some(limit) if self.severity == Severity::None => {
                format!("{} not reached: {}", limit.name, limit.at(Severity::Low))
            }
            Some(limit) => limit.at(limit.severity).to_owned(),
            None => String::new(),
        }
    }
}

/// The conditions on the data read and on the run time, other than the ratio of the means.
pub(super) fn conditions(data: &Side, time: &Side, severity: Severity) -> Vec<Condition> {
    let level = severity.max(Severity::Low);
    let of = |side: &Side, measured: Measured| {
        let others = side.limits.iter().filter(|limit| limit.name != RATIO);
        let condition = |limit: &Limit| {
            let at = (DEVIATION.key, measured);
            condition(at, (limit.name, &limit.measured), limit.at(level), limit.severity >= level)
        };
        others.map(condition).collect::<Vec<_>>()
    };
    let mut conditions = of(data, Measured::Bytes);
    conditions.extend(of(time, Measured::RunTime));
    conditions
}
