//! Work in progress.
pub mod input;
pub mod model;
pub mod parse;
pub mod severity;
pub mod units;
