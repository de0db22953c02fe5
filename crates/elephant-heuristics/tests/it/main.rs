//! The catalogue of rules: code, YAML, pages and fixtures agree.

// Clippy does not recognise test helpers as test code.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    unreachable_pub
)]

mod catalogue;
mod fixtures;
mod key_measures;
mod sufficient;
