//! Compares an analysis with an accepted one, so that only new or worse results fail.
//!
//! A [`Baseline`] is a YAML file that teams keep next to their jobs. For each job definition
//! ([`JobKey`](crate::results::JobKey)) it holds the accepted findings and the costs of the last runs.
//! [`compare()`] says for each finding whether it is new, worse, better or as accepted, and for each run
//! whether it cost more than the spread of earlier runs allows. [`update()`] accepts the
//! current state.
//!
//! Each run of a job is compared separately, and the worst one is reported: a median of many would hide one
//! bad night. Runs in the baseline were accepted, so their costs are not compared again. Costs of failed
//! runs and of runs with incomplete histories are not compared either, because such runs are short for
//! other reasons. For the same reason, such a run alone never shows that a finding is better or gone. If an
//! incomplete run makes a finding worse, that counts, but it is never accepted in place of what a complete
//! run has shown.

mod compare;
mod file;
mod growth;
mod incomplete;
mod lost;
pub mod measure;
mod metrics;
mod run;
mod spread;
mod troubles;
mod update;

pub use compare::compare;
pub use file::{Baseline, BaselineError, Job, ReadPhase, Run};
pub use lost::lost_histories;
pub use run::{identity_of, rounded};
pub use spread::{Allowance, Tolerance};
pub use update::update;

#[cfg(test)]
mod tests;
