//! Weighted samples, as the likelihoods use them.

use elephant_base::stats::elementary::ln;

/// Samples of up to this many values are never condensed.
const MAX_UNCONDENSED: usize = 96;
/// This many of the smallest and of the largest values stay unchanged in a condensed sample.
const SMALLEST: usize = 24;
const LARGEST: usize = 8;
/// The values between them are condensed into this many blocks.
const BLOCKS: usize = 24;
/// This many powers of the distances from the mean give a logarithm to the last digit within [`NEAR`].
const POWERS: i32 = 10;
/// Distances from the mean below this are small, relative to the mean.
const NEAR: f64 = 0.01;

/// Values relative to the smallest one, each with a weight.
#[derive(Debug, Clone, Default)]
pub(super) struct Points {
    pub(super) values: Vec<f64>,
    pub(super) weights: Vec<f64>,
    pub(super) total: f64,
    powers: Powers,
}

/// Powers of the distances of values from their mean.
#[derive(Debug, Clone, Default)]
struct Powers {
    farthest: f64,
    /// Means of the second and higher powers of the distances, each divided by the greatest distance.
    means: Vec<f64>,
}

impl Points {
    /// From a sorted sample, each value with weight 1.
    pub(super) fn whole(sorted: &[f64]) -> Self {
        let least = sorted.first().copied().unwrap_or_default();
        let values = sorted.iter().map(|value| value - least).collect();
        Self::of(values, vec![1.0; sorted.len()], sorted.len() as f64)
    }

    fn of(values: Vec<f64>, weights: Vec<f64>, total: f64) -> Self {
        let mean = weighted_sum(&values, &weights) / total;
        let farthest = values.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
        let mean_of_power = |power: i32| {
            let [sum] =
                sums(&values, &weights, |value, weight| [weight * ((value - mean) / farthest).powi(power)]);
            sum / total
        };
        let powers = Powers { farthest, means: (2..=POWERS).map(mean_of_power).collect() };
        Self { values, weights, total, powers }
    }

    /// The logarithm of the mean minus the mean of the logarithms, for values whose mean is `mean`. `None`
    /// unless the values are so close together, relative to their mean, that computing with logarithms would
    /// lose digits.
    pub(super) fn small_gap(&self, mean: f64) -> Option<f64> {
        let farthest = self.powers.farthest / mean;
        (farthest < NEAR).then(|| {
            // ln(1 + d) = d - d²/2 + d³/3 - …, and the mean of d is 0.
            let mut term = -farthest;
            let terms = self.powers.means.iter().zip(2u8..).map(|(power, order)| {
                term *= -farthest;
                term * power / f64::from(order)
            });
            terms.sum()
        })
    }

    /// A few points that give nearly the same sums for smooth functions as the sample.
    ///
    /// The ends are kept, because they decide where a threshold may lie. Between them each block of
    /// neighbours becomes two points with the block's mean and variance (two-point Gauss rule). `None` if the
    /// sample is small.
    pub(super) fn condensed(sorted: &[f64]) -> Option<Self> {
        if sorted.len() <= MAX_UNCONDENSED {
            return None;
        }
        let least = sorted.first().copied()?;
        let (low, rest) = sorted.split_at_checked(SMALLEST)?;
        let (middle, high) = rest.split_at_checked(rest.len().checked_sub(LARGEST)?)?;
        let (mut values, mut weights) = (Vec::new(), Vec::new());
        let mut add = |value: f64, weight: f64| {
            values.push((value - least).max(0.0));
            weights.push(weight);
        };
        for &value in low {
            add(value, 1.0);
        }
        for block in middle.chunks(middle.len().div_ceil(BLOCKS)) {
            let n = block.len() as f64;
            let mean = block.iter().sum::<f64>() / n;
            let spread = (block.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
            add(mean - spread, n / 2.0);
            add(mean + spread, n / 2.0);
        }
        for &value in high {
            add(value, 1.0);
        }
        Some(Self::of(values, weights, sorted.len() as f64))
    }

    /// The weighted mean of the values.
    pub(super) fn mean(&self) -> f64 {
        weighted_sum(&self.values, &self.weights) / self.total
    }
}

/// A sample shifted and scaled to mean 0 and standard deviation 1 (with `n`). For such a sample the
/// parameters of a location-scale family are about 0 and 1.
#[derive(Debug, Clone, Default)]
pub(super) struct Standardised {
    pub(super) values: Vec<f64>,
    pub(super) mean: f64,
    pub(super) deviation: f64,
}

impl Standardised {
    /// Standardises `values`.
    pub(super) fn of(&mut self, values: &[f64], weights: &[f64], total: f64) {
        self.values.clear();
        self.values.extend_from_slice(values);
        self.standardise(weights, total);
    }

    /// Standardises the logarithms of `(values + offset) / mean`, and returns that mean of `values + offset`.
    ///
    /// The division brings the logarithms close to 0, so that they keep their digits.
    pub(super) fn of_logarithms(&mut self, points: &Points, offset: f64) -> f64 {
        let mean = points.mean() + offset;
        let inverse = 1.0 / mean;
        self.values.clear();
        self.values.extend(points.values.iter().map(|value| ln((value + offset) * inverse)));
        self.standardise(&points.weights, points.total);
        mean
    }

    fn standardise(&mut self, weights: &[f64], total: f64) {
        self.mean = weighted_sum(&self.values, weights) / total;
        let mean = self.mean;
        self.values.iter_mut().for_each(|value| *value -= mean);
        self.deviation = (weighted_squares(&self.values, weights) / total).sqrt();
        let inverse = 1.0 / self.deviation;
        self.values.iter_mut().for_each(|value| *value *= inverse);
    }
}

/// Sums use four lanes, so that they are vectorised; the order of additions is fixed.
const LANES: usize = 4;

/// The sum of `term(value, weight)` in a fixed order.
#[inline]
pub(super) fn sums<const N: usize>(
    values: &[f64],
    weights: &[f64],
    term: impl Fn(f64, f64) -> [f64; N],
) -> [f64; N] {
    let mut lanes = [[0.0; LANES]; N];
    let (chunks, rest) = values.as_chunks::<LANES>();
    let (weight_chunks, rest_weights) = weights.as_chunks::<LANES>();
    for (chunk, weights) in chunks.iter().zip(weight_chunks) {
        let mut terms = [[0.0; LANES]; N];
        for (lane, (value, weight)) in chunk.iter().zip(weights).enumerate() {
            for (row, part) in terms.iter_mut().zip(term(*value, *weight)) {
                if let Some(slot) = row.get_mut(lane) {
                    *slot = part;
                }
            }
        }
        for (sum, row) in lanes.iter_mut().zip(terms) {
            sum.iter_mut().zip(row).for_each(|(sum, part)| *sum += part);
        }
    }
    let mut totals = lanes.map(|lanes| lanes.iter().sum::<f64>());
    for (value, weight) in rest.iter().zip(rest_weights) {
        totals.iter_mut().zip(term(*value, *weight)).for_each(|(total, part)| *total += part);
    }
    totals
}

fn weighted_sum(values: &[f64], weights: &[f64]) -> f64 {
    let [sum] = sums(values, weights, |value, weight| [weight * value]);
    sum
}

fn weighted_squares(values: &[f64], weights: &[f64]) -> f64 {
    let [sum] = sums(values, weights, |value, weight| [weight * value * value]);
    sum
}
