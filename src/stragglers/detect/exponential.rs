//! The smoothed progress rate of Hadoop 3.3 (`SimpleExponentialSmoothing`).

/// A rate below this, per millisecond, is taken as this: without a forecast nothing seems ever to end.
const LEAST_RATE: f64 = 1e-10;

/// The simple exponential smoothing of one attempt's progress rate, after its last report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Smoothing {
    start_ms: i64,
    at_ms: i64,
    progress: f64,
    /// Smoothed rate in 1/ms.
    rate: f64,
    /// Reports so far.
    count: u32,
    lambda_ms: i64,
    skip: u32,
}

impl Smoothing {
    /// `mapreduce.job.task.estimator.simple.exponential.smooth.lambda-ms`.
    pub const LAMBDA_MS: i64 = 120_000;
    /// `mapreduce.job.task.estimator.simple.exponential.smooth.skip-initials`.
    pub const SKIP: u32 = 24;

    /// Nothing reported yet by an attempt that was launched at `start_ms`.
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
        // The first rate stands for the past that the attempt does not have.
        let before = if self.count == 0 { rate } else { self.rate };
        let rate = weight.mul_add(rate, (1.0 - weight) * before);
        Self { at_ms, progress, rate, count: self.count + 1, lambda_ms, ..self }
    }

    /// Reports so far.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// The smoothed rate in 1/ms; `None` until there are more reports than are skipped, which Hadoop writes as -1.
    #[must_use]
    pub fn forecast(&self) -> Option<f64> {
        (self.count > self.skip).then_some(self.rate)
    }

    /// How long the attempt will run, in ms.
    #[must_use]
    #[allow(clippy::cast_possible_truncation)] // as Hadoop does; float casts saturate
    pub fn estimated_run_time(&self) -> i64 {
        let left = (1.0 - self.progress) / self.forecast().unwrap_or(LEAST_RATE).max(LEAST_RATE);
        (left + self.at_ms.saturating_sub(self.start_ms) as f64) as i64
    }
}

/// How long a new attempt will run: the upper end of the mean's 95 % interval, and a margin of half a standard
/// deviation or a quarter, whichever is less (`SimpleExponentialTaskRuntimeEstimator`).
#[must_use]
pub fn replacement_with_margin(mean: f64, standard_deviation: f64, count: usize) -> f64 {
    let half_width = if count > 1 { 1.96 * standard_deviation / (count as f64).sqrt() } else { 0.0 };
    let upper = mean + half_width;
    upper + (0.25 * upper).min(standard_deviation / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_rate_stays() {
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
    fn a_report_of_the_same_moment_tells_nothing() {
        let one = Smoothing::new(0, 1000, 0).after(500, 0.5);
        assert_eq!(one.after(500, 0.9), one);
        assert_eq!(Smoothing::new(7, 1000, 0).estimated_run_time(), 10_000_000_000);
    }
}
