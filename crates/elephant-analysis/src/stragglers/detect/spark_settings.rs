//! The settings with which Spark would have speculated each straggler.

use super::Detector;
use super::ordered::Ordered;
use super::spark::{MedianRule, SparkSpeculation, min_finished};
use crate::stragglers::replay::{Attempt, Timeline};
use elephant_base::units::Millis;

/// Values of `spark.speculation.quantile` to try: the defaults of 4.x and 3.x, and half of the tasks.
pub const QUANTILES: [f64; 3] = [0.9, 0.75, 0.5];
/// Values of `spark.speculation.multiplier` to try: the defaults of 4.x and 3.x, and values around the
/// latter.
pub const MULTIPLIERS: [f64; 4] = [3.0, 2.0, 1.5, 1.2];

/// Detectors for all combinations of [`QUANTILES`] and [`MULTIPLIERS`], the most cautious first. All other
/// settings, including the efficiency check, are those of `like`.
#[must_use]
pub fn grid(like: SparkSpeculation) -> Vec<Box<dyn Detector>> {
    let mut detectors: Vec<Box<dyn Detector>> = Vec::new();
    for quantile in QUANTILES {
        for multiplier in MULTIPLIERS {
            detectors.push(Box::new(SparkSpeculation { quantile, multiplier, ..like }));
        }
    }
    detectors
}

/// The median duration of finished tasks, which changes each time a task ends.
#[derive(Debug, Clone)]
pub struct Medians {
    total: usize,
    /// Milliseconds since the first launch, and the median from that time on.
    steps: Vec<(i64, f64)>,
}

impl Medians {
    /// The medians while a group ran.
    #[must_use]
    pub fn of(timeline: &Timeline, rule: MedianRule) -> Self {
        let mut durations = Ordered::default();
        let steps = timeline.done.iter().filter_map(|done| {
            durations.insert(done.completion.duration_ms);
            let median = rule.of(durations.len(), |rank| durations.at(rank))?;
            Some((done.completion.at_ms, median))
        });
        Self { total: timeline.total, steps: steps.collect() }
    }

    /// The periods of an attempt's run in which enough tasks are done for Spark to speculate: start, end, and
    /// median.
    fn periods(&self, attempt: &Attempt, quantile: f64) -> impl Iterator<Item = (i64, i64, f64)> + '_ {
        let needed = min_finished(quantile, self.total);
        let (start, finish) = (attempt.start_ms, attempt.finish_ms);
        // The last median before the launch applies from the launch on.
        let before = self.steps.partition_point(|&(at, _)| at <= start).saturating_sub(1);
        let first = before.max(needed.saturating_sub(1));
        let last = if self.total > 1 { self.steps.len() } else { 0 };
        let periods = (first..last).map_while(move |place| {
            let &(from, median) = self.steps.get(place)?;
            let to = self.steps.get(place + 1).map_or(finish, |&(at, _)| at.min(finish));
            (from < finish).then_some((from.max(start), to, median))
        });
        // If several tasks end at the same time, only the last median counts.
        periods.filter(|&(from, to, _)| from < to)
    }

    /// The attempt would have been speculated with any multiplier below this one, without the efficiency
    /// check. `None` if no multiplier is low enough: too few tasks were done, or it ran no longer than the
    /// minimum run time. Real multipliers are at least 1, so a value below 1 also means that the attempt is
    /// never speculated.
    #[must_use]
    pub fn greatest_multiplier(&self, attempt: &Attempt, quantile: f64, min_runtime: Millis) -> Option<f64> {
        let multiplier = |(_, to, median): (i64, i64, f64)| {
            let ran = to.saturating_sub(attempt.start_ms) as f64;
            // In whole milliseconds, the last check is one millisecond before the end of the period.
            (ran > min_runtime.as_f64() + 1.0 && median > 0.0).then(|| ran / median)
        };
        self.periods(attempt, quantile).filter_map(multiplier).max_by(f64::total_cmp)
    }

    /// Time from the attempt's launch to its speculation, to the millisecond and without the efficiency
    /// check; `None` for never.
    #[must_use]
    pub fn first_flag(
        &self,
        attempt: &Attempt,
        quantile: f64,
        multiplier: f64,
        min_runtime: Millis,
    ) -> Option<Millis> {
        self.periods(attempt, quantile).find_map(|(from, to, median)| {
            let threshold = Millis::from_f64((multiplier * median).max(min_runtime.as_f64()))?;
            let late =
                i64::try_from(threshold.get()).ok()?.saturating_add(1).saturating_add(attempt.start_ms);
            let at = from.max(late);
            (at < to).then(|| Millis::from_f64(at.saturating_sub(attempt.start_ms) as f64))?
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Completion;
    use super::*;
    use crate::stragglers::replay::Done;

    fn attempt(start_ms: i64, finish_ms: i64) -> Attempt {
        Attempt { row: 0, start_ms, finish_ms, node: None, input: None, records: None, curve: None }
    }

    fn timeline(spans: &[(i64, i64)]) -> Timeline {
        let attempts: Vec<Attempt> = spans.iter().map(|&(start, finish)| attempt(start, finish)).collect();
        let done = |attempt: &Attempt| Done {
            completion: Completion {
                at_ms: attempt.finish_ms,
                duration_ms: (attempt.finish_ms - attempt.start_ms).unsigned_abs(),
                input: None,
                records: None,
            },
            attempt: None,
        };
        let mut done: Vec<Done> = attempts.iter().map(done).collect();
        done.sort_by_key(|done| done.completion.at_ms);
        Timeline { total: spans.len(), launches: vec![0; spans.len()], attempts, done }
    }

    #[test]
    fn attempts_are_speculated_below_the_greatest_multiplier() {
        let timeline = timeline(&[(0, 1000), (0, 1000), (0, 1000), (0, 2500)]);
        let medians = Medians::of(&timeline, MedianRule::Upper);
        let slow = &timeline.attempts[3];
        let least = Millis::new(100);
        assert_eq!(medians.greatest_multiplier(slow, 0.75, least), Some(2.5));
        assert_eq!(medians.first_flag(slow, 0.75, 1.5, least), Some(Millis::new(1501)));
        assert_eq!(medians.first_flag(slow, 0.75, 2.5, least), None);
        assert_eq!(medians.first_flag(slow, 0.75, 0.5, least), Some(Millis::new(1000)));
        // floor(0.9 * 4) is 3, so three finished tasks are enough while the fourth runs.
        assert_eq!(medians.greatest_multiplier(slow, 0.9, least), Some(2.5));
        assert_eq!(medians.greatest_multiplier(slow, 1.0, least), None);
        assert_eq!(medians.greatest_multiplier(slow, 0.75, Millis::new(3000)), None);
        assert_eq!(medians.greatest_multiplier(&timeline.attempts[0], 0.75, least), None);
    }

    #[test]
    fn earlier_medians_apply_from_the_launch() {
        let timeline = timeline(&[(0, 1000), (0, 1000), (0, 1000), (5000, 9000)]);
        let medians = Medians::of(&timeline, MedianRule::Ordinary);
        let late = &timeline.attempts[3];
        assert_eq!(medians.greatest_multiplier(late, 0.75, Millis::ZERO), Some(4.0));
        assert_eq!(medians.first_flag(late, 0.75, 3.0, Millis::ZERO), Some(Millis::new(3001)));
    }

    #[test]
    fn only_the_last_median_at_one_time_counts() {
        let timeline = timeline(&[(0, 1000), (900, 1000), (0, 1000), (0, 1050)]);
        let medians = Medians::of(&timeline, MedianRule::Ordinary);
        // The median of the first two ends, 550 ms, would give a multiplier of 1.8.
        assert_eq!(medians.greatest_multiplier(&timeline.attempts[3], 0.5, Millis::ZERO), Some(1.05));
    }

    #[test]
    fn groups_of_one_task_or_none_have_no_multiplier() {
        let one = timeline(&[(0, 1000)]);
        let medians = Medians::of(&one, MedianRule::Upper);
        assert_eq!(medians.greatest_multiplier(&one.attempts[0], 0.5, Millis::ZERO), None);
        let none = Medians::of(&Timeline::default(), MedianRule::Upper);
        assert_eq!(none.greatest_multiplier(&attempt(0, 10), 0.5, Millis::ZERO), None);
        assert_eq!(grid(SparkSpeculation::V4).len(), 12);
    }
}
