//! What is saved by removing the troubles of an application, as data for reports.

use std::borrow::Cow;

use super::estimate::{Amounts, Range};
use super::predict::Baseline;

/// Whether a saving is known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SavingStatus {
    /// It is larger than the error of the model.
    Estimated,
    /// It is not; perhaps nothing is saved.
    WithinError,
    /// It cannot be computed; says why.
    Unknown(Cow<'static, str>),
}

impl SavingStatus {
    /// The name in reports that programs read.
    #[must_use]
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Estimated => "estimated",
            Self::WithinError => "within_error",
            Self::Unknown(_) => "unknown",
        }
    }
}

/// What is saved by removing one trouble.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TroubleSavings {
    pub(crate) status: SavingStatus,
    /// How it was computed.
    pub(crate) method: Cow<'static, str>,
    /// If only this trouble is removed; `None` if unknown.
    pub(crate) alone: Option<Amounts>,
    /// Its share if all troubles of the application are removed whose saving is known.
    pub(crate) share: Option<Amounts>,
}

impl TroubleSavings {
    /// One whose saving is unknown.
    pub(super) fn unknown(why: impl Into<Cow<'static, str>>) -> Self {
        let status = SavingStatus::Unknown(why.into());
        Self { status, method: "none".into(), alone: None, share: None }
    }
}

/// What an application takes, and what is saved by removing all its troubles.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ApplicationSavings {
    /// The sum of the shares.
    pub(crate) joint: Amounts,
    /// The replay without a change; `None` if none was needed, or if there can be none.
    pub(crate) baseline: Option<Baseline>,
    /// Why there is no replay although one was needed.
    pub(crate) unknown: Option<String>,
}

/// The savings of an application, and of each of its troubles in their order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Savings {
    pub(crate) application: ApplicationSavings,
    pub(crate) troubles: Vec<TroubleSavings>,
}

/// Savings over several applications.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Sums {
    /// The sum of the shares that are larger than their error. Applications whose cores or memory are unknown add nothing
    /// to those.
    pub(crate) saved: Amounts,
    /// Troubles in the sum.
    pub(crate) estimated_count: u64,
    /// Troubles whose saving is smaller than its error.
    pub(crate) within_error_count: u64,
    /// Troubles whose saving is unknown.
    pub(crate) unknown_count: u64,
}

impl Sums {
    /// Adds the troubles of an application.
    pub(crate) fn add(&mut self, troubles: &[TroubleSavings]) {
        for trouble in troubles {
            match (&trouble.status, &trouble.share) {
                (SavingStatus::Estimated, Some(share)) => {
                    self.saved = self.saved.plus(share);
                    self.estimated_count += 1;
                }
                (SavingStatus::WithinError, _) => self.within_error_count += 1,
                _ => self.unknown_count += 1,
            }
        }
    }

    /// Adds other sums.
    pub(crate) fn add_sums(&mut self, other: &Self) {
        self.saved = self.saved.plus(&other.saved);
        self.estimated_count += other.estimated_count;
        self.within_error_count += other.within_error_count;
        self.unknown_count += other.unknown_count;
    }
}

impl Amounts {
    /// The sum; what is known of only one of them is its own.
    #[must_use]
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let sum = |one: Option<Range>, other: Option<Range>| match (one, other) {
            (Some(one), Some(other)) => Some(one.plus(other)),
            (one, other) => one.or(other),
        };
        Self {
            wall_ms: self.wall_ms.plus(other.wall_ms),
            core_hours: sum(self.core_hours, other.core_hours),
            gb_hours: sum(self.gb_hours, other.gb_hours),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_count_what_they_leave_out() {
        let range = |point: f64| Range { low: point - 1.0, point, high: point + 2.0 };
        let amounts = |wall: f64, cores: Option<f64>| Amounts {
            wall_ms: range(wall),
            core_hours: cores.map(range),
            gb_hours: None,
        };
        let trouble = |status: SavingStatus, amounts: Amounts| TroubleSavings {
            status,
            method: "replay".into(),
            alone: Some(amounts),
            share: Some(amounts),
        };
        let mut sums = Sums::default();
        sums.add(&[
            trouble(SavingStatus::Estimated, amounts(10.0, None)),
            trouble(SavingStatus::WithinError, amounts(100.0, Some(100.0))),
            TroubleSavings::unknown("no data"),
        ]);
        let mut all = Sums::default();
        all.add(&[trouble(SavingStatus::Estimated, amounts(5.0, Some(7.0)))]);
        all.add_sums(&sums);
        assert_eq!((all.estimated_count, all.within_error_count, all.unknown_count), (2, 1, 1));
        assert_eq!(all.saved.wall_ms, Range { low: 13.0, point: 15.0, high: 19.0 });
        assert_eq!((all.saved.core_hours, all.saved.gb_hours), (Some(range(7.0)), None));
        assert_eq!(TroubleSavings::unknown("x").status.name(), "unknown");
    }
}
