//! Fitted distributions: tails, quantiles and moments.

use std::f64::consts::PI;

use super::family::Family;
use elephant_base::stats::gamma::{IncompleteGamma, ln_gamma};
use elephant_base::stats::normal;

/// Euler's constant γ.
const EULER: f64 = 0.577_215_664_901_532_9;

/// A distribution with its parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Distribution {
    /// Its family.
    pub family: Family,
    /// Lower bound of the values, for families with a threshold.
    pub threshold: Option<f64>,
    /// Location (`mu`, `theta`); the shape for gamma and Weibull.
    pub first: f64,
    /// Scale (`sigma`, `s`, `beta`, `scale`).
    pub second: f64,
}

#[doc(hidden)]
impl Distribution {
    /// The parameters by name, in the customary order.
    #[must_use]
    pub fn parameters(&self) -> Vec<(&'static str, f64)> {
        let (first, second) = match self.family {
            Family::Normal | Family::Lognormal3 => ("mu", "sigma"),
            Family::Exponential2 => ("theta", "beta"),
            Family::Weibull3 | Family::Gamma3 => ("shape", "scale"),
            _ => ("mu", "s"),
        };
        let threshold = self.threshold.map(|threshold| ("threshold", threshold));
        threshold.into_iter().chain([(first, self.first), (second, self.second)]).collect()
    }

    /// Prepares the computation of tails at many points; `None` if the parameters are not valid.
    #[must_use]
    pub(crate) fn tails(&self) -> Option<Tails> {
        let Self { family, threshold, first, second } = *self;
        let (kernel, location, scale) = match family {
            Family::Normal | Family::Lognormal3 => (Kernel::Normal, first, second),
            Family::Exponential2 => (Kernel::Exponential, first, second),
            Family::SmallestExtremeValue => (Kernel::SmallestExtremeValue, first, second),
            Family::LargestExtremeValue => (Kernel::LargestExtremeValue, first, second),
            Family::Logistic | Family::Loglogistic | Family::Loglogistic3 => {
                (Kernel::Logistic, first, second)
            }
            Family::Weibull3 => (Kernel::SmallestExtremeValue, second.ln(), 1.0 / first),
            Family::Gamma3 => (Kernel::Gamma(Box::new(IncompleteGamma::new(first)?)), 0.0, second),
        };
        let valid = scale > 0.0 && scale.is_finite() && location.is_finite();
        let above = match family {
            Family::Loglogistic => Some(0.0),
            _ => threshold,
        };
        let logarithms = above.is_some() && family != Family::Gamma3;
        valid.then_some(Tails { kernel, above, logarithms, location, scale })
    }

    /// `P(X > x)`.
    #[must_use]
    pub fn survival(&self, x: f64) -> Option<f64> {
        self.tails().map(|tails| tails.ln_at(x).1.exp())
    }

    /// The quantile function; `None` unless `p` is between 0 and 1 (exclusive).
    #[must_use]
    pub fn quantile(&self, p: f64) -> Option<f64> {
        if !(p > 0.0 && p < 1.0) {
            return None;
        }
        let tails = self.tails()?;
        let z = match &tails.kernel {
            Kernel::Normal => normal::quantile(p)?,
            Kernel::Exponential => -(-p).ln_1p(),
            Kernel::SmallestExtremeValue => (-(-p).ln_1p()).ln(),
            Kernel::LargestExtremeValue => -(-p.ln()).ln(),
            Kernel::Logistic => (p / (1.0 - p)).ln(),
            Kernel::Gamma(gamma) => gamma_quantile(self.first, gamma, p)?,
        };
        let value = tails.location + tails.scale * z;
        let value = if tails.logarithms { value.exp() } else { value };
        let value = value + tails.above.unwrap_or_default();
        value.is_finite().then_some(value)
    }

    /// The mean; `None` if it is infinite (a loglogistic with `s` of at least 1).
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let Self { family, threshold, first, second } = *self;
        let mean = match family {
            Family::Normal | Family::Logistic => first,
            Family::Exponential2 => first + second,
            Family::SmallestExtremeValue => first - EULER * second,
            Family::LargestExtremeValue => first + EULER * second,
            Family::Lognormal3 => (first + 0.5 * second * second).exp(),
            Family::Weibull3 => second * ln_gamma(1.0 + 1.0 / first)?.exp(),
            Family::Gamma3 => first * second,
            Family::Loglogistic | Family::Loglogistic3 => {
                let angle = PI * second;
                if second >= 1.0 {
                    return None;
                }
                first.exp() * angle / angle.sin()
            }
        };
        let mean = mean + threshold.unwrap_or_default();
        mean.is_finite().then_some(mean)
    }

    /// The standard deviation; `None` if it is infinite (a loglogistic with `s` of at least ½).
    #[must_use]
    pub fn standard_deviation(&self) -> Option<f64> {
        let Self { family, first, second, .. } = *self;
        let deviation = match family {
            Family::Normal | Family::Exponential2 => second,
            Family::SmallestExtremeValue | Family::LargestExtremeValue => second * PI / 6.0f64.sqrt(),
            Family::Logistic => second * PI / 3.0f64.sqrt(),
            Family::Lognormal3 => {
                let square = second * second;
                (first + 0.5 * square).exp() * square.exp_m1().sqrt()
            }
            Family::Weibull3 => {
                let (once, twice) = (ln_gamma(1.0 + 1.0 / first)?, ln_gamma(1.0 + 2.0 / first)?);
                second * once.exp() * (twice - 2.0 * once).exp_m1().max(0.0).sqrt()
            }
            Family::Gamma3 => first.sqrt() * second,
            Family::Loglogistic | Family::Loglogistic3 => {
                if second >= 0.5 {
                    return None;
                }
                first.exp() * loglogistic_variance(PI * second).sqrt()
            }
        };
        deviation.is_finite().then_some(deviation)
    }
}

/// The variance of a loglogistic with `mu` 0, `2x / sin 2x - (x / sin x)²` for `x = π s`, without losing
/// digits.
fn loglogistic_variance(x: f64) -> f64 {
    let square = x * x;
    let tangent_less_angle = if x < 0.05 {
        x * square * (1.0 / 3.0 + square * (2.0 / 15.0 + square * (17.0 / 315.0 + square * 62.0 / 2835.0)))
    } else {
        x.tan() - x
    };
    x * tangent_less_angle / x.sin().powi(2)
}

/// `x` with `P(shape, x) = p`, by Newton's method from Wilson and Hilferty's approximation.
fn gamma_quantile(shape: f64, gamma: &IncompleteGamma, p: f64) -> Option<f64> {
    let ninth = 1.0 / (9.0 * shape);
    let cube = (1.0 - ninth + normal::quantile(p)? * ninth.sqrt()).powi(3);
    let mut x = if cube > 0.01 { shape * cube } else { ((p.ln() + ln_gamma(shape + 1.0)?) / shape).exp() };
    for _ in 0..200 {
        let ln_density = (shape - 1.0) * x.ln() - x - ln_gamma(shape)?;
        let (ln_p, ln_q) = gamma.ln_tails(x);
        let excess = if p < 0.5 { ln_p.exp() - p } else { (1.0 - p) - ln_q.exp() };
        let next = (x - excess / ln_density.exp()).clamp(0.5 * x, 2.0 * x);
        let done = (next - x).abs() <= 1e-13 * x;
        x = next;
        if done {
            break;
        }
    }
    (x.is_finite() && x > 0.0).then_some(x)
}

/// The standard form of a family.
#[derive(Debug, Clone)]
enum Kernel {
    Normal,
    Exponential,
    SmallestExtremeValue,
    LargestExtremeValue,
    Logistic,
    Gamma(Box<IncompleteGamma>),
}

/// Tails of one distribution.
#[derive(Debug, Clone)]
pub(crate) struct Tails {
    kernel: Kernel,
    /// Exclusive lower bound of the values.
    above: Option<f64>,
    /// Whether the kernel applies to the logarithms.
    logarithms: bool,
    location: f64,
    scale: f64,
}

impl Tails {
    /// `(ln F(x), ln(1 - F(x)))`, each computed on its own.
    #[must_use]
    pub(crate) fn ln_at(&self, x: f64) -> (f64, f64) {
        let x = match self.above {
            Some(above) if x <= above => return (f64::NEG_INFINITY, 0.0),
            Some(above) if self.logarithms => (x - above).ln(),
            Some(above) => x - above,
            None => x,
        };
        let z = (x - self.location) / self.scale;
        match &self.kernel {
            Kernel::Normal => normal::ln_tails(z),
            Kernel::Exponential if z <= 0.0 => (f64::NEG_INFINITY, 0.0),
            Kernel::Exponential => (ln_one_less_exp(z), -z),
            Kernel::SmallestExtremeValue => {
                let power = z.exp();
                (ln_one_less_exp(power), -power)
            }
            Kernel::LargestExtremeValue => {
                let power = (-z).exp();
                (-power, ln_one_less_exp(power))
            }
            Kernel::Logistic => {
                let rest = (-z.abs()).exp().ln_1p();
                (z.min(0.0) - rest, -z.max(0.0) - rest)
            }
            Kernel::Gamma(gamma) => gamma.ln_tails(z),
        }
    }
}

/// `ln(1 - e^-x)` for `x` above 0.
fn ln_one_less_exp(x: f64) -> f64 {
    if x > std::f64::consts::LN_2 { (-(-x).exp()).ln_1p() } else { (-(-x).exp_m1()).ln() }
}
