//! How much removing troubles is worth, for the order of reports.

use elephant_base::whole::Whole;
use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use crate::savings::{Amounts, Range, SavingStatus, Source, TroubleSavings};
use elephant_base::state::State;
use elephant_base::units::Millis;
use elephant_ruleset::settings::{OrderBy, OrderParams};

/// How much it is worth to remove a trouble, or all troubles of an application. More worth compares as smaller, so that
/// it comes first. An unknown saving ranks by the middle of its limit. Troubles rank last if nothing limits it, if it is not
/// larger than its error, or if only some time that may be lost elsewhere limits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, State)]
pub struct Worth {
    known: Known,
    /// The bits of a number that is not negative, which have its order.
    value: Reverse<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, State)]
enum Known {
    /// Cost, or core-hours and GB-hours with their weights.
    Resources,
    /// Only the time is known.
    Time,
    #[default]
    Nothing,
}

impl Worth {
    fn of_value(known: Known, value: f64) -> Self {
        if value > 0.0 { Self { known, value: Reverse(value.to_bits()) } } else { Self::default() }
    }

    /// What an amount is worth: its cost, or its hours with their weights, or its time.
    #[must_use]
    pub fn of_amounts(amounts: &Amounts, cost: Option<Range>, order: &OrderParams) -> Self {
        if order.by == OrderBy::Severity {
            return Self::default();
        }
        let weighed = |hours: Option<Range>, weight: f64| hours.map(|hours| hours.point * weight);
        let cores = weighed(amounts.core_hours, order.core_hour_weight.get());
        let memory = weighed(amounts.gb_hours, order.gb_hour_weight.get());
        let hours = cores.map(|cores| cores + memory.unwrap_or_default()).or(memory);
        match cost.map(|cost| cost.point).or(hours) {
            Some(value) if value > 0.0 => Self::of_value(Known::Resources, value),
            // If only an upper limit of the time is known, as for waiting, no saving is to be expected: see `AtMost`.
            _ if amounts.wall_ms.low <= 0.0 => Self::default(),
            _ => Self::of_value(Known::Time, amounts.wall_ms.point),
        }
    }

    /// What removing a trouble of this run is worth: the resources that it saves, or the share of the run's time that it
    /// saves of all that the run used, if that is more. Containers of MapReduce are not held while others run, so a job that
    /// waits for one task saves hardly any memory without that wait, and yet nothing may matter more to its users.
    pub(super) fn of_trouble(savings: &TroubleSavings, order: &OrderParams, run: &WholeRun) -> Self {
        match (&savings.status, &savings.share) {
            (SavingStatus::Estimated, Some(share)) => {
                let of_resources = Self::of_amounts(share, savings.share_cost, order);
                let of_time = run.of_time(expected_time(savings, share), order);
                of_time.map_or(of_resources, |of_time| of_resources.min(of_time))
            }
            (SavingStatus::Unknown(_), _) => run.of_limit(savings, order),
            _ => Self::default(),
        }
    }
}

/// The time in milliseconds that a remedy is expected to save. Where only the most is known, as for waiting, none is, except
/// where that is what was lost: all time of the driver, and half of the time of an operator, because another one takes its
/// place.
fn expected_time(savings: &TroubleSavings, share: &Amounts) -> Option<f64> {
    let wall = share.wall_ms;
    match savings.method.source() {
        Source::DriverTime => Some(wall.high),
        Source::Operator => Some(wall.high / 2.0),
        _ => Some(wall.point).filter(|_| wall.low > 0.0),
    }
}

/// What a run took as a whole.
pub(super) struct WholeRun {
    pub(super) used: Amounts,
    pub(super) cost: Option<Range>,
    pub(super) run_time: Option<Millis>,
}

impl WholeRun {
    /// What an unknown saving is worth: the middle of its limit.
    fn of_limit(&self, savings: &TroubleSavings, order: &OrderParams) -> Worth {
        let Some(limit) = &savings.at_most else { return Worth::default() };
        let of_resources = Worth::of_amounts(limit, savings.share_cost, order);
        let of_time = self.of_time(Some(limit.wall_ms.point), order);
        of_time.map_or(of_resources, |of_time| of_resources.min(of_time))
    }

    /// What the time of a saving is worth, at the rate of this run; `None` if the run used nothing that is known.
    fn of_time(&self, saved_ms: Option<f64>, order: &OrderParams) -> Option<Worth> {
        let all = Worth::of_amounts(&self.used, self.cost, order);
        let run_time = self.run_time.filter(|time| *time > Millis::ZERO)?;
        let saved = saved_ms.filter(|_| all.known == Known::Resources)?;
        let share = (saved / run_time.as_f64()).min(1.0);
        Some(Worth::of_value(Known::Resources, share * f64::from_bits(all.value.0)))
    }
}

/// The most that removing a trouble may save if no saving is to be expected: of equally severe troubles, the one that
/// may cost more comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct AtMost(Reverse<u64>);

impl AtMost {
    pub(super) fn of(savings: &TroubleSavings) -> Self {
        let most = match (&savings.status, &savings.share) {
            (SavingStatus::Estimated, Some(share)) if share.wall_ms.low <= 0.0 => share.wall_ms.high.max(0.0),
            _ => 0.0,
        };
        Self(Reverse(most.to_bits()))
    }
}

/// What several applications are worth together. The sums are millionths in whole numbers, so that they do not depend on
/// the order.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorthSum {
    resources: u128,
    time: u128,
}

const MILLION: f64 = 1e6;

impl WorthSum {
    /// Adds an application.
    pub fn add(&mut self, worth: &Worth) {
        let value = (f64::from_bits(worth.value.0) * MILLION).round().as_u128();
        match worth.known {
            Known::Resources => self.resources = self.resources.saturating_add(value),
            Known::Time => self.time = self.time.saturating_add(value),
            Known::Nothing => {}
        }
    }

    /// Time counts only if no application has a value in resources.
    #[must_use]
    pub fn total(self) -> Worth {
        if self.resources > 0 {
            Worth::of_value(Known::Resources, self.resources as f64 / MILLION)
        } else {
            Worth::of_value(Known::Time, self.time as f64 / MILLION)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::savings::Method;
    use elephant_ruleset::RuleSet;

    fn amounts(wall: f64, cores: Option<f64>) -> Amounts {
        let range = |point: f64| Range { low: point / 2.0, point, high: 2.0 * point };
        Amounts { wall_ms: range(wall), core_hours: cores.map(range), gb_hours: None }
    }

    #[test]
    fn resources_come_before_time_and_known_before_unknown() {
        let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
        let of = |amounts: &Amounts| Worth::of_amounts(amounts, None, rules.order());
        let sorted = [
            of(&amounts(1.0, Some(9.0))),
            of(&amounts(1e9, Some(8.0))),
            of(&amounts(7.0, None)),
            of(&amounts(6.0, Some(0.0))),
            Worth::default(),
        ];
        assert!(sorted.is_sorted() && sorted.windows(2).all(|pair| pair[0] < pair[1]), "{sorted:?}");
        assert_eq!(of(&amounts(-1.0, None)), Worth::default());
        // "Up to 20 ms" may be nothing.
        let at_most = Range { low: 0.0, point: 10.0, high: 20.0 };
        assert_eq!(of(&Amounts { wall_ms: at_most, ..Amounts::default() }), Worth::default());
    }

    /// A job of MapReduce of 30 min that used 8 GB·h waits for one task for 20 min, and could save 0.4 GB·h by fewer tasks.
    #[test]
    fn time_counts_at_the_rate_of_the_run() {
        let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
        let minutes = |count: f64| 60_000.0 * count;
        let memory = |hours: f64| Range { low: hours / 2.0, point: hours, high: 2.0 * hours };
        let used = Amounts { gb_hours: Some(memory(8.0)), ..Amounts::default() };
        let run = WholeRun { used, cost: None, run_time: Some(Millis::from_secs(1800)) };
        let of = |wall: f64, hours: f64| {
            let share = Amounts { gb_hours: Some(memory(hours)), ..amounts(minutes(wall), None) };
            let savings = TroubleSavings {
                status: SavingStatus::Estimated,
                share: Some(share),
                ..TroubleSavings::unknown("")
            };
            Worth::of_trouble(&savings, rules.order(), &run)
        };
        assert!(of(20.0, 0.0) < of(1.0, 0.4));
        assert_eq!(of(15.0, 0.0), of(0.0, 4.0));
        assert_eq!(of(0.0, 0.0), Worth::default());
        let unknown = WholeRun { used: Amounts::default(), ..run };
        assert_eq!(unknown.of_time(Some(minutes(20.0)), rules.order()), None);
    }

    #[test]
    fn what_the_driver_took_counts_whole_and_an_operator_half() {
        let wall_ms = Range { low: 0.0, point: 50.0, high: 100.0 };
        let share = Amounts { wall_ms, ..Amounts::default() };
        let of = |source| {
            let method = Method { source, ..Method::NONE };
            expected_time(&TroubleSavings { method, ..TroubleSavings::unknown("") }, &share)
        };
        assert_eq!(of(Source::DriverTime), Some(100.0));
        assert_eq!(of(Source::Operator), Some(50.0));
        assert_eq!(of(Source::WaitingTime), None);
    }

    #[test]
    fn an_upper_limit_comes_before_nothing() {
        let of = |status: SavingStatus, low: f64, high: f64| {
            let wall_ms = Range { low, point: f64::midpoint(low, high), high };
            let share = Some(Amounts { wall_ms, ..Amounts::default() });
            AtMost::of(&TroubleSavings { status, share, ..TroubleSavings::unknown("") })
        };
        let sorted = [
            of(SavingStatus::Estimated, 0.0, 9.0),
            of(SavingStatus::Estimated, 0.0, 8.0),
            of(SavingStatus::WithinError, -1.0, 10.0),
        ];
        assert!(sorted.windows(2).all(|pair| pair[0] < pair[1]), "{sorted:?}");
        assert_eq!(sorted[2], AtMost::default());
        assert_eq!(AtMost::of(&TroubleSavings::unknown("")), AtMost::default());
    }

    #[test]
    fn with_prices_the_cost_decides() {
        let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
        let priced = |cost: f64, cores: f64| {
            let cost = Some(Range { low: cost, point: cost, high: cost });
            Worth::of_amounts(&amounts(1.0, Some(cores)), cost, rules.order())
        };
        assert!(priced(2.0, 1.0) < priced(1.0, 9.0));
    }

    #[test]
    fn sums_rank_like_a_single_application_worth_as_much() {
        let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
        let of = |amounts: &Amounts| Worth::of_amounts(amounts, None, rules.order());
        let sum = |parts: &[Worth]| {
            let mut sum = WorthSum::default();
            for part in parts {
                sum.add(part);
            }
            sum.total()
        };
        let one = of(&amounts(5.0, Some(2.0)));
        assert_eq!(sum(&[one, one, of(&amounts(9.0, None))]), of(&amounts(0.0, Some(4.0))));
        assert_eq!(sum(&[of(&amounts(9.0, None))]), of(&amounts(9.0, None)));
        assert_eq!(sum(&[Worth::default()]), Worth::default());
    }
}
