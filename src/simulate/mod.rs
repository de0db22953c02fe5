//! Simulations of clusters and of tasks, to rate detectors of stragglers where the truth is known.
//!
//! Results depend only on the settings and the seeds, not on threads or the machine.

pub(crate) mod cluster;
pub(crate) mod patterns;
pub(crate) mod random;
pub(crate) mod spread;
