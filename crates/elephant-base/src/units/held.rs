//! Memory and cores held over time.

use crate::whole::Whole;
use std::iter::Sum;
use std::ops::{Add, Sub};

use super::{Bytes, Millis, three_digits_grouped};

use crate::state::State;

/// Formats an amount as GB-hours (1 GB = 1 GiB), without the unit.
#[must_use]
pub fn show_gb_hours(amount: MbMillis) -> String {
    show_hours(amount.as_gb_hours())
}

/// Three significant digits; tiny amounts become "<0.01", not "0".
#[must_use]
pub fn show_hours(hours: f64) -> String {
    if hours > 0.0 && hours < 0.01 { "<0.01".to_owned() } else { three_digits_grouped(hours) }
}

/// Memory held over time, in mebibyte-milliseconds, the unit of `MB_MILLIS_MAPS`.
///
/// An integer, so that sums do not depend on the order of addition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, State)]
pub struct MbMillis(u128);

impl MbMillis {
    /// Zero.
    pub const ZERO: Self = Self(0);

    /// `memory` held for `time`, in whole mebibytes, as YARN allocates it.
    #[must_use]
    pub const fn of(memory: Bytes, time: Millis) -> Self {
        Self(memory.whole_mib() as u128 * time.get() as u128)
    }

    /// `memory` held for `time`, to the byte. For measured memory, which is not a whole number of mebibytes.
    #[must_use]
    #[doc(hidden)]
    pub const fn exactly(memory: Bytes, time: Millis) -> Self {
        Self(memory.get() as u128 * time.get() as u128 / Bytes::PER_MIB as u128)
    }

    /// One of `parts` equal parts; everything if `parts` is 0.
    #[must_use]
    #[doc(hidden)]
    pub fn split(self, parts: u64) -> Self {
        Self(self.0 / u128::from(parts.max(1)))
    }

    /// Multiplies by a factor that must not be negative.
    #[must_use]
    #[doc(hidden)]
    pub fn times(self, factor: f64) -> Self {
        Self((self.0 as f64 * factor).as_u128())
    }

    /// Truncated to whole mebibyte-seconds, as in Dr. Elephant.
    #[must_use]
    #[doc(hidden)]
    pub const fn whole_mb_seconds(self) -> Self {
        Self(self.0 / 1000 * 1000)
    }

    /// Mebibyte-seconds, Dr. Elephant's internal unit.
    #[must_use]
    pub const fn as_mb_seconds(self) -> f64 {
        self.0 as f64 / 1000.0
    }

    /// GB-hours (1 GB = 1 GiB), the unit of reports (Dr. Elephant's wiki, "Used Resources").
    #[must_use]
    pub const fn as_gb_hours(self) -> f64 {
        self.0 as f64 / 1000.0 / 1024.0 / 3600.0
    }

    /// `self` as a share of `whole`; `None` if `whole` is zero.
    #[must_use]
    pub fn share_of(self, whole: Self) -> Option<f64> {
        (whole.0 > 0).then(|| self.0 as f64 / whole.0 as f64)
    }
}

impl Add for MbMillis {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for MbMillis {
    type Output = Self;
    /// Stops at zero.
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Sum for MbMillis {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

/// Cores held over time, in thousandths of a core × milliseconds, because tasks may use fractions of a core.
///
/// An integer, so that sums do not depend on the order of addition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, State)]
pub struct CoreMillis(u128);

impl CoreMillis {
    /// Zero.
    pub const ZERO: Self = Self(0);

    /// Thousandths of a core, held for `time`.
    #[must_use]
    pub const fn of(thousandths: u64, time: Millis) -> Self {
        Self(thousandths as u128 * time.get() as u128)
    }

    /// Core-hours, the unit of reports.
    #[must_use]
    pub const fn as_core_hours(self) -> f64 {
        self.0 as f64 / 1000.0 / 3_600_000.0
    }

    /// `self` as a share of `whole`; `None` if `whole` is zero.
    #[must_use]
    pub fn share_of(self, whole: Self) -> Option<f64> {
        (whole.0 > 0).then(|| self.0 as f64 / whole.0 as f64)
    }
}

impl Add for CoreMillis {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for CoreMillis {
    type Output = Self;
    /// Stops at zero.
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Sum for CoreMillis {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}
