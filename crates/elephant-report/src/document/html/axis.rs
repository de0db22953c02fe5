//! Axes of drawings. They stretch with the page, so all text is outside of them.

use elephant_base::units::three_digits;
use elephant_base::whole::Whole;

/// The width of every drawing, in SVG units.
pub(crate) const WIDTH: f64 = 1000.0;
/// Minimum width and height of a bar that is not empty, so that it is visible.
pub(crate) const MIN_BAR: f64 = 2.0;
/// The height of curves and histograms, in SVG units.
pub(crate) const HEIGHT: f64 = 100.0;

/// A linear axis between two round numbers, with round numbers between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Axis {
    low: f64,
    step: f64,
    steps: u32,
}

/// An axis has about this many steps.
const STEPS: f64 = 4.0;

impl Axis {
    /// An axis that shows 0 and all values in steps of round multiples of `unit`; `None` if there is nothing to show.
    pub(crate) fn over(values: impl Iterator<Item = f64>, unit: f64) -> Option<Self> {
        let finite = values.filter(|value| value.is_finite());
        let (low, high) =
            finite.fold((0.0f64, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
        let span = (high - low) / unit;
        if !(span > 0.0 && span.is_finite()) {
            return None;
        }
        let rough = span / STEPS;
        let power = 10.0f64.powf(rough.log10().floor());
        let round = [1.0, 2.0, 5.0].into_iter().find(|round| round * power >= rough * 0.999).unwrap_or(10.0);
        let step = round * power * unit;
        let first = (low / step).floor();
        let last = (high / step - 1e-9).ceil();
        let steps = (last - first).clamp(1.0, 100.0).as_u32();
        Some(Self { low: first * step, step, steps })
    }

    /// The place of a value, in SVG units.
    pub(crate) fn x(&self, value: f64) -> f64 {
        self.share(value) * WIDTH
    }

    /// The distance of a value from the top, for values that are drawn upwards.
    pub(crate) fn y(&self, value: f64) -> f64 {
        (1.0 - self.share(value)) * HEIGHT
    }

    fn share(&self, value: f64) -> f64 {
        ((value - self.low) / (self.step * f64::from(self.steps))).clamp(0.0, 1.0)
    }

    /// The numbers on the axis.
    pub(crate) fn values(&self) -> Vec<f64> {
        (0..=self.steps).map(|step| self.low + self.step * f64::from(step)).collect()
    }

    /// The numbers on the axis as text; zero has no sign.
    pub(crate) fn ticks(&self) -> Vec<String> {
        // Enough decimals to tell the numbers apart: the steps are 1, 2 or 5 times a power of ten.
        let decimals = (-self.step.log10()).ceil().clamp(0.0, 12.0).as_usize();
        let show = |value: f64| {
            if value.abs() < self.step / 2.0 { "0".to_owned() } else { signed(value, decimals) }
        };
        self.values().into_iter().map(show).collect()
    }
}

/// The unit in which times of this length have round numbers, in milliseconds.
pub(crate) fn time_unit(most: f64) -> f64 {
    match most {
        ..3000.0 => 1.0,
        3000.0..90_000.0 => 1000.0,
        90_000.0..5_400_000.0 => 60_000.0,
        _ => 3_600_000.0,
    }
}

/// With a minus sign that is as wide as a digit, and at most three digits unless more decimals are needed.
fn signed(value: f64, decimals: usize) -> String {
    let size = value.abs();
    let text = if decimals > 2 { format!("{size:.decimals$}") } else { three_digits(size) };
    if value < 0.0 { format!("−{text}") } else { text }
}

/// `value` with two decimals and a minus sign that is as wide as a digit. Zero has no sign.
pub(crate) fn two_places(value: f64) -> String {
    let text = format!("{:.2}", value.abs());
    if value < 0.0 && text != "0.00" { format!("−{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_ends_at_round_numbers() {
        let axis = Axis::over([-0.31, 2.2].into_iter(), 1.0).unwrap();
        assert_eq!(axis.ticks(), ["−1", "0", "1", "2", "3"]);
        assert!((axis.x(0.0) - 250.0).abs() < 1e-9 && (axis.y(3.0)).abs() < 1e-9);
        assert_eq!(
            Axis::over([0.07].into_iter(), 1.0).unwrap().ticks(),
            ["0", "0.02", "0.04", "0.06", "0.08"]
        );
        let small = Axis::over([0.018].into_iter(), 1.0).unwrap();
        assert_eq!(small.ticks(), ["0", "0.005", "0.010", "0.015", "0.020"]);
        let minutes = Axis::over([400_000.0].into_iter(), 60_000.0).unwrap();
        assert_eq!(minutes.values(), [0.0, 120_000.0, 240_000.0, 360_000.0, 480_000.0]);
    }

    #[test]
    fn an_axis_needs_a_finite_range() {
        assert_eq!(Axis::over([0.0].into_iter(), 1.0), None);
        assert_eq!(Axis::over([f64::NAN, f64::INFINITY].into_iter(), 1.0), None);
        assert!(Axis::over([-5.0].into_iter(), 1.0).is_some());
    }
}
