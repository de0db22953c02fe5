//! Sizes, times and rates, what one history may cost, severities, statistics, and the bytes of partial results.

pub mod limits;
pub mod severity;
pub mod state;
pub mod stats;
pub mod units;
