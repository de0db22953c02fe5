//! Fits ten families of distributions to a node's normalised task durations and compares them by Anderson and
//! Darling's A² (S1, section III C: Ouyang et al., "An Approach for Modeling and Ranking Node-level
//! Stragglers in Cloud Datacenters").

mod distribution;
mod exponential;
mod family;
mod gamma;
mod goodness;
mod location_scale;
mod maximise;
mod points;
#[cfg(test)]
mod tests;
mod threshold;

pub use distribution::Distribution;
pub use family::Family;
pub(crate) use goodness::goodness;
pub use goodness::{Goodness, Normality, normality};

use location_scale::{Located, LocationScale};
use threshold::{Inner, ThresholdFit};

/// Samples with fewer values are not fitted.
pub(crate) const MIN_VALUES: usize = 5;

/// How a fit was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// By a formula, or from a likelihood with a single maximum.
    Closed,
    /// The threshold is at a maximum of the profile likelihood.
    Interior,
    /// The likelihood grows as the threshold goes to minus infinity: the family's limit without a threshold
    /// fits as well.
    LowerBound,
    /// The likelihood only grows towards the smallest value, where it is unbounded; never the best fit.
    Degenerate,
}

impl Status {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Interior => "interior",
            Self::LowerBound => "lower_bound",
            Self::Degenerate => "degenerate",
        }
    }
}

/// A family fitted to a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Fit {
    /// The distribution.
    pub distribution: Distribution,
    /// How it was found.
    pub status: Status,
    /// The logarithm of the likelihood.
    pub log_likelihood: f64,
    /// Distances between sample and distribution.
    pub goodness: Goodness,
    /// Akaike's information criterion.
    pub aic: f64,
    /// Schwarz's information criterion.
    pub bic: f64,
}

#[doc(hidden)]
impl Fit {
    /// The family.
    #[must_use]
    pub const fn family(&self) -> Family {
        self.distribution.family
    }
}

/// All families that can be fitted to a sorted sample, in the order of [`Family::ALL`]. Empty for fewer than
/// `MIN_VALUES` values, or if all are equal.
#[must_use]
pub fn fit_all(sorted: &[f64]) -> Vec<Fit> {
    let (Some(least), Some(greatest)) = (sorted.first(), sorted.last()) else { return Vec::new() };
    let range = greatest - least;
    if sorted.len() < MIN_VALUES || !(range > 0.0 && range.is_finite()) {
        return Vec::new();
    }
    let mut fits = Vec::with_capacity(Family::ALL.len());
    let mut add = |found: Option<(Distribution, Status, f64)>| fits.extend(judge(sorted, found));
    add(two_parameters(Family::Normal, sorted));
    add(exponential::fit(sorted));
    add(two_parameters(Family::SmallestExtremeValue, sorted));
    add(two_parameters(Family::LargestExtremeValue, sorted));
    add(two_parameters(Family::Loglogistic, sorted));
    let families = [Family::Lognormal3, Family::Weibull3, Family::Gamma3, Family::Loglogistic3];
    for (family, fit) in families.into_iter().zip(threshold::fit(sorted)) {
        add(fit.map(|fit| with_threshold(family, *least, fit)));
    }
    add(two_parameters(Family::Logistic, sorted));
    fits
}

/// Candidates for the best fit, best first: by A² rounded to 1e-9, then by the number of parameters, then in
/// family order.
#[must_use]
pub fn ranked(fits: &[Fit]) -> Vec<&Fit> {
    let rounded = |fit: &Fit| fit.goodness.anderson_darling.map(|a| (a * 1e9).round());
    let is_candidate = |fit: &&Fit| fit.family().is_candidate() && fit.status != Status::Degenerate;
    let mut ranked: Vec<(f64, &Fit)> =
        fits.iter().filter(is_candidate).filter_map(|fit| Some((rounded(fit)?, fit))).collect();
    ranked.sort_by(|(a, left), (b, right)| {
        let key = |fit: &Fit| (fit.family().parameters(), fit.family());
        a.total_cmp(b).then_with(|| key(left).cmp(&key(right)))
    });
    ranked.into_iter().map(|(_, fit)| fit).collect()
}

fn judge(sorted: &[f64], found: Option<(Distribution, Status, f64)>) -> Option<Fit> {
    let (distribution, status, log_likelihood) = found?;
    let tails = distribution.tails().filter(|_| log_likelihood.is_finite())?;
    let parameters = f64::from(distribution.family.parameters());
    Some(Fit {
        distribution,
        status,
        log_likelihood,
        goodness: goodness(sorted, &tails),
        aic: 2.0 * parameters - 2.0 * log_likelihood,
        bic: parameters * (sorted.len() as f64).ln() - 2.0 * log_likelihood,
    })
}

/// Fits families without a threshold; `None` for a loglogistic if a value is not positive.
fn two_parameters(family: Family, sorted: &[f64]) -> Option<(Distribution, Status, f64)> {
    let whole = |fit: Located| (fit.location, fit.scale, fit.log_likelihood);
    let (first, second, log_likelihood) = match family {
        Family::Normal => whole(LocationScale::Normal.fit_whole(sorted)?),
        Family::SmallestExtremeValue => whole(LocationScale::SmallestExtremeValue.fit_whole(sorted)?),
        Family::LargestExtremeValue => {
            let mirrored: Vec<f64> = sorted.iter().map(|value| -value).collect();
            let fit = LocationScale::SmallestExtremeValue.fit_whole(&mirrored)?;
            (-fit.location, fit.scale, fit.log_likelihood)
        }
        Family::Logistic => whole(LocationScale::Logistic.fit_whole(sorted)?),
        Family::Loglogistic => {
            if sorted.first().is_none_or(|&least| least <= 0.0) {
                return None;
            }
            let logarithms: Vec<f64> = sorted.iter().map(|value| value.ln()).collect();
            let fit = LocationScale::Logistic.fit_whole(&logarithms)?;
            (fit.location, fit.scale, fit.log_likelihood - logarithms.iter().sum::<f64>())
        }
        _ => return None,
    };
    Some((Distribution { family, threshold: None, first, second }, Status::Closed, log_likelihood))
}

fn with_threshold(family: Family, least: f64, fit: ThresholdFit) -> (Distribution, Status, f64) {
    let (first, second) = match fit.inner {
        Inner::Log { location, scale } if family == Family::Weibull3 => (1.0 / scale, location.exp()),
        Inner::Log { location, scale } => (location, scale),
        Inner::Gamma { shape, scale } => (shape, scale),
    };
    let threshold = Some(least - fit.offset);
    (Distribution { family, threshold, first, second }, fit.status, fit.log_likelihood)
}
