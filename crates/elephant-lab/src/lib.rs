//! Simulations of clusters and of tasks, to rate detectors of stragglers where the truth is known.
//!
//! Results depend only on the settings and the seeds, not on threads or the machine.

pub mod cluster;
pub mod patterns;
pub(crate) mod random;
pub mod spread;
