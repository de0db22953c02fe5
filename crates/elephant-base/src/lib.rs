//! Sizes, times and rates, what one history may cost, severities, statistics, and the bytes of partial results.

// The derived code names this crate.
extern crate self as elephant_base;

pub mod address;
pub mod form;
pub mod limits;
pub mod severity;
pub mod state;
pub mod stats;
pub mod units;
pub mod whole;
