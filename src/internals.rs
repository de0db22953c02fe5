//! The internals of the library that the benchmarks and fuzz targets of this repository use. Not part of the API: only
//! the feature `internals` exports it.

// The targets and benchmarks are programs, so they may fail and print.
#![allow(clippy::missing_panics_doc, missing_docs)]

#[path = "../benches/internals/mod.rs"]
pub mod benchmarks;
#[path = "../tests/fuzz_targets/mod.rs"]
pub mod fuzz_targets;
