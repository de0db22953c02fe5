//! Measures of drawings.

pub(crate) use crate::document::html::axis::{Axis, HEIGHT, MIN_BAR, WIDTH, two_places};
use elephant_verdict::charts::Amount;

/// A part of a bar, in SVG units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Part {
    pub(crate) x: f64,
    pub(crate) width: f64,
}

impl Part {
    /// A bar from zero that is this share of the axis.
    pub(crate) fn of(share: f64) -> Self {
        let width = if share > 0.0 { (share.min(1.0) * WIDTH).max(MIN_BAR) } else { 0.0 };
        Self { x: 0.0, width }
    }
}

/// An axis label. Zero has no unit.
pub(crate) fn amount_text(amount: Amount) -> String {
    match amount {
        Amount::Time(time) if time.get() == 0 => "0".to_owned(),
        Amount::Size(size) if size.get() == 0 => "0".to_owned(),
        amount => amount.to_string(),
    }
}
