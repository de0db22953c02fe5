//! Estimates with their range.

use elephant_analysis::metrics::Metrics;
use elephant_base::state::State;
use elephant_base::units::Millis;

/// An estimated amount, and the range that it lies in.
#[derive(Debug, Clone, Copy, PartialEq, Default, State)]
pub struct Range {
    /// The lowest plausible value.
    pub low: f64,
    /// The most plausible value.
    pub point: f64,
    /// The highest plausible value.
    pub high: f64,
}

impl Range {
    /// The range from the lower to the higher of two values, with its middle as the most plausible one.
    #[must_use]
    pub const fn between(one: f64, other: f64) -> Self {
        Self { low: one.min(other), point: f64::midpoint(one, other), high: one.max(other) }
    }

    /// The range widened on both sides.
    #[must_use]
    pub(crate) const fn widened(self, by: f64) -> Self {
        Self { low: self.low - by, high: self.high + by, ..self }
    }

    /// The sum of two amounts. Errors of one model are not independent, so both ends add up.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { low: self.low + other.low, point: self.point + other.point, high: self.high + other.high }
    }

    /// The amount times `factor`, which must not be negative.
    #[must_use]
    pub(crate) fn times(self, factor: f64) -> Self {
        Self { low: self.low * factor, point: self.point * factor, high: self.high * factor }
    }

    /// Each value from zero to `most`.
    #[must_use]
    pub(crate) fn within(self, most: f64) -> Self {
        let within = |value: f64| value.min(most).max(0.0);
        Self { low: within(self.low), point: within(self.point), high: within(self.high) }
    }

    /// What is left of `whole` without this.
    #[must_use]
    pub fn subtracted_from(self, whole: f64) -> Self {
        Self { low: whole - self.high, point: whole - self.point, high: whole - self.low }
    }

    /// Half of its width.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Whether the amount may be nothing, so that only an upper limit is known.
    #[must_use]
    pub(crate) fn is_only_a_limit(&self) -> bool {
        self.low <= 0.0 && self.high > 0.0
    }

    /// Whether it contains zero, so that not even the sign is certain.
    #[must_use]
    pub fn contains_zero(&self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }
}

/// What an application takes or saves; unknown amounts are `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default, State)]
pub struct Amounts {
    /// From submission to end, in milliseconds.
    pub wall_ms: Range,
    /// Cores held by executors. Spark only: Hadoop does not log cores.
    pub core_hours: Option<Range>,
    /// Memory held by containers.
    pub gb_hours: Option<Range>,
}

#[doc(hidden)]
impl Amounts {
    /// The amounts times `factor`, which must not be negative.
    #[must_use]
    pub(crate) fn times(&self, factor: f64) -> Self {
        Self {
            wall_ms: self.wall_ms.times(factor),
            core_hours: self.core_hours.map(|range| range.times(factor)),
            gb_hours: self.gb_hours.map(|range| range.times(factor)),
        }
    }

    /// Whether at least one of them is more than nothing, even at the lower end of its range.
    pub(crate) fn is_surely_more(&self) -> bool {
        let all = [Some(self.wall_ms), self.core_hours, self.gb_hours];
        all.into_iter().flatten().any(|range| range.low > 0.0)
    }

    /// What an application took, as far as that is known.
    pub fn used(metrics: &Metrics) -> Self {
        let exactly = |value: f64| Range { low: value, point: value, high: value };
        let cores = metrics.cores_used.zip(metrics.cores_idle).map(|(used, idle)| used + idle);
        Self {
            wall_ms: exactly(metrics.run_time.map_or(0.0, Millis::as_f64)),
            core_hours: cores.map(|cores| exactly(cores.as_core_hours())),
            gb_hours: metrics.used.map(|used| exactly(used.as_gb_hours())),
        }
    }
}

/// What an application would have taken under a change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// What it would have taken.
    pub takes: Amounts,
    /// What that saves, compared with the replay without a change; negative if it takes more.
    pub saves: Amounts,
    /// Whether the change of the wall time is smaller than the error of the model.
    pub within_error: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_stay_in_order() {
        let range = Range::between(30.0, 10.0).widened(5.0);
        assert_eq!(range, Range { low: 5.0, point: 20.0, high: 35.0 });
        assert_eq!(range.subtracted_from(100.0), Range { low: 65.0, point: 80.0, high: 95.0 });
        assert!((range.half_width() - 15.0).abs() < 1e-9 && !range.contains_zero());
        assert!(range.subtracted_from(20.0).contains_zero());
    }
}
