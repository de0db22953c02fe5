//! Tests of the library's insides: parsers, input, detectors, statistics, renderers. They are unit tests of the library
//! (`src/lib.rs` includes this folder), so that what they look at need not be public. What runs the command is in
//! `tests/it`.

// Clippy does not know helpers of tests for tests.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    unreachable_pub
)]

#[path = "../common/mod.rs"]
mod common;
mod damage;
mod input;
mod mapreduce;
mod nodes;
mod reports;
mod rules;
mod spark;
mod stragglers;
