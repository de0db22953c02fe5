//! What is saved by removing the troubles of an application, as data for reports.

use elephant_base::whole::Whole;
use std::sync::Arc;

use super::estimate::{Amounts, Range};
use super::method::Method;
use super::predict::Baseline;
use super::why_unknown::WhyUnknown;
use elephant_base::state::State;

/// Whether a saving is known.
#[derive(Debug, Clone, PartialEq, State)]
pub enum SavingStatus {
    /// It is larger than the error of the model.
    Estimated,
    /// It is not larger than the error of the model; perhaps nothing is saved.
    WithinError,
    /// It cannot be computed; says why.
    Unknown(WhyUnknown),
}

impl SavingStatus {
    /// The name in reports that programs read.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Estimated => "estimated",
            Self::WithinError => "within_error",
            Self::Unknown(_) => "unknown",
        }
    }
}

/// What is saved by removing one trouble.
#[derive(Debug, Clone, PartialEq, State)]
pub struct TroubleSavings {
    /// Whether the saving is known.
    pub status: SavingStatus,
    /// How it was computed.
    pub method: Method,
    /// Whether it is saved by smaller memory, not by holding it for less time.
    pub by_size: bool,
    /// If only this trouble is removed; `None` if unknown.
    pub alone: Option<Amounts>,
    /// If that is unknown, what the trouble cost at most; `None` if nothing limits it.
    pub at_most: Option<Amounts>,
    /// The GB-hours that the remedy takes beyond those recorded, if it takes more.
    pub more_gb_hours: Option<Range>,
    /// The part of them that no other trouble's remedy takes already: two may ask for the same larger memory.
    pub more_of_its_own: Option<Range>,
    /// Its share if all troubles of the application are removed whose saving is known.
    pub share: Option<Amounts>,
    /// What is saved of the cost if only this trouble is removed, if prices are given.
    pub alone_cost: Option<Range>,
    /// What its share saves of the cost, if prices are given; of an unknown saving, what the trouble cost at most.
    pub share_cost: Option<Range>,
}

impl TroubleSavings {
    /// What else must be removed, in words that complete a sentence; `None` if nothing must.
    #[must_use]
    pub const fn besides(&self) -> Option<&'static str> {
        self.method.besides()
    }

    /// Its share of the time, if only an upper limit of it is known.
    pub fn limit_of_time(&self) -> Option<Range> {
        let share = self.share.as_ref().filter(|_| self.status == SavingStatus::Estimated)?;
        Some(share.wall_ms).filter(Range::is_only_a_limit)
    }

    /// One whose saving is unknown.
    pub fn unknown(why: impl Into<WhyUnknown>) -> Self {
        let status = SavingStatus::Unknown(why.into());
        Self {
            status,
            method: Method::NONE,
            by_size: false,
            alone: None,
            at_most: None,
            more_gb_hours: None,
            more_of_its_own: None,
            share: None,
            alone_cost: None,
            share_cost: None,
        }
    }
}

/// What an application takes, and what is saved by removing all its troubles.
#[derive(Debug, Clone, PartialEq, State)]
pub struct ApplicationSavings {
    /// The sum of the shares.
    pub joint: Amounts,
    /// The GB-hours that remedies take beyond those recorded: of those that save, as of those whose saving is unknown.
    pub more_gb_hours: Option<Range>,
    /// The replay without a change; `None` if none was needed, or if there can be none.
    pub baseline: Option<Baseline>,
    /// Why there is no replay although one was needed.
    pub unknown: Option<String>,
    /// What the sum costs, if prices are given.
    pub joint_cost: Option<Range>,
    /// The currency of costs.
    pub currency: Option<Arc<str>>,
}

impl ApplicationSavings {
    /// The savings of all troubles without the times of which only an upper limit is known, and the sum of these limits.
    pub fn expected<'a>(&self, troubles: impl Iterator<Item = &'a TroubleSavings>) -> (Amounts, Option<f64>) {
        let limits = troubles.filter_map(TroubleSavings::limit_of_time);
        let Some(limit) = limits.reduce(Range::plus) else { return (self.joint, None) };
        let Range { low, point, high } = self.joint.wall_ms;
        let rest = |all: f64, limit: f64| (all - limit).max(0.0);
        let wall_ms = Range { low, point: rest(point, limit.point), high: rest(high, limit.high).max(low) };
        (Amounts { wall_ms, ..self.joint }, Some(limit.high))
    }
}

/// The savings of an application, and of each of its troubles in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Savings {
    /// What is saved by removing all troubles.
    pub application: ApplicationSavings,
    /// What is saved by removing each trouble.
    pub troubles: Vec<TroubleSavings>,
}

/// Savings over several applications. They are whole numbers, so that the sum does not depend on the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sums {
    wall: Sum,
    /// The part of the time of which only an upper limit is known.
    wall_limits: Option<Sum>,
    cores: Option<Sum>,
    memory: Option<Sum>,
    /// The part of the memory that is saved by its size.
    by_size: Option<Sum>,
    /// The memory that remedies take beyond what was recorded.
    more: Option<Sum>,
    cost: Option<Sum>,
    /// The limits of savings that are unknown: time, cores, memory.
    limits: [Option<Sum>; 3],
    /// Troubles in the sum.
    pub estimated_count: u64,
    /// Troubles whose saving is smaller than its error.
    pub within_error_count: u64,
    /// Troubles whose saving is unknown.
    pub unknown_count: u64,
}

/// Low, point and high, in billionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Sum([i128; 3]);

const BILLION: f64 = 1e9;

impl Sum {
    fn add(&mut self, range: Range) {
        for (sum, value) in self.0.iter_mut().zip([range.low, range.point, range.high]) {
            *sum = sum.saturating_add((value * BILLION).round().as_i128());
        }
    }

    fn add_all(&mut self, other: Self) {
        for (sum, value) in self.0.iter_mut().zip(other.0) {
            *sum = sum.saturating_add(value);
        }
    }

    fn range(self) -> Range {
        let [low, point, high] = self.0.map(|sum| sum as f64 / BILLION);
        Range { low, point, high }
    }
}

impl Sums {
    /// Adds a trouble of an application. Applications whose cores or memory are unknown add nothing to those.
    pub fn add(&mut self, trouble: &TroubleSavings) {
        add(&mut self.more, trouble.more_of_its_own);
        match (&trouble.status, &trouble.share) {
            (SavingStatus::Estimated, Some(share)) => {
                self.wall.add(share.wall_ms);
                add(&mut self.wall_limits, trouble.limit_of_time());
                add(&mut self.cores, share.core_hours);
                add(&mut self.memory, share.gb_hours);
                add(&mut self.by_size, share.gb_hours.filter(|_| trouble.by_size));
                add(&mut self.cost, trouble.share_cost);
                self.estimated_count += 1;
            }
            (SavingStatus::WithinError, _) => self.within_error_count += 1,
            _ => {
                self.unknown_count += 1;
                self.add_limit(trouble);
            }
        }
    }

    fn add_limit(&mut self, trouble: &TroubleSavings) {
        let Some(limit) = &trouble.at_most else { return };
        let [wall, cores, memory] = &mut self.limits;
        add(wall, Some(limit.wall_ms));
        add(cores, limit.core_hours);
        add(memory, limit.gb_hours);
    }

    /// Adds another sum.
    pub fn add_all(&mut self, other: &Self) {
        self.wall.add_all(other.wall);
        for (sum, other) in [
            (&mut self.wall_limits, other.wall_limits),
            (&mut self.cores, other.cores),
            (&mut self.memory, other.memory),
            (&mut self.by_size, other.by_size),
            (&mut self.more, other.more),
            (&mut self.cost, other.cost),
        ] {
            if let Some(other) = other {
                sum.get_or_insert_default().add_all(other);
            }
        }
        for (sum, other) in self.limits.iter_mut().zip(other.limits) {
            if let Some(other) = other {
                sum.get_or_insert_default().add_all(other);
            }
        }
        self.estimated_count += other.estimated_count;
        self.within_error_count += other.within_error_count;
        self.unknown_count += other.unknown_count;
    }

    /// The sum of the shares that are larger than their error.
    pub fn saved(&self) -> Amounts {
        Amounts {
            wall_ms: self.wall.range(),
            core_hours: self.cores.map(Sum::range),
            gb_hours: self.memory.map(Sum::range),
        }
    }

    /// Like [`Self::saved`], without the times of which only an upper limit is known: perhaps they save nothing.
    #[must_use]
    pub fn expected(&self) -> Amounts {
        let mut expected = self.wall;
        let limits = self.wall_limits.unwrap_or_default();
        for (sum, limit) in expected.0.iter_mut().zip(limits.0) {
            *sum = sum.saturating_sub(limit);
        }
        Amounts { wall_ms: expected.range(), ..self.saved() }
    }

    /// The time that is saved at most in addition to [`Self::expected`].
    #[must_use]
    pub fn more_at_most(&self) -> Option<f64> {
        self.wall_limits.map(|limits| limits.range().high)
    }

    /// The limits of the savings that are unknown; `None` if none has a limit.
    #[must_use]
    pub fn limits_of_unknown(&self) -> Option<Amounts> {
        let [wall, cores, memory] = self.limits.map(|sum| sum.map(Sum::range));
        Some(Amounts { wall_ms: wall?, core_hours: cores, gb_hours: memory })
    }

    /// The part of the GB-hours that smaller memory saves; the rest is held for less time.
    pub fn by_size(&self) -> Option<Range> {
        self.by_size.map(Sum::range)
    }

    /// The GB-hours that remedies take beyond what was recorded, whatever they save.
    pub fn more_gb_hours(&self) -> Option<Range> {
        self.more.map(Sum::range)
    }

    /// What they cost, if prices are given.
    pub fn cost(&self) -> Option<Range> {
        self.cost.map(Sum::range)
    }
}

fn add(sum: &mut Option<Sum>, range: Option<Range>) {
    if let Some(range) = range {
        sum.get_or_insert_default().add(range);
    }
}

#[doc(hidden)]
impl Amounts {
    /// Whether all amounts that are known are exactly zero: the replay is the recorded run.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        let is_zero = |range: Range| range.low.abs() <= 0.0 && range.high.abs() <= 0.0;
        [Some(self.wall_ms), self.core_hours, self.gb_hours].into_iter().flatten().all(is_zero)
    }

    /// The sum. An amount that is known for only one of them counts alone.
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
        let trouble = |status: SavingStatus, wall: f64, cores: Option<f64>| {
            let amounts = Amounts { wall_ms: range(wall), core_hours: cores.map(range), gb_hours: None };
            TroubleSavings { status, share: Some(amounts), ..TroubleSavings::unknown("x") }
        };
        let all = [
            trouble(SavingStatus::Estimated, 10.0, None),
            trouble(SavingStatus::WithinError, 100.0, Some(100.0)),
            TroubleSavings::unknown("no data"),
            trouble(SavingStatus::Estimated, 5.0, Some(7.0)),
        ];
        let sum = |order: &[usize]| {
            let mut sums = Sums::default();
            for &place in order {
                sums.add(&all[place]);
            }
            sums
        };
        let sums = sum(&[0, 1, 2, 3]);
        assert_eq!((sums.estimated_count, sums.within_error_count, sums.unknown_count), (2, 1, 1));
        assert_eq!(sums.saved().wall_ms, Range { low: 13.0, point: 15.0, high: 19.0 });
        assert_eq!(
            (sums.saved().core_hours, sums.saved().gb_hours, sums.cost()),
            (Some(range(7.0)), None, None)
        );
        assert_eq!(sum(&[3, 2, 1, 0]), sums);
    }

    #[test]
    fn the_limits_of_an_application_are_no_part_of_what_is_expected() {
        let trouble = |low: f64, high: f64| {
            let share = Some(Amounts { wall_ms: Range::between(low, high), ..Amounts::default() });
            TroubleSavings { status: SavingStatus::Estimated, share, ..TroubleSavings::unknown("x") }
        };
        let of = |troubles: &[TroubleSavings]| {
            let shares = troubles.iter().filter_map(|trouble| trouble.share);
            let application = ApplicationSavings {
                joint: shares.reduce(|sum, share| sum.plus(&share)).unwrap_or_default(),
                more_gb_hours: None,
                baseline: None,
                unknown: None,
                joint_cost: None,
                currency: None,
            };
            let (expected, limit) = application.expected(troubles.iter());
            (expected.wall_ms, limit)
        };
        let (known, limit) = (trouble(2.0, 4.0), trouble(0.0, 9.0));
        assert_eq!(of(&[known.clone(), limit.clone()]), (Range::between(2.0, 4.0), Some(9.0)));
        assert_eq!(of(&[known]), (Range::between(2.0, 4.0), None));
        assert_eq!(of(&[limit]), (Range::between(0.0, 0.0), Some(9.0)));
    }

    #[test]
    fn upper_limits_of_time_are_apart() {
        let of = |low: f64, high: f64| {
            let share = Some(Amounts { wall_ms: Range::between(low, high), ..Amounts::default() });
            TroubleSavings { status: SavingStatus::Estimated, share, ..TroubleSavings::unknown("x") }
        };
        let mut sums = Sums::default();
        for trouble in [of(2.0, 4.0), of(0.0, 9.0), of(0.0, 0.0)] {
            sums.add(&trouble);
        }
        let mut twice = sums;
        twice.add_all(&sums);
        assert_eq!((sums.expected().wall_ms, sums.more_at_most()), (Range::between(2.0, 4.0), Some(9.0)));
        assert_eq!((twice.expected().wall_ms, twice.more_at_most()), (Range::between(4.0, 8.0), Some(18.0)));
        assert_eq!(sums.saved().wall_ms, Range { low: 2.0, point: 7.5, high: 13.0 });
        assert_eq!(Sums::default().more_at_most(), None);
    }
}
