//! The parts of the benchmarks that use the library's internals; `src/internals.rs` includes them.

#![allow(unreachable_pub, clippy::must_use_candidate)]

pub mod nodes;
pub mod parsers;
pub mod replay;
#[cfg(feature = "store")]
pub mod store;
