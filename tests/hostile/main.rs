//! Input and surroundings that mean harm, built on the fly: each costs no more than its share, says once what is wrong,
//! and leaves the numbers that are still right.
//!
//! These tests measure the memory of the command, and give it moments to end: a program of their own, which is small and
//! does nothing else meanwhile. It does not link the library.

// Clippy does not know helpers of tests for tests.
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::assertions_on_constants,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

mod avro;
mod bombs;
mod edges;
#[cfg(unix)]
mod files;
#[allow(dead_code)]
#[path = "../common/history.rs"]
mod history;
mod limits;
#[path = "../common/make.rs"]
mod make;
mod numbers;
#[cfg(unix)]
mod output;
mod run;
mod structure;
