//! A cluster with slow nodes, on which detectors look for stragglers while a job runs (S0 sections 5 to 7).
//!
//! A [`scenario`] names the nodes and everything that S0 says or leaves open. [`run`] is the loop over events: a
//! [`node`] shares its processor between its tasks, a [`policy`] says where copies may run, the detectors are those
//! of [`detect`](crate::stragglers::detect), which see what [`watch`] shows them. [`usual`] runs the job on an idle
//! cluster first, [`outcome`] judges a run by it, and [`study`] repeats all that for the tables and figures of S0.

pub(crate) mod attempt;
mod chances;
pub(crate) mod detectors;
mod events;
mod node;
mod outcome;
pub(crate) mod policy;
pub(crate) mod run;
pub(crate) mod scenario;
pub(crate) mod study;
#[cfg(test)]
mod tests;
mod usual;
mod watch;
