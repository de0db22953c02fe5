//! Hadoop 3.3's smoothed progress rate (`SimpleExponentialSmoothing`).

use elephant_base::whole::Whole;

/// Lower bound of the rate, per millisecond. Without a forecast an attempt thus seems never to end.
const LEAST_RATE: f64 = 1e-10;

/// Simple exponential smoothing of an attempt's progress rate, up to its last report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Smoothing {
    start_ms: i64,
    at_ms: i64,
    progress: f64,
    /// Smoothed rate in 1/ms.
    rate: f64,
    /// Number of reports.
    count: u32,
    lambda_ms: i64,
    skip: u32,
}

impl Smoothing {
    /// `mapreduce.job.task.estimator.simple.exponential.smooth.lambda-ms`.
    pub const LAMBDA_MS: i64 = 120_000;
    /// `mapreduce.job.task.estimator.simple.exponential.smooth.skip-initials`.
    pub const SKIP: u32 = 24;

    /// The initial state of an attempt launched at `start_ms`, before its first report.
    #[must_use]
    pub const fn new(start_ms: i64, lambda_ms: i64, skip: u32) -> Self {
        Self { start_ms, at_ms: start_ms, progress: 0.0, rate: 0.0, count: 0, lambda_ms, skip }
    }

    /// The state after another report.
    #[must_use]
    pub fn after(self, at_ms: i64, progress: f64) -> Self {
        let step = at_ms.saturating_sub(self.at_ms);
        if step <= 0 {
            return self;
        }
        let step = step as f64;
        let rate = (progress - self.progress) / step;
        let lambda_ms = if self.count == self.skip {
            self.lambda_ms.max(at_ms.saturating_sub(self.start_ms))
        } else {
            self.lambda_ms
        };
        let weight = -(-step / lambda_ms as f64).exp_m1();
        // The first rate initialises the average.
        let before = if self.count == 0 { rate } else { self.rate };
        let rate = weight.mul_add(rate, (1.0 - weight) * before);
        Self { at_ms, progress, rate, count: self.count + 1, lambda_ms, ..self }
    }

    /// Number of reports.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// The smoothed rate in 1/ms; `None` for the first reports, which are skipped. Hadoop returns -1 there.
    #[must_use]
    pub fn forecast(&self) -> Option<f64> {
        (self.count > self.skip).then_some(self.rate)
    }

    /// Estimated run time of the attempt, in ms.
    #[must_use]
    pub fn estimated_run_time(&self) -> i64 {
        let left = (1.0 - self.progress) / self.forecast().unwrap_or(LEAST_RATE).max(LEAST_RATE);
        (left + self.at_ms.saturating_sub(self.start_ms) as f64).as_i64()
    }
}

/// Estimated run time of a new attempt: the upper end of the mean's 95 % interval, plus half a standard
/// deviation or a quarter, whichever is less (`SimpleExponentialTaskRuntimeEstimator`).
#[must_use]
pub(crate) fn replacement_with_margin(mean: f64, standard_deviation: f64, count: usize) -> f64 {
    let half_width = if count > 1 { 1.96 * standard_deviation / (count as f64).sqrt() } else { 0.0 };
    let upper = mean + half_width;
    upper + (0.25 * upper).min(standard_deviation / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_rate_is_kept() {
        let mut smoothing = Smoothing::new(0, Smoothing::LAMBDA_MS, Smoothing::SKIP);
        for report in 1..=30 {
            smoothing = smoothing.after(report * 3000, 0.01 * report as f64);
            assert_eq!(smoothing.forecast().is_some(), report > 24);
        }
        let forecast = smoothing.forecast().unwrap();
        assert!((forecast - 0.01 / 3000.0).abs() < 1e-15);
        assert!((smoothing.estimated_run_time() - 300_000).abs() <= 1);
    }

    #[test]
    fn a_report_at_the_same_time_is_ignored() {
        let one = Smoothing::new(0, 1000, 0).after(500, 0.5);
        assert_eq!(one.after(500, 0.9), one);
        assert_eq!(Smoothing::new(7, 1000, 0).estimated_run_time(), 10_000_000_000);
    }
}
