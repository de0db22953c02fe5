//! Fits location-scale families to a standardised sample: the inner fits of all families except the gamma.

mod logistic;
mod normal;
mod smallest_extreme_value;

use super::points::Standardised;

/// A family with density `f((x - location) / scale) / scale`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LocationScale {
    Normal,
    SmallestExtremeValue,
    Logistic,
}

/// Parameters of a location-scale family and their log-likelihood.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Located {
    pub(super) location: f64,
    pub(super) scale: f64,
    pub(super) log_likelihood: f64,
}

/// Required accuracy of the maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exactness {
    /// The log-likelihood is accurate to 1e-9 for a sample of a thousand, which is enough to compare
    /// thresholds.
    Value,
    /// The parameters are accurate to the last digits as well.
    Parameters,
}

impl LocationScale {
    /// The maximum of the likelihood on a standardised sample, in its units. `start` is a nearby maximum,
    /// such as that of the neighbouring threshold.
    pub(super) fn fit(
        self,
        sample: &[f64],
        weights: &[f64],
        total: f64,
        start: Option<Located>,
        exactness: Exactness,
    ) -> Option<Located> {
        match self {
            Self::Normal => Some(normal::fit(total)),
            Self::SmallestExtremeValue => {
                smallest_extreme_value::fit(sample, weights, total, start, exactness)
            }
            Self::Logistic => logistic::fit(sample, weights, total, start, exactness),
        }
    }

    /// The maximum of the likelihood on the original sample, in its units.
    pub(super) fn fit_whole(self, values: &[f64]) -> Option<Located> {
        let weights = vec![1.0; values.len()];
        let total = values.len() as f64;
        let mut sample = Standardised::default();
        sample.of(values, &weights, total);
        if !(sample.deviation > 0.0 && sample.deviation.is_finite()) {
            return None;
        }
        let inner = self.fit(&sample.values, &weights, total, None, Exactness::Parameters)?;
        Some(Located {
            location: sample.mean + sample.deviation * inner.location,
            scale: sample.deviation * inner.scale,
            log_likelihood: inner.log_likelihood - total * sample.deviation.ln(),
        })
    }
}
