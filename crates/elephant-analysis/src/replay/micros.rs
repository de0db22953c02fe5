//! The time of a replay.

use elephant_base::whole::Whole;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

use elephant_base::units::{Millis, Timestamp};

/// A point in time after the application's start, or a span, in microseconds. Logs have milliseconds, but work that is
/// levelled over thousands of short tasks must not be rounded to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Micros(i64);

impl Micros {
    /// No time, and the start of the application.
    pub const ZERO: Self = Self(0);
    /// Later than any other point.
    pub(crate) const MAX: Self = Self(i64::MAX);

    /// A span of milliseconds.
    #[must_use]
    pub(crate) const fn from_millis(millis: i64) -> Self {
        Self(millis.saturating_mul(1000))
    }

    /// The span from one point in time to another; negative if `to` is earlier.
    #[must_use]
    pub const fn between(from: Timestamp, to: Timestamp) -> Self {
        Self::from_millis(to.as_millis().saturating_sub(from.as_millis()))
    }

    /// A point in time as a number of the same order; earlier points count as the start.
    pub(super) fn since_start(self) -> u64 {
        u64::try_from(self.0).unwrap_or_default()
    }

    /// The point in time for such a number.
    pub(super) fn after_start(micros: u64) -> Self {
        Self(i64::try_from(micros).unwrap_or(i64::MAX))
    }

    /// Rounds a number of microseconds; zero if it is not a number.
    #[must_use]
    pub fn from_f64(micros: f64) -> Self {
        Self(micros.round().as_i64())
    }

    /// Microseconds as a double, for statistics.
    #[must_use]
    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// The span rounded to milliseconds; zero if it is negative.
    #[must_use]
    pub fn to_millis(self) -> Millis {
        Millis::new(u64::try_from(self.0.saturating_add(500) / 1000).unwrap_or_default())
    }

    /// The span, `count` times.
    #[must_use]
    pub(crate) fn times(self, count: i32) -> Self {
        Self(self.0.saturating_mul(i64::from(count)))
    }

    /// The span, or zero if it is negative.
    #[must_use]
    pub fn or_zero(self) -> Self {
        self.max(Self::ZERO)
    }
}

impl Add for Micros {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Micros {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Micros {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Sum for Micros {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_round_to_milliseconds_and_never_wrap() {
        let at = Timestamp::from_millis;
        assert_eq!(Micros::between(at(1000), at(2500)).to_millis(), Millis::new(1500));
        assert_eq!(Micros::between(at(2500), at(1000)).or_zero(), Micros::ZERO);
        assert_eq!(Micros::between(at(i64::MIN), at(i64::MAX)), Micros::MAX);
        assert_eq!(Micros::from_f64(1499.6).to_millis(), Millis::new(2));
        assert_eq!(Micros::from_f64(-1e30).to_millis(), Millis::ZERO);
        assert_eq!(Micros::MAX + Micros::from_millis(1), Micros::MAX);
    }
}
