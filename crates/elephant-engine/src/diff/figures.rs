//! Compares numbers.

use super::side::{Run, Tasks};

/// The unit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds.
    Millis,
    /// Bytes.
    Bytes,
    /// Gibibyte-hours.
    GbHours,
    /// Core-hours.
    CoreHours,
    /// A plain count.
    Count,
}

/// A number on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The key in JSON, with the unit as suffix.
    pub key: String,
    /// The display name.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// The first side's value.
    pub a: Option<f64>,
    /// The second side's value.
    pub b: Option<f64>,
}

#[doc(hidden)]
impl Figure {
    pub(super) fn new(key: &str, name: &str, unit: Unit, a: Option<f64>, b: Option<f64>) -> Option<Self> {
        let known = a.is_some() || b.is_some();
        known.then(|| Self { key: key.to_owned(), name: name.to_owned(), unit, a, b })
    }

    /// The change from the first side to the second, as a share of the first; `None` if the first is zero
    /// or unknown.
    #[must_use]
    pub fn change(&self) -> Option<f64> {
        let (a, b) = self.a.zip(self.b)?;
        (a > 0.0).then(|| (b - a) / a).filter(|change| change.is_finite())
    }

    /// Whether the sides differ.
    #[must_use]
    pub fn differs(&self) -> bool {
        self.a != self.b
    }
}

/// The costs of two runs.
pub(super) fn of_runs(a: &Run, b: &Run) -> Vec<Figure> {
    let (one, other) = (&a.metrics, &b.metrics);
    let mut figures: Vec<Figure> = [
        Figure::new("runtime_ms", "run time", Unit::Millis, one.runtime_ms, other.runtime_ms),
        Figure::new("wait_ms", "wait time", Unit::Millis, one.wait_ms, other.wait_ms),
        Figure::new(
            "resource_used_gb_hours",
            "memory used",
            Unit::GbHours,
            one.resource_used_gb_hours,
            other.resource_used_gb_hours,
        ),
        Figure::new(
            "resource_wasted_gb_hours",
            "memory wasted",
            Unit::GbHours,
            one.resource_wasted_gb_hours,
            other.resource_wasted_gb_hours,
        ),
        Figure::new(
            "core_hours_used",
            "cores used",
            Unit::CoreHours,
            one.core_hours_used,
            other.core_hours_used,
        ),
        Figure::new(
            "core_hours_idle",
            "cores idle",
            Unit::CoreHours,
            one.core_hours_idle,
            other.core_hours_idle,
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    let kinds: std::collections::BTreeSet<&String> = one.tasks.keys().chain(other.tasks.keys()).collect();
    for kind in kinds {
        let count = |pick: fn(&Tasks) -> Option<f64>| {
            (one.tasks.get(kind).and_then(pick), other.tasks.get(kind).and_then(pick))
        };
        let (total, attempts, failed) =
            (count(|t| t.total_count), count(|t| t.attempts_count), count(|t| t.failed_count));
        // Spark has only one kind of task, called "task".
        let prefix = if kind == "task" { String::new() } else { format!("{kind} ") };
        let row = |key: &str, name: &str, (a, b)| {
            Figure::new(&format!("tasks_{kind}_{key}"), &format!("{prefix}{name}"), Unit::Count, a, b)
        };
        figures.extend(row("total_count", "tasks", total));
        figures.extend(row("attempts_count", "attempts", attempts));
        figures.extend(row("failed_count", "failed tasks", failed));
    }
    figures
}
