//! A cluster with slow nodes, on which detectors look for stragglers while a job runs (S0 sections 5 to 7).
//!
//! A [`scenario`] has the nodes and all settings, including those that S0 leaves open. [`run`] is the loop
//! over events: a `node` shares its processor between its tasks, and a [`policy`] decides where copies may
//! run. The detectors are those of [`detect`](elephant_analysis::stragglers::detect); `watch` makes the snapshots that
//! they see. `usual` runs the job on an idle cluster first, `outcome` judges a run by it, and [`study`]
//! repeats all that for the tables and figures of S0.

pub mod attempt;
mod chances;
pub mod detectors;
mod events;
mod node;
mod outcome;
pub mod policy;
pub mod run;
pub mod scenario;
pub mod study;
#[cfg(test)]
mod tests;
mod usual;
mod watch;
