//! Measures that all drawings share.

use crate::charts::Amount;

/// The width of every drawing, in SVG units.
pub(super) const WIDTH: f64 = 1000.0;
/// Minimum width and height of a bar that is not empty, so that it is visible.
pub(super) const MIN_BAR: f64 = 2.0;
/// The height of curves and histograms, in SVG units.
pub(super) const HEIGHT: f64 = 100.0;

/// A part of a bar, in SVG units.
pub(super) struct Part {
    pub(super) x: f64,
    pub(super) width: f64,
}

/// An axis label. Zero has no unit.
pub(super) fn amount_text(amount: Amount) -> String {
    match amount {
        Amount::Time(time) if time.get() == 0 => "0".to_owned(),
        Amount::Size(size) if size.get() == 0 => "0".to_owned(),
        amount => amount.to_string(),
    }
}
