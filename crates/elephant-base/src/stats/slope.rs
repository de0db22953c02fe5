//! Trends that outliers do not change.

use super::descriptive::median;

/// The Theil–Sen slope: the median of the slopes of all pairs of points `(x, y)`; `None` if no two points
/// differ in `x`.
///
/// P. K. Sen, "Estimates of the Regression Coefficient Based on Kendall's Tau" (JASA 63, 1968).
#[must_use]
pub fn theil_sen(points: &[(f64, f64)]) -> Option<f64> {
    let mut slopes = Vec::with_capacity(points.len() * points.len().saturating_sub(1) / 2);
    for (at, (x, y)) in points.iter().enumerate() {
        let later = points.iter().skip(at + 1);
        slopes.extend(
            later
                .filter(|(other, _)| (other - x).abs() > 0.0)
                .map(|(other, value)| (value - y) / (other - x)),
        );
    }
    median(&slopes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_outlier_does_not_change_the_trend() {
        let mut points: Vec<(f64, f64)> = (0..9).map(|x| (f64::from(x), 2.0 * f64::from(x))).collect();
        assert_eq!(theil_sen(&points), Some(2.0));
        points[4].1 = 1e9;
        assert_eq!(theil_sen(&points), Some(2.0));
        assert_eq!(theil_sen(&[]), None);
        assert_eq!(theil_sen(&[(1.0, 2.0)]), None);
        assert_eq!(theil_sen(&[(1.0, 2.0), (1.0, 3.0)]), None);
    }
}
