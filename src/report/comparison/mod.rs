//! An analysis beside a baseline: what is new or worse, and what to do about it.

mod json;
mod markdown;
mod text;
pub(super) mod words;

pub(super) use json::baseline;
pub(super) use markdown::section;
pub(super) use text::write;
