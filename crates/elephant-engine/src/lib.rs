//! From histories and rules to ranked reports, and everything that compares or sums them up.

pub mod baseline;
pub mod conditions;
pub mod diff;
pub mod engine;
pub mod explain;
pub mod fingerprint;
pub mod nodes;
pub mod results;
pub mod storages;
pub mod survey;
pub mod watch;
pub mod whatif;
