//! Pools the results of detectors over jobs.

use super::Evaluated;
use crate::stragglers::quality::Quality;

/// One detector over many jobs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Pooled {
    /// Counts of all jobs added up (micro average).
    pub total: Evaluated,
    /// Means over the jobs with a known value (macro average).
    pub means: Means,
}

/// Means of ratios over the jobs with a known value.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Means {
    /// Mean of [`Quality::precision`].
    pub precision: Option<f64>,
    /// Mean of [`Quality::precision_raw`].
    pub precision_raw: Option<f64>,
    /// Mean of [`Quality::recall`].
    pub recall: Option<f64>,
    /// Mean of [`Quality::recall_strict`].
    pub recall_strict: Option<f64>,
    /// Mean of [`Quality::detection_latency`].
    pub detection_latency: Option<f64>,
    /// Mean of [`Quality::undetected_time`].
    pub undetected_time: Option<f64>,
    /// Mean of [`Quality::fake_positive_ratio`].
    pub fake_positive_ratio: Option<f64>,
}

/// The sum and the number of known values.
#[derive(Debug, Clone, Copy, Default)]
struct MeanSum {
    sum: f64,
    count: u64,
}

impl MeanSum {
    fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            self.sum += value;
            self.count += 1;
        }
    }

    fn mean(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

/// The ratios that [`Means`] has, in its order.
const RATIOS: [fn(&Quality) -> Option<f64>; 7] = [
    Quality::precision,
    Quality::precision_raw,
    Quality::recall,
    Quality::recall_strict,
    Quality::detection_latency,
    Quality::undetected_time,
    Quality::fake_positive_ratio,
];

/// Pools jobs that were judged by the same detectors, one job at a time. Each job is a sum over its groups.
#[derive(Debug, Default)]
pub struct Pool(Vec<(Evaluated, [MeanSum; RATIOS.len()])>);

impl Pool {
    /// Adds the detectors of a job.
    pub fn add(&mut self, job: &[Evaluated]) {
        for (place, detector) in job.iter().enumerate() {
            if self.0.len() <= place {
                let quality = Quality::default();
                let total = Evaluated { quality, detections: Vec::new(), ..detector.clone() };
                self.0.push((total, Default::default()));
            }
            let Some((total, sums)) = self.0.get_mut(place) else { continue };
            total.quality = total.quality + detector.quality;
            sums.iter_mut().zip(RATIOS).for_each(|(sum, ratio)| sum.add(ratio(&detector.quality)));
        }
    }

    /// The sums and means over all jobs.
    #[must_use]
    pub fn finish(self) -> Vec<Pooled> {
        let pooled = |(total, sums): (Evaluated, [MeanSum; RATIOS.len()])| {
            let [precision, precision_raw, recall, recall_strict, latency, undetected, fakes] =
                sums.map(MeanSum::mean);
            let means = Means {
                precision,
                precision_raw,
                recall,
                recall_strict,
                detection_latency: latency,
                undetected_time: undetected,
                fake_positive_ratio: fakes,
            };
            Pooled { total, means }
        };
        self.0.into_iter().map(pooled).collect()
    }
}

/// Pools jobs that are all in memory.
#[must_use]
pub fn pool(jobs: &[Vec<Evaluated>]) -> Vec<Pooled> {
    let mut pool = Pool::default();
    for job in jobs {
        pool.add(job);
    }
    pool.finish()
}
