//! Renders the comparison of a report with a baseline.

mod json;
mod markdown;
mod text;
pub(super) mod words;

pub(super) use json::{BaselineView, baseline};
pub(super) use markdown::section;
pub(crate) use text::write;
