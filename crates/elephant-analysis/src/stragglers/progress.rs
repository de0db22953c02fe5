//! Progress of an attempt at any time, from the best source that is logged.
//!
//! Detectors compare progress, so a replay is only as good as the source of progress: wall time per twelfth
//! of progress (MapReduce `clockSplits`) is what the cluster saw; phase ends are exact at their ends; a
//! straight line from launch to end uses the known end, which is optimistic.

use elephant_base::units::Millis;
use elephant_model::model::counters::Counter;
use elephant_model::model::table::{Attempts, Outcome, TaskGroup, TaskKind, TimePoint};

/// Share of a map task's progress before the sort, if it sorts its output (Hadoop `MapTask`).
const MAP_PHASE: f64 = 2.0 / 3.0;
/// Shuffle, sort and reduce are a third of a reduce task's progress each (Hadoop `ReduceTask`).
const REDUCE_PHASE: f64 = 1.0 / 3.0;
/// A curve with fewer distinct slopes comes from only a few reports.
const FINE_SLOPES: usize = 3;

/// The source of a progress curve, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ProgressSource {
    /// Wall time per twelfth of progress, recorded by the application master (`clockSplits`).
    Splits,
    /// Phase ends: map and sort; shuffle, sort and reduce.
    Phases,
    /// A straight line to the known end: from the launch, or for a Spark task from when it runs.
    Linear,
}

impl ProgressSource {
    /// Every source, the best first.
    pub const ALL: [Self; 3] = [Self::Splits, Self::Phases, Self::Linear];

    /// The name in reports.
    #[must_use]
    #[doc(hidden)]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Splits => "splits",
            Self::Phases => "phases",
            Self::Linear => "linear",
        }
    }
}

/// Progress between 0 and 1 over the time since launch, piecewise linear, never decreasing.
///
/// The unit of time is that of the input; [`ProgressCurve::of_attempt`] uses milliseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgressCurve {
    /// Time since launch and progress, both increasing.
    points: Vec<(f64, f64)>,
    /// Its source.
    pub source: ProgressSource,
    /// Whether it comes from so few reports that most of it is interpolated.
    pub coarse: bool,
}

impl ProgressCurve {
    /// From wall times per part of progress. −1 marks a part that was not reached; progress stays constant
    /// after the last part that was. `None` if no part was reached.
    #[must_use]
    pub fn of_splits(splits: &[i32]) -> Option<Self> {
        let reached = splits.iter().take_while(|&&time| time >= 0);
        let mut time = 0.0;
        let mut points = vec![(0.0, 0.0)];
        for (part, &split) in reached.enumerate() {
            time += f64::from(split);
            points.push((time, (part + 1) as f64 / splits.len() as f64));
        }
        let mut slopes: Vec<i32> = splits.iter().copied().filter(|&time| time >= 0).collect();
        slopes.sort_unstable();
        slopes.dedup();
        let coarse = slopes.len() < FINE_SLOPES;
        (points.len() > 1).then_some(Self { points, source: ProgressSource::Splits, coarse })
    }

    /// From wall times per part of progress, for an attempt that did not complete. When such an attempt ends,
    /// Hadoop sets its progress to 1 and interpolates linearly from the last report. Parts of equal length at
    /// the end, and the one before them, are therefore ignored.
    #[must_use]
    pub(crate) fn of_splits_cut_short(splits: &[i32]) -> Option<Self> {
        if splits.iter().any(|&time| time < 0) {
            return Self::of_splits(splits);
        }
        let last = *splits.last()?;
        let interpolated = splits.iter().rev().take_while(|&&time| (time - last).abs() <= 1).count() + 1;
        let known = splits.len().checked_sub(interpolated).filter(|&known| known > 0)?;
        let mut known_splits = vec![-1; splits.len()];
        for (slot, &split) in known_splits.iter_mut().zip(splits.iter().take(known)) {
            *slot = split;
        }
        Self::of_splits(&known_splits)
    }

    /// Curve of a reduce task from the ends of its phases. All times have the same origin; `start` is the
    /// launch.
    #[must_use]
    pub fn of_reduce(start: f64, shuffle: f64, sort: f64, finish: f64) -> Option<Self> {
        let ends = [(start, 0.0), (shuffle, REDUCE_PHASE), (sort, 2.0 * REDUCE_PHASE), (finish, 1.0)];
        Self::of_phases(start, &ends)
    }

    /// Curve of a map task that sorts its output.
    #[must_use]
    pub(crate) fn of_map(start: f64, map: f64, finish: f64) -> Option<Self> {
        Self::of_phases(start, &[(start, 0.0), (map, MAP_PHASE), (finish, 1.0)])
    }

    /// Curve of a Spark task: 0 until it runs, a straight line while it runs, then 1.
    #[must_use]
    pub(crate) fn of_spark(before_run: f64, run: f64) -> Option<Self> {
        let ends = [(0.0, 0.0), (before_run, 0.0), (before_run + run, 1.0)];
        Some(Self { source: ProgressSource::Linear, ..Self::of_phases(0.0, &ends)? })
    }

    /// A straight line that ends after `duration`.
    #[must_use]
    pub(crate) fn linear(duration: f64) -> Option<Self> {
        let points = vec![(0.0, 0.0), (duration, 1.0)];
        (duration >= 0.0).then_some(Self { points, source: ProgressSource::Linear, coarse: true })
    }

    fn of_phases(start: f64, ends: &[(f64, f64)]) -> Option<Self> {
        let points: Vec<(f64, f64)> = ends.iter().map(|&(time, progress)| (time - start, progress)).collect();
        let in_order = points.windows(2).all(|pair| matches!(pair, [a, b] if a.0 <= b.0));
        in_order.then_some(Self { points, source: ProgressSource::Phases, coarse: false })
    }

    /// Progress after `elapsed`, from 0 to 1; at a jump, the value before it.
    #[must_use]
    pub fn at(&self, elapsed: f64) -> f64 {
        let next = self.points.partition_point(|&(time, _)| time < elapsed);
        let after = self.points.get(next);
        let before = next.checked_sub(1).and_then(|place| self.points.get(place));
        match (before, after) {
            (_, Some(&(time, progress))) if time <= elapsed => progress,
            (Some(&(t0, p0)), Some(&(t1, p1))) => (p1 - p0).mul_add((elapsed - t0) / (t1 - t0), p0),
            (Some(&(_, progress)), None) => progress,
            (None, _) => 0.0,
        }
    }

    /// The last time with known progress, and that progress.
    #[must_use]
    pub fn last_known(&self) -> Option<(f64, f64)> {
        self.points.last().copied()
    }

    /// The curve of the attempt in `row`, in milliseconds since its launch; `None` if its launch or end is
    /// not logged. Attempts that did not succeed have a curve only if their splits come from real reports,
    /// because their end says nothing about progress.
    #[must_use]
    pub fn of_attempt(group: &TaskGroup, row: usize) -> Option<Self> {
        let attempts = &group.attempts;
        let succeeded = attempts.outcome(row) == Outcome::Succeeded;
        let splits =
            attempts.progress(row).map(|progress| progress.clock_ms).filter(|splits| !splits.is_empty());
        if !succeeded {
            return Self::of_splits_cut_short(&splits?);
        }
        let wall = attempts.run_time(row)?.as_f64();
        splits
            .and_then(|splits| Self::of_splits(&splits))
            .filter(Self::is_whole)
            .or_else(|| by_phases(group.kind, attempts, row))
            .or_else(|| Self::linear(wall))
    }

    fn is_whole(&self) -> bool {
        self.last_known().is_some_and(|(_, progress)| progress >= 1.0)
    }
}

fn by_phases(kind: TaskKind, attempts: &Attempts, row: usize) -> Option<ProgressCurve> {
    let since_launch = |point| Some(attempts.span(row, TimePoint::Start, point)?.as_f64());
    let finish = since_launch(TimePoint::Finish)?;
    match kind {
        TaskKind::Map => ProgressCurve::of_map(0.0, since_launch(TimePoint::MapFinish)?, finish),
        TaskKind::Reduce => {
            let (shuffle, sort) =
                (since_launch(TimePoint::ShuffleFinish)?, since_launch(TimePoint::SortFinish)?);
            ProgressCurve::of_reduce(0.0, shuffle, sort, finish)
        }
        TaskKind::Stage(_) => {
            let millis = |counter| Some(attempts.millis(row, counter)?.as_f64());
            let run = millis(Counter::ExecutorRunTime)?;
            let result = millis(Counter::ResultSerializationTime).unwrap_or_default();
            let fetching = attempts.span(row, TimePoint::GettingResult, TimePoint::Finish);
            let after = result + fetching.map_or(0.0, Millis::as_f64);
            // Scheduler delay and deserialization come first.
            let before = (finish - run - after).max(0.0);
            ProgressCurve::of_spark(before, run.min(finish))
        }
        // Tez logs no point between the launch and the end of an attempt.
        TaskKind::Setup | TaskKind::Cleanup | TaskKind::Vertex(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-12, "{value} is not {expected}");
    }

    #[test]
    fn progress_stays_constant_over_parts_that_were_not_reached() {
        let mut splits = vec![3000; 3];
        splits.resize(12, -1);
        let curve = ProgressCurve::of_splits(&splits).unwrap();
        close(curve.at(4500.0), 1.5 / 12.0);
        close(curve.at(9000.0), 0.25);
        close(curve.at(60_000.0), 0.25);
        assert_eq!(ProgressCurve::of_splits(&[-1; 12]), None);
        assert_eq!(ProgressCurve::of_splits(&[]), None);
    }

    #[test]
    fn the_interpolated_end_of_a_killed_attempt_is_ignored() {
        // As recorded: one report near 0 after 8 s, then the kill.
        let one_report = [7969, 150, 151, 150, 150, 151, 150, 151, 150, 151, 150, 151];
        assert_eq!(ProgressCurve::of_splits_cut_short(&one_report), None);
        assert_eq!(ProgressCurve::of_splits_cut_short(&[361; 12]), None);
        let reports = [500, 900, 700, 800, 300, 20, 20, 21, 20, 20, 20, 20];
        let curve = ProgressCurve::of_splits_cut_short(&reports).unwrap();
        assert_eq!(curve.last_known(), Some((2900.0, 4.0 / 12.0)));
    }

    #[test]
    fn progress_jumps_at_phases_of_length_zero() {
        let curve = ProgressCurve::of_reduce(10.0, 70.0, 70.0, 130.0).unwrap();
        close(curve.at(59.0), 59.0 / 180.0);
        close(curve.at(60.0), 1.0 / 3.0);
        close(curve.at(90.0), 2.0 / 3.0 + 1.0 / 6.0);
        assert_eq!(ProgressCurve::of_reduce(10.0, 5.0, 70.0, 130.0), None);
    }

    #[test]
    fn spark_tasks_make_no_progress_before_they_run() {
        let curve = ProgressCurve::of_spark(100.0, 1000.0).unwrap();
        close(curve.at(100.0), 0.0);
        close(curve.at(600.0), 0.5);
        close(curve.at(5000.0), 1.0);
        // The end of the line is known only afterwards.
        assert_eq!(curve.source, ProgressSource::Linear);
        let no_time = ProgressCurve::of_spark(0.0, 0.0).unwrap();
        close(no_time.at(1.0), 1.0);
    }

    proptest! {
        #[test]
        fn progress_never_falls_and_stays_between_0_and_1(
            splits in prop::collection::vec(-1i32..5000, 0..14),
            moments in prop::collection::vec(-100.0f64..100_000.0, 1..20),
        ) {
            let mut moments = moments;
            moments.sort_unstable_by(f64::total_cmp);
            for curve in [ProgressCurve::of_splits(&splits), ProgressCurve::of_splits_cut_short(&splits)] {
                let Some(curve) = curve else { continue };
                let values: Vec<f64> = moments.iter().map(|&moment| curve.at(moment)).collect();
                prop_assert!(values.iter().all(|value| (0.0..=1.0).contains(value)));
                prop_assert!(values.windows(2).all(|pair| pair[0] <= pair[1]));
            }
        }
    }
}
