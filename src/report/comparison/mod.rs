//! An analysis beside a baseline: what is new or worse, and what to do about it.

mod json;
mod text;

pub(super) use json::baseline;
pub(super) use text::write;
