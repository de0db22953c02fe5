//! Tests of the library's internals: parsers, input, detectors, statistics, renderers. They are unit tests of the
//! library (`src/lib.rs` includes this folder), so the tested items need not be public. Tests that run the command
//! are in `tests/it`.

// Clippy does not recognise test helpers as test code.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    unreachable_pub
)]

#[path = "../common/mod.rs"]
pub(crate) mod common;
mod damage;
mod diagnosis;
mod failures;
mod input;
mod mapreduce;
mod nodes;
mod replay;
mod reports;
mod rules;
pub(crate) mod sample;
mod savings;
mod spark;
mod stragglers;
mod traces;
mod troubles;
