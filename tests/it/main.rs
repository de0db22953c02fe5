//! Tests from outside: they run the command or use the library's public API.
//!
//! Tests of the library's internals are in `tests/internal`, a module of the library's own tests.

// Clippy does not recognise test helpers as test code.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    unreachable_pub
)]

#[cfg(feature = "cli")]
mod allocator;
mod check;
mod cli;
mod corpus;
mod damage;
mod generated;
mod project;
mod reports;
mod rules;
mod spark;
