//! Hostile input and environments, generated on the fly: each uses limited resources, is reported once, and leaves
//! correct numbers intact.
//!
//! These tests measure the memory of the command and expect it to end quickly. So they are a small program of their
//! own, in which nothing else runs at the same time. It does not link the library.

// Tells clippy that helpers are test code, too.
#![cfg(test)]

mod avro;
mod bombs;
mod edges;
#[cfg(unix)]
mod files;
mod limits;
mod numbers;
#[cfg(unix)]
mod output;
mod run;
mod structure;
