//! Fits families with a threshold by a profile likelihood over the threshold. The result is deterministic.
//!
//! The likelihood of such a family is unbounded as the threshold approaches the smallest value, so a plain
//! optimiser stops at an arbitrary point. Here the threshold is `min - range · e^u` with `u` on a grid of 141
//! points from ln 1e-4 to ln 1e3, and each point gets the likelihood of the best other two parameters. The
//! fit is the highest maximum inside the grid. Without one, or if the far end is higher, the threshold stays
//! at the far end, which is close to the limit of a family without a threshold.

use super::location_scale::{Exactness, Located, LocationScale};
use super::maximise::{Valued, maximise};
use super::points::{Points, Standardised};
use super::{Status, gamma};

/// Number of grid points.
const GRID: usize = 141;
/// Differences between two points of a condensed sample's profile are off by less than this.
const MARGIN: f64 = 5.0;

/// A family with a threshold, by its distribution above the threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Values above the threshold whose logarithms have a location-scale distribution.
    Log(LocationScale),
    Gamma,
}

/// The families, in family order.
pub(super) const KINDS: [Kind; 4] = [
    Kind::Log(LocationScale::Normal),
    Kind::Log(LocationScale::SmallestExtremeValue),
    Kind::Gamma,
    Kind::Log(LocationScale::Logistic),
];

/// Parameters of the distribution of values above a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Inner {
    /// Location and scale of the logarithms.
    Log { location: f64, scale: f64 },
    /// Shape and scale.
    Gamma { shape: f64, scale: f64 },
}

/// A fit with a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ThresholdFit {
    pub(super) status: Status,
    /// Distance of the threshold below the smallest value.
    pub(super) offset: f64,
    pub(super) inner: Inner,
    pub(super) log_likelihood: f64,
}

/// Fits all four families to a sorted sample with at least two different values.
pub(super) fn fit(sorted: &[f64]) -> [Option<ThresholdFit>; 4] {
    let points = Points::whole(sorted);
    let condensed = Points::condensed(sorted);
    fit_points(&points, condensed.as_ref())
}

/// Fits without condensing the sample, for comparison.
#[cfg(test)]
pub(super) fn fit_whole(sorted: &[f64]) -> [Option<ThresholdFit>; 4] {
    fit_points(&Points::whole(sorted), None)
}

fn fit_points(points: &Points, condensed: Option<&Points>) -> [Option<ThresholdFit>; 4] {
    let range = points.values.last().copied().unwrap_or_default();
    let mut scratch = Standardised::default();
    let rough = profiles(condensed.unwrap_or(points), range, &mut scratch);
    let mut slots = KINDS.map(|_| None);
    for ((slot, kind), rough) in slots.iter_mut().zip(KINDS).zip(rough) {
        let mut profile = Profile {
            kind,
            points,
            range,
            scratch: &mut scratch,
            known: if condensed.is_some() {
                vec![None; GRID]
            } else {
                rough.iter().map(|v| Some(*v)).collect()
            },
            near: None,
        };
        *slot = profile.search(&rough);
    }
    slots
}

/// The value of `u` at a grid point.
fn grid_point(index: usize) -> f64 {
    let (first, last) = (1e-4f64.ln(), 1e3f64.ln());
    first + (last - first) * index as f64 / (GRID - 1) as f64
}

/// The log-likelihood at each grid point for each family. The families share the logarithms.
fn profiles(points: &Points, range: f64, scratch: &mut Standardised) -> [Vec<f64>; 4] {
    let mut values = KINDS.map(|_| Vec::with_capacity(GRID));
    let mut near = KINDS.map(|_| None);
    for index in 0..GRID {
        let mean = scratch.of_logarithms(points, range * grid_point(index).exp());
        for ((values, near), kind) in values.iter_mut().zip(&mut near).zip(KINDS) {
            let fit = inner(kind, points, scratch, mean, *near, Exactness::Value);
            values.push(fit.map_or(f64::NEG_INFINITY, |fit| fit.log_likelihood));
            *near = fit.and_then(|fit| fit.standard);
        }
    }
    values
}

/// The best parameters for a given threshold.
#[derive(Debug, Clone, Copy)]
struct InnerFit {
    inner: Inner,
    log_likelihood: f64,
    /// In standard units, as the start of a nearby fit.
    standard: Option<Located>,
}

/// Fits to the logarithms in `scratch`; `mean` is the mean of the values above the threshold.
fn inner(
    kind: Kind,
    points: &Points,
    scratch: &Standardised,
    mean: f64,
    near: Option<Located>,
    exactness: Exactness,
) -> Option<InnerFit> {
    let Standardised { values, mean: mean_log, deviation } = scratch;
    let n = points.total;
    match kind {
        Kind::Gamma => {
            let (shape, mean_log_likelihood) = gamma::fit(points.small_gap(mean).unwrap_or(-mean_log))?;
            let inner = Inner::Gamma { shape, scale: mean / shape };
            Some(InnerFit { inner, log_likelihood: n * (mean_log_likelihood - mean.ln()), standard: None })
        }
        Kind::Log(family) => {
            let fit = family.fit(values, &points.weights, n, near, exactness)?;
            let inner = Inner::Log {
                location: mean.ln() + mean_log + deviation * fit.location,
                scale: deviation * fit.scale,
            };
            let log_likelihood = fit.log_likelihood - n * (deviation.ln() + mean_log + mean.ln());
            let finite = log_likelihood.is_finite();
            finite.then_some(InnerFit { inner, log_likelihood, standard: Some(fit) })
        }
    }
}

/// The profile of one family over the whole sample. Grid points are computed on demand.
struct Profile<'a> {
    kind: Kind,
    points: &'a Points,
    range: f64,
    scratch: &'a mut Standardised,
    known: Vec<Option<f64>>,
    near: Option<Located>,
}

impl Profile<'_> {
    fn at(&mut self, u: f64, exactness: Exactness) -> Option<InnerFit> {
        let mean = self.scratch.of_logarithms(self.points, self.range * u.exp());
        let fit = inner(self.kind, self.points, self.scratch, mean, self.near, exactness)?;
        self.near = fit.standard.or(self.near);
        Some(fit)
    }

    fn value(&mut self, u: f64) -> f64 {
        self.at(u, Exactness::Value).map_or(f64::NEG_INFINITY, |fit| fit.log_likelihood)
    }

    fn grid_value(&mut self, index: usize) -> f64 {
        if let Some(value) = self.known.get(index).copied().flatten() {
            return value;
        }
        let value = self.value(grid_point(index));
        if let Some(slot) = self.known.get_mut(index) {
            *slot = Some(value);
        }
        value
    }

    /// Finds the fit. `rough` is the exact or approximate profile at every grid point.
    fn search(&mut self, rough: &[f64]) -> Option<ThresholdFit> {
        let mut maxima = interior_maxima(rough);
        let highest = maxima.iter().map(|&(_, value)| value).fold(f64::NEG_INFINITY, f64::max);
        maxima.retain(|&(_, value)| value >= highest - MARGIN);
        let mut starts: Vec<usize> = maxima.iter().map(|&(index, _)| index).collect();
        if starts.is_empty() {
            // A maximum that the condensed sample misses can only be near an end.
            starts = vec![1, GRID - 2];
        }
        let mut best: Option<(usize, f64)> = None;
        for start in starts {
            let Some((index, value)) = self.climb(start) else { continue };
            // On a tie, the threshold closest to the smallest value wins.
            if best.is_none_or(|(known, high)| value > high || (value >= high && index < known)) {
                best = Some((index, value));
            }
        }
        let Some((index, value)) = best else { return self.at_an_end() };
        let low = Valued { at: grid_point(index - 1), value: self.grid_value(index - 1) };
        let high = Valued { at: grid_point(index + 1), value: self.grid_value(index + 1) };
        let top = Valued { at: grid_point(index), value };
        let found = maximise(low, top, high, |u| self.value(u));
        let far = rough.last().copied().unwrap_or(f64::NEG_INFINITY);
        if far >= found.value - MARGIN && self.grid_value(GRID - 1) > found.value {
            return self.fit_at(grid_point(GRID - 1), Status::LowerBound);
        }
        self.fit_at(found.at, Status::Interior)
    }

    /// Climbs from a grid point to a maximum inside the grid; `None` if it reaches an end.
    fn climb(&mut self, start: usize) -> Option<(usize, f64)> {
        let mut index = start;
        while index > 0 && index < GRID - 1 {
            let value = self.grid_value(index);
            let (below, above) = (self.grid_value(index - 1), self.grid_value(index + 1));
            if value >= below && value > above {
                return Some((index, value));
            }
            index = if above >= value && above >= below { index + 1 } else { index - 1 };
        }
        None
    }

    fn at_an_end(&mut self) -> Option<ThresholdFit> {
        if self.grid_value(GRID - 1) > self.grid_value(0) {
            self.fit_at(grid_point(GRID - 1), Status::LowerBound)
        } else {
            self.fit_at(grid_point(0), Status::Degenerate)
        }
    }

    fn fit_at(&mut self, u: f64, status: Status) -> Option<ThresholdFit> {
        let fit = self.at(u, Exactness::Parameters)?;
        Some(ThresholdFit {
            status,
            offset: self.range * u.exp(),
            inner: fit.inner,
            log_likelihood: fit.log_likelihood,
        })
    }
}

/// Grid points at least as high as the one before and higher than the one after.
fn interior_maxima(values: &[f64]) -> Vec<(usize, f64)> {
    let triples = values.windows(3).enumerate();
    let tops = triples.filter_map(|(index, triple)| match triple {
        [below, value, above] if value >= below && value > above => Some((index + 1, *value)),
        _ => None,
    });
    tops.collect()
}
