//! The time of tasks against the bytes that they read: whether slow tasks had more to do.

use std::cmp::Reverse;

use super::histogram::{Quantity, Scale, buckets, stage_name};
use elephant_base::severity::Severity;
use elephant_base::state::State;
use elephant_base::units::{Bytes, Millis};
use elephant_model::model::counters::Counter;
use elephant_model::model::table::{TaskGroup, TaskKind};
use elephant_model::model::{Application, Phase, Subject};
use elephant_rule::finding::Finding;

/// This many phases are shown: those with the worst findings.
const MOST_PHASES: usize = 3;
/// The maximum number of points.
const MOST_POINTS: usize = 240;
/// This many of the slowest tasks are always shown.
const SLOWEST: usize = 40;

/// The tasks of a phase as points.
#[derive(Debug, Clone, PartialEq, Eq, State)]
#[non_exhaustive]
pub struct Scatter {
    /// The phase, with the name that findings use.
    pub subject: Subject,
    /// The name of a stage.
    pub name: Option<String>,
    /// The horizontal axis.
    pub bytes: Axis,
    /// The vertical axis.
    pub time: Axis,
    /// Successful tasks, slowest first: the slowest, and some of the others.
    pub points: Vec<Point>,
    /// The number of successful tasks whose time and bytes are known.
    pub tasks: u64,
    /// The number of successful tasks whose time or bytes are unknown.
    pub unknown: u64,
}

/// A task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
#[non_exhaustive]
pub struct Point {
    /// How long it ran.
    pub time: Millis,
    /// What it read from files and shuffles.
    pub bytes: Bytes,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Eq, State)]
#[non_exhaustive]
pub struct Axis {
    /// The quantity, which decides its unit.
    pub quantity: Quantity,
    /// Its scale.
    pub scale: Scale,
    /// Values at equal distances, smallest first. Their number is one more than a multiple of four.
    pub edges: Vec<u64>,
}

#[doc(hidden)]
impl Axis {
    /// An axis for these values; `None` if there are none, or if all are zero.
    fn of(quantity: Quantity, mut values: Vec<u64>) -> Option<Self> {
        values.sort_unstable();
        let (&smallest, &largest) = values.first().zip(values.last())?;
        let smallest_positive = values.iter().copied().find(|&value| value > 0)?;
        let median = values.get(values.len() / 2).copied()?;
        let axis = |from| buckets(quantity, [from, smallest_positive, largest], median);
        // From zero, points show whether time grows with bytes, and none of them lies on the other axis.
        let (scale, buckets) = match axis(smallest) {
            (Scale::Linear, _) => axis(0),
            logarithmic => logarithmic,
        };
        let end = buckets.last().map(|bucket| bucket.to);
        Some(Self { quantity, scale, edges: buckets.iter().map(|bucket| bucket.from).chain(end).collect() })
    }

    /// The place of a value, from 0 to 1.
    #[must_use]
    pub fn share(&self, value: u64) -> f64 {
        let steps = self.edges.len().saturating_sub(1);
        let step = self.edges.partition_point(|&edge| edge <= value).saturating_sub(1).min(steps);
        let ends = self.edges.get(step).zip(self.edges.get(step + 1));
        let within = ends.map_or(0.0, |(&from, &to)| {
            value.saturating_sub(from) as f64 / to.saturating_sub(from).max(1) as f64
        });
        (step as f64 + within) / steps.max(1) as f64
    }
}

/// The phases with the worst findings, in the order of the application.
pub(super) fn all(app: &Application, findings: &[Finding]) -> Vec<Scatter> {
    let worst = |group: &TaskGroup| {
        let subject = Phase::subject(group.kind);
        findings.iter().filter(|finding| finding.subject == subject).map(|finding| finding.severity).max()
    };
    let found = app.groups.iter().filter_map(|group| Some((group, worst(group)?)));
    let mut groups: Vec<(&TaskGroup, Severity)> =
        found.filter(|(_, severity)| *severity > Severity::None).collect();
    groups.sort_by_key(|(group, severity)| (Reverse(*severity), group.kind));
    let scatters = groups.into_iter().filter_map(|(group, _)| of(app, group));
    let mut first: Vec<Scatter> = scatters.take(MOST_PHASES).collect();
    first.sort_by(|a, b| a.subject.cmp(&b.subject));
    first
}

fn of(app: &Application, group: &TaskGroup) -> Option<Scatter> {
    let mut unknown = 0;
    let mut points: Vec<Point> = Vec::new();
    for row in group.winners() {
        match group.attempts.run_time(row).zip(bytes_read(group, row)) {
            Some((time, bytes)) => points.push(Point { time, bytes }),
            None => unknown += 1,
        }
    }
    if points.len() < 2 {
        return None;
    }
    let bytes = Axis::of(Quantity::Input, points.iter().map(|point| point.bytes.get()).collect())?;
    let time = Axis::of(Quantity::RunTime, points.iter().map(|point| point.time.get()).collect())?;
    let tasks = points.len() as u64;
    let (subject, name) = (Phase::subject(group.kind), stage_name(app, group.kind));
    Some(Scatter { subject, name, bytes, time, points: sample(points), tasks, unknown })
}

fn bytes_read(group: &TaskGroup, row: usize) -> Option<Bytes> {
    if matches!(group.kind, TaskKind::Vertex(_)) {
        // A vertex may read files, shuffled data, or both.
        let parts = [
            group.attempts.total(row, &Counter::INPUT_BYTES),
            group.attempts.count(row, Counter::ReduceShuffleBytes),
        ];
        return parts.into_iter().flatten().reduce(u64::saturating_add).map(Bytes::new);
    }
    let counters: &[Counter] = match group.kind {
        TaskKind::Stage(_) => {
            &[Counter::InputBytes, Counter::ShuffleRemoteBytesRead, Counter::ShuffleLocalBytesRead]
        }
        TaskKind::Reduce => &[Counter::ReduceShuffleBytes],
        _ => &Counter::INPUT_BYTES,
    };
    group.attempts.total(row, counters).map(Bytes::new)
}

/// The slowest tasks, the task with most bytes, and an evenly spaced sample of the others.
fn sample(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_unstable_by_key(|point| Reverse((point.time, point.bytes)));
    if points.len() <= MOST_POINTS {
        return points;
    }
    let largest = points.iter().copied().max_by_key(|point| (point.bytes, point.time));
    let others = points.split_off(SLOWEST);
    let room = MOST_POINTS - SLOWEST - 1;
    points.extend((0..room).filter_map(|place| others.get(place * others.len() / room)));
    points.extend(largest);
    points.sort_unstable_by_key(|point| Reverse((point.time, point.bytes)));
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point(time: u64, bytes: u64) -> Point {
        Point { time: Millis::new(time), bytes: Bytes::new(bytes) }
    }

    #[test]
    fn a_sample_keeps_the_slowest_and_the_largest() {
        let points: Vec<Point> = (0..10_000).map(|n| point(n, if n == 77 { 1 << 40 } else { 5 })).collect();
        let sample = sample(points);
        assert_eq!(sample.len(), MOST_POINTS);
        let slowest: Vec<Point> = (0..SLOWEST as u64).map(|n| point(9999 - n, 5)).collect();
        assert_eq!(sample[..SLOWEST], slowest);
        assert!(sample.contains(&point(77, 1 << 40)));
        // The sample of the other tasks is spread over all of them.
        let fast = sample.iter().filter(|point| point.time < Millis::new(2000)).count();
        assert!((35..50).contains(&fast), "{fast}");
    }

    #[test]
    fn a_linear_axis_starts_at_zero() {
        const MIB: u64 = 1 << 20;
        let axis = Axis::of(Quantity::Input, vec![64 * MIB, 128 * MIB, 100 * MIB]).unwrap();
        assert_eq!((axis.scale, axis.edges[0]), (Scale::Linear, 0));
        assert!(axis.share(64 * MIB) > 0.3);
        let axis = Axis::of(Quantity::Input, vec![MIB, MIB, 1024 * MIB]).unwrap();
        assert_eq!((axis.scale, axis.edges[0]), (Scale::Logarithmic, MIB));
    }

    #[test]
    fn tasks_without_bytes_are_counted() {
        let mut app = elephant_sample::app(&[]);
        let outcomes = [100, 200, 300].map(|time| (elephant_model::model::table::Outcome::Succeeded, time));
        elephant_sample::stage(&mut app, 0, &outcomes);
        for task in 0..3 {
            app.groups[0].tasks.set_representative(task, Some(task));
        }
        let attempts = &mut app.groups[0].attempts;
        attempts.set_counter(0, Counter::InputBytes, Some(1000));
        attempts.set_counter(1, Counter::InputBytes, Some(500));
        attempts.set_counter(1, Counter::ShuffleLocalBytesRead, Some(7));
        let scatter = of(&app, &app.groups[0]).unwrap();
        assert_eq!((scatter.tasks, scatter.unknown), (2, 1));
        assert_eq!(scatter.points, [point(200, 507), point(100, 1000)]);
        assert!(all(&app, &[]).is_empty(), "only phases with findings");
    }

    proptest! {
        #[test]
        fn places_follow_the_values(mut values in prop::collection::vec(0u64..u64::MAX, 2..50), shift in 0u32..60) {
            for value in &mut values {
                *value >>= shift;
            }
            values.sort_unstable();
            if let Some(axis) = Axis::of(Quantity::Input, values.clone()) {
                prop_assert!(axis.edges.len() % 4 == 1);
                let shares: Vec<f64> = values.iter().map(|&value| axis.share(value)).collect();
                prop_assert!(shares.is_sorted() && shares.iter().all(|share| (0.0..=1.0).contains(share)), "{shares:?}");
            }
        }
    }
}
