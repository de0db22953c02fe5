//! Rule sets against the oracle, and rules of rule files.

// Clippy does not recognise test helpers as test code.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    unreachable_pub
)]

mod custom;
mod exceptions;
mod mapreduce;
mod tez;
