//! Measures of drawings.

pub(crate) use crate::document::html::axis::{HEIGHT, MIN_BAR, WIDTH};
use elephant_verdict::charts::Amount;

/// A part of a bar, in SVG units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Part {
    pub(crate) x: f64,
    pub(crate) width: f64,
}

/// An axis label. Zero has no unit.
pub(crate) fn amount_text(amount: Amount) -> String {
    match amount {
        Amount::Time(time) if time.get() == 0 => "0".to_owned(),
        Amount::Size(size) if size.get() == 0 => "0".to_owned(),
        amount => amount.to_string(),
    }
}
