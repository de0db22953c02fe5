//! A node's scores from day to day (S1, section V B 2: slowness may come and go).

use std::collections::BTreeMap;

use super::cluster::DaySum;
use super::collect::DayNumber;
use super::levels::Interval;
use super::settings::Settings;
use elephant_base::stats::slope::theil_sen;
use elephant_base::stats::student;

/// Trend of a node over its days.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Trend {
    /// All days on which the node ran tasks, in order.
    pub days: Vec<Day>,
    /// The Theil–Sen slope of the daily means, in z per day; `None` with fewer than two daily means.
    pub slope: Option<f64>,
    /// Share of days with a mean above 0, among days with a mean; `None` if no day has one.
    pub slow_days: Option<f64>,
    /// Number of sign changes between consecutive daily means.
    pub sign_changes: u64,
    /// Whether the node was significantly slow on one day and significantly fast on another.
    pub transient: bool,
}

/// A node's tasks of one day.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Day {
    /// The day.
    pub number: DayNumber,
    /// Tasks that started on it.
    pub tasks: u64,
    /// Their mean z-score; `None` if there are too few tasks.
    pub mean: Option<f64>,
    /// The confidence interval of the mean.
    pub interval: Option<Interval>,
}

impl Trend {
    /// Computes the trend from sums by day. A day's interval is `None` if all its tasks have the same
    /// z-score.
    #[must_use]
    pub(crate) fn of(sums: &BTreeMap<DayNumber, DaySum>, settings: &Settings) -> Self {
        let days: Vec<Day> = sums.iter().map(|(&number, sum)| day(number, sum, settings)).collect();
        let means: Vec<(f64, f64)> =
            days.iter().filter_map(|day| Some((f64::from(day.number.get()), day.mean?))).collect();
        let slow = means.iter().filter(|(_, mean)| *mean > 0.0).count();
        let changes = means.iter().zip(means.iter().skip(1));
        let significantly =
            |test: fn(Interval) -> bool| days.iter().any(|day| day.interval.is_some_and(test));
        Self {
            slope: theil_sen(&means),
            slow_days: (!means.is_empty()).then(|| slow as f64 / means.len() as f64),
            sign_changes: changes.filter(|((_, a), (_, b))| a * b < 0.0).count() as u64,
            transient: significantly(|interval| interval.low > 0.0)
                && significantly(|interval| interval.high < 0.0),
            days,
        }
    }
}

fn day(number: DayNumber, sum: &DaySum, settings: &Settings) -> Day {
    let DaySum { count, sum, squares } = *sum;
    let n = count as f64;
    let mean = (count >= settings.min_day_tasks.max(1)).then_some(sum / n);
    let deviation = mean
        .filter(|_| count > 1)
        .map(|mean| ((squares - n * mean * mean).max(0.0) / (n - 1.0)).sqrt())
        // For equal values, rounding in the sums of squares leaves a tiny deviation.
        .filter(|&deviation| deviation > 1e-7);
    let interval = student::interval_of_mean(mean, deviation, count, settings.confidence)
        .map(|(low, high)| Interval { low, high });
    Day { number, tasks: count, mean, interval }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(days: &[(u16, &[f64])]) -> BTreeMap<DayNumber, DaySum> {
        let sum = |values: &[f64]| DaySum {
            count: values.len() as u64,
            sum: values.iter().sum(),
            squares: values.iter().map(|value| value * value).sum(),
        };
        days.iter().map(|&(day, values)| (DayNumber::new(day).unwrap(), sum(values))).collect()
    }

    #[test]
    fn a_node_that_is_slow_one_day_and_fast_another_is_transient() {
        let slow: Vec<f64> = (0..20).map(|i| 1.0 + f64::from(i % 3) / 10.0).collect();
        let fast: Vec<f64> = slow.iter().map(|z| -z).collect();
        let trend = Trend::of(&sums(&[(5, &slow), (6, &[9.0]), (7, &fast)]), &Settings::default());
        assert!(trend.transient);
        assert_eq!(trend.sign_changes, 1);
        assert_eq!(trend.slow_days, Some(0.5));
        assert_eq!(trend.days[1].mean, None, "one task gives no daily mean");
        assert!((trend.slope.unwrap() + trend.days[0].mean.unwrap()).abs() < 1e-12, "{trend:?}");
    }

    #[test]
    fn without_days_the_trend_is_unknown() {
        let trend = Trend::of(&BTreeMap::new(), &Settings::default());
        assert_eq!(trend, Trend::default());
        let equal = [0.5; 12];
        let trend = Trend::of(&sums(&[(1, &equal)]), &Settings::default());
        assert_eq!(trend.slope, None);
        assert_eq!(trend.days[0].interval, None);
        assert_eq!(trend.slow_days, Some(1.0));
    }
}
