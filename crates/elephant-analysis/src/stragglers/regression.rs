//! Usual progress of a kind of task: a model of median progress over elapsed time (S2 section 6.1).
//!
//! S2 fits "linear and non-linear regression" without naming the model. Here six families compete by adjusted
//! R², all fitted with ordinary least squares; the winner is made monotone and clamped to 0 to 1.

use elephant_base::stats::descriptive::median;
use elephant_base::whole::Whole;

/// A model needs at least this many points.
pub(crate) const MIN_POINTS: usize = 10;
/// Each straight piece of a piecewise model needs at least this many points.
const PIECE_POINTS: usize = 3;
/// Adjusted R² values closer than this are a tie.
const TIE: f64 = 1e-9;
/// Number of steps in a model's table.
const TABLE: u32 = 128;

/// The family of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// `a + b t`.
    Linear,
    /// `a + b t + c t²`.
    Quadratic,
    /// `a + b t + c t² + d t³`.
    Cubic,
    /// `a t^b`, fitted as a line through logarithms.
    Power,
    /// `a + b ln t`.
    Logarithmic,
    /// Two connected straight lines.
    TwoPieces,
    /// Three connected straight lines.
    ThreePieces,
    /// A polynomial that was given, not fitted.
    Given,
}

impl Family {}

/// A function of time before it is made monotone.
#[derive(Debug, Clone, PartialEq)]
enum Formula {
    /// Coefficients by increasing power.
    Polynomial(Vec<f64>),
    /// `a t^b`.
    Power(f64, f64),
    /// `a + b ln t`.
    Logarithmic(f64, f64),
    /// `a + b t + Σ c (t - k)+`: intercept, slope, and the bends, each with its time and change of slope.
    Pieces(f64, f64, Vec<(f64, f64)>),
}

impl Formula {
    fn at(&self, t: f64) -> f64 {
        match self {
            Self::Polynomial(coefficients) => {
                coefficients.iter().rev().fold(0.0, |sum: f64, &coefficient| sum.mul_add(t, coefficient))
            }
            Self::Power(a, b) => a * t.max(0.0).powf(*b),
            Self::Logarithmic(a, b) => b.mul_add(t.max(f64::MIN_POSITIVE).ln(), *a),
            Self::Pieces(a, b, bends) => bends
                .iter()
                .fold(b.mul_add(t, *a), |sum, (bend, change)| change.mul_add((t - bend).max(0.0), sum)),
        }
    }

    const fn parameters(&self) -> usize {
        match self {
            Self::Polynomial(coefficients) => coefficients.len(),
            Self::Power(..) | Self::Logarithmic(..) => 2,
            // A bend has a time and a change of slope.
            Self::Pieces(_, _, bends) => 2 + 2 * bends.len(),
        }
    }
}

/// Usual progress over seconds since launch: never decreasing, from 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgressModel {
    /// Its family.
    pub family: Family,
    /// Adjusted R² of the fit; `None` if it was not fitted, or if all values were equal.
    pub adjusted_r2: Option<f64>,
    /// The number of points it was fitted to.
    pub points: usize,
    formula: Formula,
    /// Running maximum at each of [`TABLE`] steps up to `end`.
    table: Vec<f64>,
    end: f64,
}

impl ProgressModel {
    /// A known polynomial, with coefficients by increasing power; it is not made monotone.
    #[must_use]
    pub fn polynomial(coefficients: &[f64]) -> Self {
        let formula = Formula::Polynomial(coefficients.to_vec());
        Self { family: Family::Given, adjusted_r2: None, points: 0, formula, table: Vec::new(), end: 0.0 }
    }

    /// The best model for these points of time and progress, by adjusted R²; on a tie, the one with fewer
    /// parameters. `None` for fewer than `MIN_POINTS` points.
    #[must_use]
    pub fn fit(points: &[(f64, f64)]) -> Option<Self> {
        if points.len() < MIN_POINTS {
            return None;
        }
        let mut best: Option<(Family, Formula, Option<f64>)> = None;
        for (family, formula) in candidates(points) {
            let quality = adjusted_r2(points, &formula);
            let better = best.as_ref().is_none_or(|(_, other, than)| match (quality, *than) {
                (Some(quality), Some(than)) => {
                    let fewer = formula.parameters() < other.parameters();
                    quality > than + TIE || (fewer && quality >= than - TIE)
                }
                (quality, than) => quality.is_some() && than.is_none(),
            });
            if better {
                best = Some((family, formula, quality));
            }
        }
        let (family, formula, adjusted_r2) = best?;
        let end = points.iter().map(|point| point.0).fold(0.0, f64::max);
        let mut greatest: f64 = 0.0;
        let step = |k: u32| end * f64::from(k) / f64::from(TABLE);
        let table = (0..=TABLE).map(|k| {
            greatest = greatest.max(formula.at(step(k)).clamp(0.0, 1.0));
            greatest
        });
        let table: Vec<f64> = table.collect();
        Some(Self { family, adjusted_r2, points: points.len(), formula, table, end })
    }

    /// Fits the median over the tasks' progress curves, at evenly spaced times up to `end` seconds.
    pub fn of_curves<C: Fn(f64) -> f64>(curves: &[C], end: f64, grid: u32) -> Option<Self> {
        Self::fit(&median_curve(curves, end, grid)?)
    }

    /// Usual progress after `elapsed` seconds.
    #[must_use]
    pub fn at(&self, elapsed: f64) -> f64 {
        let value = self.formula.at(elapsed).clamp(0.0, 1.0);
        let place = (elapsed / self.end * f64::from(TABLE)).floor();
        let reached = if place >= 0.0 {
            self.table.get(place.as_usize().min(self.table.len().saturating_sub(1))).copied()
        } else {
            None
        };
        value.max(reached.unwrap_or(0.0))
    }
}

/// The median over the tasks' progress curves, at evenly spaced times up to `end` seconds. `None` without curves.
#[must_use]
pub(crate) fn median_curve<C: Fn(f64) -> f64>(curves: &[C], end: f64, grid: u32) -> Option<Vec<(f64, f64)>> {
    if curves.is_empty() || end <= 0.0 {
        return None;
    }
    let point = |k| {
        let time = end * f64::from(k) / f64::from(grid);
        let progress: Vec<f64> = curves.iter().map(|curve| curve(time)).collect();
        Some((time, median(&progress)?))
    };
    (1..=grid).map(point).collect()
}

/// `1 - (1 - R²)(n - 1)/(n - p)` with `p` parameters; `None` if all values are equal, or if there are as many
/// parameters as points.
fn adjusted_r2(points: &[(f64, f64)], formula: &Formula) -> Option<f64> {
    let count = points.len() as f64;
    let free = points.len().checked_sub(formula.parameters()).filter(|&free| free > 0)? as f64;
    let mean = points.iter().map(|point| point.1).sum::<f64>() / count;
    let total: f64 = points.iter().map(|point| (point.1 - mean).powi(2)).sum();
    let residual: f64 = points.iter().map(|point| (point.1 - formula.at(point.0)).powi(2)).sum();
    (total > 0.0 && residual.is_finite()).then(|| 1.0 - residual / total * (count - 1.0) / free)
}

/// The fits of all families that can be fitted, fewer parameters first.
fn candidates(points: &[(f64, f64)]) -> Vec<(Family, Formula)> {
    let scale = points.iter().map(|point| point.0).fold(0.0, f64::max);
    let mut found = Vec::new();
    for (family, degree) in [(Family::Linear, 1), (Family::Quadratic, 2), (Family::Cubic, 3)] {
        found.extend(polynomial(points, degree, scale).map(|formula| (family, formula)));
    }
    let positive: Vec<(f64, f64)> = points.iter().copied().filter(|point| point.0 > 0.0).collect();
    if positive.len() >= MIN_POINTS {
        let logarithms: Vec<(f64, f64)> = positive.iter().map(|point| (point.0.ln(), point.1)).collect();
        found.extend(line(&logarithms).map(|(a, b)| (Family::Logarithmic, Formula::Logarithmic(a, b))));
        let both: Vec<(f64, f64)> =
            logarithms.iter().filter(|point| point.1 > 0.0).map(|point| (point.0, point.1.ln())).collect();
        if both.len() >= MIN_POINTS {
            found.extend(line(&both).map(|(a, b)| (Family::Power, Formula::Power(a.exp(), b))));
        }
    }
    found.extend(pieces(points, 1, scale).map(|formula| (Family::TwoPieces, formula)));
    found.extend(pieces(points, 2, scale).map(|formula| (Family::ThreePieces, formula)));
    found
}

fn line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let rows: Vec<(Vec<f64>, f64)> = points.iter().map(|&(x, y)| (vec![1.0, x], y)).collect();
    match least_squares(&rows)?.as_slice() {
        &[a, b] => Some((a, b)),
        _ => None,
    }
}

/// Fits over time divided by `scale`, so that the powers stay within the same order of magnitude.
fn polynomial(points: &[(f64, f64)], degree: i32, scale: f64) -> Option<Formula> {
    let row = |&(t, y): &(f64, f64)| ((0..=degree).map(|power| (t / scale).powi(power)).collect(), y);
    let rows: Vec<(Vec<f64>, f64)> = points.iter().map(row).collect();
    let scaled = least_squares(&rows)?;
    let coefficients = (0..).zip(scaled).map(|(power, coefficient)| coefficient / scale.powi(power));
    Some(Formula::Polynomial(coefficients.collect()))
}

/// The continuous piecewise line with one or two bends at the given times that minimises the squared
/// residuals.
fn pieces(points: &[(f64, f64)], bends: usize, scale: f64) -> Option<Formula> {
    let times: Vec<f64> = points.iter().map(|point| point.0).collect();
    let allowed = |from: usize| (from + PIECE_POINTS - 1)..times.len().saturating_sub(PIECE_POINTS - 1);
    let time = |place: usize| times.get(place).copied();
    let mut choices: Vec<Vec<f64>> = Vec::new();
    for first in allowed(0) {
        if bends == 1 {
            choices.extend(time(first).map(|bend| vec![bend]));
        } else {
            choices.extend(allowed(first).filter_map(|second| Some(vec![time(first)?, time(second)?])));
        }
    }
    let mut best: Option<(f64, Formula)> = None;
    for bends in choices {
        let row = |&(t, y): &(f64, f64)| {
            let mut row = vec![1.0, t / scale];
            row.extend(bends.iter().map(|bend| (t - bend).max(0.0) / scale));
            (row, y)
        };
        let rows: Vec<(Vec<f64>, f64)> = points.iter().map(row).collect();
        let Some(solved) = least_squares(&rows) else { continue };
        let mut solved = solved.into_iter();
        let (Some(a), Some(b)) = (solved.next(), solved.next()) else { continue };
        let bends = bends.into_iter().zip(solved.map(|change| change / scale)).collect();
        let formula = Formula::Pieces(a, b / scale, bends);
        let residual: f64 = points.iter().map(|point| (point.1 - formula.at(point.0)).powi(2)).sum();
        if residual.is_finite() && best.as_ref().is_none_or(|(least, _)| residual < *least) {
            best = Some((residual, formula));
        }
    }
    best.map(|(_, formula)| formula)
}

/// Ordinary least squares by Householder's QR decomposition; `None` if the columns are linearly dependent.
#[allow(clippy::indexing_slicing)] // the matrix is built here: every row has as many columns as the first
fn least_squares(rows: &[(Vec<f64>, f64)]) -> Option<Vec<f64>> {
    const SINGULAR: f64 = 1e-12;
    let columns = rows.first()?.0.len();
    if rows.len() < columns {
        return None;
    }
    let mut matrix: Vec<Vec<f64>> = rows.iter().map(|(row, _)| row.clone()).collect();
    let mut right: Vec<f64> = rows.iter().map(|&(_, y)| y).collect();
    let size = matrix.iter().flatten().map(|value| value.abs()).fold(0.0, f64::max);
    for column in 0..columns {
        let norm = matrix[column..].iter().map(|row| row[column] * row[column]).sum::<f64>().sqrt();
        if !norm.is_finite() || norm <= SINGULAR * size {
            return None;
        }
        let alpha = if matrix[column][column] > 0.0 { -norm } else { norm };
        let mut reflector: Vec<f64> = matrix[column..].iter().map(|row| row[column]).collect();
        reflector[0] -= alpha;
        let square: f64 = reflector.iter().map(|value| value * value).sum();
        for other in column..columns {
            let dot: f64 =
                reflector.iter().zip(&matrix[column..]).map(|(value, row)| value * row[other]).sum();
            for (value, row) in reflector.iter().zip(&mut matrix[column..]) {
                row[other] -= 2.0 * dot / square * value;
            }
        }
        let dot: f64 = reflector.iter().zip(&right[column..]).map(|(value, y)| value * y).sum();
        for (value, y) in reflector.iter().zip(&mut right[column..]) {
            *y -= 2.0 * dot / square * value;
        }
    }
    let mut solution = vec![0.0; columns];
    for column in (0..columns).rev() {
        let known: f64 = (column + 1..columns).map(|other| matrix[column][other] * solution[other]).sum();
        solution[column] = (right[column] - known) / matrix[column][column];
    }
    solution.iter().all(|value| value.is_finite()).then_some(solution)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grid(of: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        (1..=20).map(|k| f64::from(k) * 3.0).map(|t| (t, of(t))).collect()
    }

    fn fit(of: impl Fn(f64) -> f64) -> ProgressModel {
        ProgressModel::fit(&grid(of)).unwrap()
    }

    #[test]
    fn each_family_is_recognised() {
        assert_eq!(fit(|t| 0.01 + 0.015 * t).family, Family::Linear);
        assert_eq!(fit(|t| 0.1 + 0.02 * t - 0.0001 * t * t).family, Family::Quadratic);
        assert_eq!(fit(|t| 1e-6 * t.powi(3) + 1e-4 * t * t - 0.001 * t + 0.1).family, Family::Cubic);
        assert_eq!(fit(|t| 0.05 * t.powf(0.7)).family, Family::Power);
        assert_eq!(fit(|t| 0.05 + 0.2 * t.ln()).family, Family::Logarithmic);
        assert_eq!(fit(|t| 0.005 * t + 0.02 * (t - 30.0).max(0.0)).family, Family::TwoPieces);
        let three = |t: f64| 0.02 * t - 0.019 * (t - 18.0).max(0.0) + 0.03 * (t - 42.0).max(0.0);
        assert_eq!(fit(three).family, Family::ThreePieces);
    }

    #[test]
    fn a_fit_reproduces_the_points() {
        let model = fit(|t| 0.01 + 0.015 * t);
        assert!((model.at(30.0) - 0.46).abs() < 1e-9);
        assert!((model.at(45.0) - 0.685).abs() < 1e-9);
        assert!(model.adjusted_r2.unwrap() > 0.999_999);
        assert!((model.at(1e9) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn too_few_points_give_no_model() {
        assert_eq!(ProgressModel::fit(&grid(|t| t)[..9]), None);
        assert_eq!(ProgressModel::fit(&[]), None);
        let none: [fn(f64) -> f64; 0] = [];
        assert_eq!(ProgressModel::of_curves(&none, 10.0, 20), None);
        assert_eq!(ProgressModel::of_curves(&[|t: f64| t], 0.0, 20), None);
        assert!(least_squares(&[(vec![1.0, 2.0], 1.0), (vec![2.0, 4.0], 2.0)]).is_none());
    }

    #[test]
    fn constant_progress_is_a_line() {
        let model = fit(|_| 0.5);
        assert_eq!((model.family, model.adjusted_r2), (Family::Linear, None));
        assert!((model.at(12.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn the_model_follows_the_median_curve() {
        let curve = |slope: f64| move |t: f64| (slope * t).min(1.0);
        let model = ProgressModel::of_curves(&[curve(0.01), curve(0.02), curve(0.5)], 40.0, 20).unwrap();
        assert!((model.at(20.0) - 0.4).abs() < 1e-6, "{model:?}");
    }

    proptest! {
        #[test]
        fn models_never_fall_and_stay_between_0_and_1(
            values in prop::collection::vec(0.0f64..1.0, 10..30),
            times in prop::collection::vec(0.0f64..300.0, 2..30),
        ) {
            let points: Vec<(f64, f64)> = (1..).zip(values).map(|(k, y)| (f64::from(k) * 5.0, y)).collect();
            let model = ProgressModel::fit(&points).unwrap();
            for time in &times {
                prop_assert!((0.0..=1.0).contains(&model.at(*time)));
            }
            // Between two table steps the formula itself may fall by as much as it rose within one step.
            let steps: Vec<f64> = (0..=128).map(|k| model.at(model.end * f64::from(k) / 128.0)).collect();
            prop_assert!(steps.windows(2).all(|pair| pair[0] <= pair[1] + 1e-12));
        }
    }
}
