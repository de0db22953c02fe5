//! The distribution of run times and bytes over the tasks of a phase, with the two groups that the skew
//! rules compare.

use std::cmp::Reverse;
use std::fmt;

use super::limit::{Limit, Means};
use elephant_base::state::State;
use elephant_base::stats::split::{self, two_groups};
use elephant_base::stats::{median, truncated_mean};
use elephant_base::units::{Bytes, Millis};
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::StageAttempt;
use elephant_model::model::table::{TaskGroup, TaskKind};
use elephant_model::model::{Application, Phase};
use elephant_rule::finding::{Finding, Measured, Subject};

/// This many phases are shown: those with the worst findings first, then those with most task time.
const MOST_PHASES: usize = 3;
/// The maximum number of buckets of a histogram.
const MOST_BUCKETS: u64 = 24;
/// The number of buckets is a multiple of this, so that an axis can be marked at its quarters.
const QUARTERS: u64 = 4;
/// The axis starts at zero if the values differ by less than the largest one divided by this. Otherwise
/// labels with three digits would be the same, and noise would look like a distribution.
const LEAST_SPREAD: u64 = 8;
/// If the largest value is this many times the median, buckets of equal width would show a single bar.
const LOGARITHMIC_FROM: u64 = 32;

/// A value of the axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
#[non_exhaustive]
pub enum Amount {
    /// A run time.
    Time(Millis),
    /// A size.
    Size(Bytes),
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => time.fmt(f),
            Self::Size(size) => size.fmt(f),
        }
    }
}

/// The distributed quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub enum Quantity {
    /// Run times of tasks.
    RunTime,
    /// Bytes that tasks read from files.
    Input,
    /// Bytes that tasks read from a shuffle.
    ShuffleRead,
}

impl Quantity {
    /// `value` in the quantity's unit.
    #[must_use]
    pub const fn amount(self, value: u64) -> Amount {
        match self {
            Self::RunTime => Amount::Time(Millis::new(value)),
            Self::Input | Self::ShuffleRead => Amount::Size(Bytes::new(value)),
        }
    }
}

/// How the width of buckets grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
#[non_exhaustive]
pub enum Scale {
    /// All buckets have the same width.
    Linear,
    /// Each bucket is a constant multiple of the one before.
    Logarithmic,
}

/// The tasks whose value is at least `from` and below the next bucket's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
#[non_exhaustive]
pub struct Bucket {
    /// The smallest value in it.
    pub from: u64,
    /// The smallest value in the next one.
    pub to: u64,
    /// Its tasks, except those of the large group.
    pub small: u64,
    /// Tasks of the large group.
    pub large: u64,
}

/// The two groups of the skew rules, if their means differ enough to matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Groups {
    /// Tasks below the pivot.
    pub small: Group,
    /// Tasks at or above the pivot.
    pub large: Group,
}

/// One of the two groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
#[non_exhaustive]
pub struct Group {
    /// Its tasks.
    pub count: u64,
    /// Their mean value.
    pub mean: Amount,
}

/// One distribution over successful tasks.
#[derive(Debug, Clone, PartialEq, State)]
#[non_exhaustive]
pub struct Histogram {
    /// The phase, with the name that findings use.
    pub subject: Subject,
    /// The name of a stage.
    pub name: Option<String>,
    /// The distributed quantity.
    pub quantity: Quantity,
    /// How the width of buckets grows.
    pub scale: Scale,
    /// The buckets, smallest first, without gaps.
    pub buckets: Vec<Bucket>,
    /// The number of tasks.
    pub tasks: u64,
    /// The two groups of tasks.
    pub groups: Option<Groups>,
    /// The median value.
    pub median: Amount,
    /// The largest value.
    pub largest: Amount,
    /// Cut-offs that were passed or that lie on the axis.
    pub limits: Vec<Limit>,
}

/// The histograms of the most important phases.
pub(super) fn all(app: &Application, findings: &[Finding]) -> Vec<Histogram> {
    let worst = |group: &TaskGroup| {
        let subject = Phase::subject(group.kind);
        findings.iter().filter(|finding| finding.subject == subject).map(|finding| finding.severity).max()
    };
    let task_time = |group: &TaskGroup| -> Millis {
        group.winners().filter_map(|row| group.attempts.run_time(row)).sum()
    };
    let mut groups: Vec<&TaskGroup> = app
        .groups
        .iter()
        .filter(|group| !matches!(group.kind, TaskKind::Setup | TaskKind::Cleanup))
        .collect();
    groups.sort_by_cached_key(|group| (Reverse(worst(group)), Reverse(task_time(group))));
    groups.truncate(MOST_PHASES);
    groups.sort_by_key(|group| group.kind);
    let quantities = [Quantity::RunTime, Quantity::Input, Quantity::ShuffleRead];
    let each = groups.into_iter().flat_map(|group| quantities.map(|quantity| (group, quantity)));
    each.filter_map(|(group, quantity)| of(app, group, quantity, findings)).collect()
}

fn of(app: &Application, group: &TaskGroup, quantity: Quantity, findings: &[Finding]) -> Option<Histogram> {
    let mut values: Vec<i64> = group.winners().filter_map(|row| value(group, row, quantity)).collect();
    values.sort_unstable();
    let (&smallest, &largest) = (values.first()?, values.last()?);
    if values.len() < 2 || largest == 0 {
        return None;
    }
    let split = two_groups(&values);
    let groups = (split.small.count > 0 && split.deviation() > 0).then(|| {
        let side =
            |group: split::Group| Group { count: group.count, mean: quantity.amount(unsigned(group.mean)) };
        Groups { small: side(split.small), large: side(split.large) }
    });
    let middle = unsigned(median(&values)?);
    let smallest_positive = values.iter().copied().find(|&value| value > 0).unwrap_or(smallest);
    let ends = [smallest, smallest_positive, largest].map(unsigned);
    let (scale, mut buckets) = buckets(quantity, ends, middle);
    for &value in &values {
        let place = buckets.partition_point(|bucket| bucket.to <= unsigned(value));
        if let Some(bucket) = buckets.get_mut(place) {
            let is_large = groups.is_some() && value >= split.pivot;
            *(if is_large { &mut bucket.large } else { &mut bucket.small }) += 1;
        }
    }
    let subject = Phase::subject(group.kind);
    let means = Means {
        all: unsigned(truncated_mean(&values)?),
        groups: groups.map(|_| (unsigned(split.small.mean), unsigned(split.large.mean))),
        median: middle,
        largest: unsigned(largest),
    };
    let axis = buckets.first()?.from..=buckets.last()?.to;
    let measured = if quantity == Quantity::RunTime { Measured::RunTime } else { Measured::Bytes };
    let mut limits = means.limits(&subject, measured, findings);
    limits.retain(|(limit, passed)| *passed || axis.contains(&limit.value));
    Some(Histogram {
        name: stage_name(app, group.kind),
        subject,
        quantity,
        scale,
        buckets,
        tasks: values.len() as u64,
        groups,
        median: quantity.amount(middle),
        largest: quantity.amount(unsigned(largest)),
        limits: limits.into_iter().map(|(limit, _)| limit).collect(),
    })
}

pub(super) fn stage_name(app: &Application, kind: TaskKind) -> Option<String> {
    let TaskKind::Stage(id @ StageAttempt { .. }) = kind else { return app.vertex_of(kind)?.name.clone() };
    app.spark.as_ref()?.stage(id)?.name.as_deref().map(str::to_owned)
}

fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or_default()
}

fn value(group: &TaskGroup, row: usize, quantity: Quantity) -> Option<i64> {
    let attempts = &group.attempts;
    let sum = |counters: &[Counter]| attempts.total(row, counters);
    let value = match (quantity, group.kind) {
        (Quantity::RunTime, _) => attempts.run_time(row).map(Millis::get),
        (Quantity::Input, TaskKind::Stage(_)) => sum(&[Counter::InputBytes]),
        (Quantity::Input, TaskKind::Map | TaskKind::Vertex(_)) => sum(&Counter::INPUT_BYTES),
        (Quantity::ShuffleRead, TaskKind::Stage(_)) => {
            sum(&[Counter::ShuffleRemoteBytesRead, Counter::ShuffleLocalBytesRead])
        }
        (Quantity::ShuffleRead, TaskKind::Reduce | TaskKind::Vertex(_)) => {
            sum(&[Counter::ReduceShuffleBytes])
        }
        _ => None,
    };
    value.map(|value| i64::try_from(value).unwrap_or(i64::MAX))
}

/// Empty buckets from the smallest to the largest value.
pub(super) fn buckets(
    quantity: Quantity,
    [smallest, smallest_positive, largest]: [u64; 3],
    median: u64,
) -> (Scale, Vec<Bucket>) {
    let empty = |from, to| Bucket { from, to, small: 0, large: 0 };
    if largest / LOGARITHMIC_FROM >= median.max(1) {
        let power = |value: u64| u64::from(value.max(1).ilog2());
        // Zero has no logarithm, so it has a bucket of its own. The others start at the smallest positive value.
        let zero = u64::from(smallest == 0);
        let (low, high) = (power(smallest_positive), power(largest));
        let step = (high - low + 1).div_ceil(MOST_BUCKETS - zero).max(1);
        let edge = |power: u64| u32::try_from(power).ok().and_then(|power| 1u64.checked_shl(power));
        let edge = |power| edge(power).unwrap_or(u64::MAX);
        let count = ((high - low) / step + 1 + zero).next_multiple_of(QUARTERS) - zero;
        let powers = (0..count).map(|place| low + place * step);
        let first = (zero > 0).then(|| empty(0, edge(low)));
        let all = first.into_iter().chain(powers.map(|power| empty(edge(power), edge(power + step))));
        return (Scale::Logarithmic, all.collect());
    }
    // Without zero, the axis needs a spread that its labels can tell apart.
    let spread = largest - smallest;
    let low = if spread <= largest / 2 && spread >= largest / LEAST_SPREAD { smallest } else { 0 };
    let width = nice_width(quantity, (largest - low) / (MOST_BUCKETS - 2) + 1);
    let start = low / width * width;
    let count = ((largest - start) / width + 1).next_multiple_of(QUARTERS);
    let edge = |place: u64| start.saturating_add(place.saturating_mul(width));
    (Scale::Linear, (0..count).map(|place| empty(edge(place), edge(place + 1))).collect())
}

/// The next width, at least `least`, whose multiples are easy to read.
fn nice_width(quantity: Quantity, least: u64) -> u64 {
    const SECOND: u64 = 1000;
    const MINUTE: u64 = 60 * SECOND;
    const HOUR: u64 = 60 * MINUTE;
    let doubled = || least.checked_next_power_of_two().unwrap_or(least);
    if quantity != Quantity::RunTime {
        return doubled();
    }
    let small = [1, 2, 5, 10, 20, 50, 100, 200, 500];
    let large = [1, 2, 5, 10, 15, 30];
    let widths = small.into_iter().chain(large.map(|n| n * SECOND)).chain(large.map(|n| n * MINUTE));
    let mut widths = widths.chain([1, 2, 6, 12, 24].map(|n| n * HOUR));
    widths.find(|&width| width >= least).unwrap_or_else(doubled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn widths_are_easy_to_read() {
        assert_eq!(nice_width(Quantity::RunTime, 7), 10);
        assert_eq!(nice_width(Quantity::RunTime, 11_000), 15_000);
        assert_eq!(nice_width(Quantity::RunTime, 100 * 3_600_000), 536_870_912);
        assert_eq!(nice_width(Quantity::Input, 3_000_000), 4_194_304);
    }

    #[test]
    fn a_logarithmic_axis_starts_at_the_smallest_positive_value() {
        const MIB: u64 = 1 << 20;
        let (scale, buckets) = buckets(Quantity::Input, [0, MIB, 1024 * MIB], 2 * MIB);
        assert_eq!(scale, Scale::Logarithmic);
        let edges: Vec<_> = buckets.iter().take(3).map(|bucket| (bucket.from, bucket.to)).collect();
        assert_eq!(edges, [(0, MIB), (MIB, 2 * MIB), (2 * MIB, 4 * MIB)]);
    }

    #[test]
    fn an_axis_of_nearly_equal_values_starts_at_zero() {
        let start =
            |smallest, largest| buckets(Quantity::RunTime, [smallest, smallest, largest], largest).1[0].from;
        assert_eq!(start(600_000, 600_002), 0);
        assert_eq!(start(400_000, 600_000), 400_000);
        assert_eq!(start(100_000, 600_000), 0);
    }

    proptest! {
        #[test]
        fn every_value_has_its_bucket(mut values in prop::collection::vec(0u64..u64::MAX, 2..50), shift in 0u32..60) {
            for value in &mut values {
                *value >>= shift;
            }
            values.sort_unstable();
            let (middle, largest) = (values[values.len() / 2], values[values.len() - 1]);
            let positive = values.iter().copied().find(|&value| value > 0).unwrap_or_default();
            let ends = [values[0], positive, largest];
            for quantity in [Quantity::RunTime, Quantity::Input] {
                let (_, buckets) = buckets(quantity, ends, middle);
                prop_assert!(buckets.len() as u64 <= MOST_BUCKETS && buckets.len().is_multiple_of(4));
                prop_assert!(buckets.windows(2).all(|pair| pair[0].to == pair[1].from));
                for value in &values {
                    let place = buckets.partition_point(|bucket| bucket.to <= *value);
                    let bucket = buckets.get(place);
                    let at_the_end = *value == u64::MAX;
                    prop_assert!(at_the_end || bucket.is_some_and(|b| b.from <= *value && *value < b.to));
                }
            }
        }
    }
}
