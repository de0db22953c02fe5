//! Samples of one metric of one node, and their mean over a time window.

/// A sample reported by a tool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sample {
    /// The end of its interval, in milliseconds since the epoch.
    pub(super) end: i64,
    /// The length of its interval in milliseconds, if the tool reports it.
    pub(super) length: Option<i64>,
    /// The mean over the interval.
    pub(super) value: f64,
}

/// Samples in time order; their intervals do not overlap.
#[derive(Debug, Clone, Default)]
pub(super) struct Series {
    intervals: Vec<Interval>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Interval {
    start: i64,
    end: i64,
    value: f64,
}

/// Assumed interval of a single sample: `tsar` and most installations of `sar` and Prometheus record every
/// minute or more often.
const SINGLE_SAMPLE_LENGTH: i64 = 60_000;

/// If the distance to the previous sample exceeds this multiple of the median distance, the sample does not
/// cover the whole gap.
const MAX_GAP: i64 = 2;

impl Series {
    /// `samples` must be sorted by end and unique.
    pub(super) fn new(samples: &[Sample]) -> Self {
        let usual = median_distance(samples).unwrap_or(SINGLE_SAMPLE_LENGTH);
        let mut intervals: Vec<Interval> = Vec::with_capacity(samples.len());
        for sample in samples {
            let before = intervals.last().map(|last| last.end);
            let distance = before.map(|before| sample.end.saturating_sub(before));
            let length = sample.length.filter(|length| *length > 0).unwrap_or_else(|| match distance {
                Some(distance) if distance <= usual.saturating_mul(MAX_GAP) => distance,
                _ => usual,
            });
            let start = sample.end.saturating_sub(length).max(before.unwrap_or(i64::MIN));
            intervals.push(Interval { start, end: sample.end, value: sample.value });
        }
        Self { intervals }
    }

    /// The time-weighted mean from `start` to `finish`; `None` if intervals cover less than `min_coverage` of
    /// that time, or if the window is empty.
    pub(super) fn mean(&self, start: i64, finish: i64, min_coverage: f64) -> Option<f64> {
        let window = finish.checked_sub(start).filter(|window| *window > 0)?;
        let first = self.intervals.partition_point(|interval| interval.end <= start);
        let within = self.intervals.get(first..)?.iter().take_while(|interval| interval.start < finish);
        let (mut covered, mut weighted) = (0.0, 0.0);
        for interval in within {
            let overlap = interval.end.min(finish).saturating_sub(interval.start.max(start));
            if overlap > 0 {
                covered += overlap as f64;
                weighted += overlap as f64 * interval.value;
            }
        }
        (covered > 0.0 && covered / window as f64 >= min_coverage).then(|| weighted / covered)
    }
}

/// The median distance between samples.
fn median_distance(samples: &[Sample]) -> Option<i64> {
    let pairs = samples.windows(2).filter_map(|pair| match pair {
        [before, after] => after.end.checked_sub(before.end),
        _ => None,
    });
    let mut distances: Vec<i64> = pairs.filter(|distance| *distance > 0).collect();
    distances.sort_unstable();
    distances.get(distances.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn series(samples: &[(i64, f64)]) -> Series {
        let samples: Vec<Sample> =
            samples.iter().map(|&(end, value)| Sample { end, length: None, value }).collect();
        Series::new(&samples)
    }

    #[test]
    fn a_sample_covers_the_time_before_it() {
        let series = series(&[(10, 1.0), (20, 3.0), (30, 5.0)]);
        assert_eq!(series.mean(10, 20, 0.5), Some(3.0));
        assert_eq!(series.mean(5, 25, 0.5), Some(0.25 * 1.0 + 0.5 * 3.0 + 0.25 * 5.0));
        assert_eq!(series.mean(0, 10, 0.5), Some(1.0), "the first has the median length");
    }

    #[test]
    fn half_of_the_window_must_be_covered() {
        let series = series(&[(10, 4.0), (20, 4.0)]);
        assert_eq!(series.mean(10, 30, 0.5), Some(4.0));
        assert_eq!(series.mean(10, 31, 0.5), None);
        assert_eq!(series.mean(20, 30, 0.5), None);
        assert_eq!(series.mean(10, 10, 0.0), None);
        assert_eq!(series.mean(20, 10, 0.0), None);
        assert_eq!(Series::default().mean(0, 10, 0.0), None);
    }

    #[test]
    fn a_gap_is_not_filled() {
        let series = series(&[(10, 1.0), (20, 1.0), (30, 1.0), (100, 9.0), (110, 1.0)]);
        assert_eq!(series.mean(35, 85, 0.5), None);
        assert_eq!(series.mean(90, 100, 0.5), Some(9.0));
    }

    #[test]
    fn a_single_sample_covers_a_minute() {
        let series = series(&[(100_000, 7.0)]);
        assert_eq!(series.mean(40_000, 100_000, 1.0), Some(7.0));
        assert_eq!(series.mean(0, 40_000, 0.0), None);
    }

    proptest! {
        #[test]
        fn a_mean_lies_between_its_samples(
            steps in prop::collection::vec((1i64..100, 0.0f64..100.0), 1..30),
            start in -100i64..2000,
            window in 1i64..500,
        ) {
            let mut end = 0;
            let samples: Vec<(i64, f64)> = steps.iter().map(|&(step, value)| { end += step; (end, value) }).collect();
            let low = samples.iter().map(|s| s.1).fold(f64::INFINITY, f64::min);
            let high = samples.iter().map(|s| s.1).fold(0.0, f64::max);
            if let Some(mean) = series(&samples).mean(start, start + window, 0.5) {
                prop_assert!(low - 1e-9 <= mean && mean <= high + 1e-9);
            }
        }
    }
}
