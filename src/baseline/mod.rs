//! Compares an analysis with an accepted one, so that only what is new or worse fails.
//!
//! A [`Baseline`] is a YAML file that teams keep next to their jobs: for each job definition
//! ([`crate::fingerprint::JobKey`]) the findings that are accepted and what the last runs cost. [`compare()`] says for each
//! finding whether it is new, worse, better or as accepted, and for each run whether it took more than the
//! [`spread`] of the runs before allows; [`update`](update::update) accepts what is there.
//!
//! Each run of a job in the input is compared by itself, and the worst one is told: a median of many would hide one bad
//! night. Runs that the baseline knows were accepted, so their costs are not compared again; neither are those of runs
//! that failed or whose history is incomplete, because they are short for other reasons. For the same reason nothing is
//! better or gone by such a run alone, and what an incomplete one makes worse counts, but is not accepted in the place of
//! what a whole run has shown.

mod compare;
mod file;
mod incomplete;
pub mod measure;
mod metrics;
mod run;
pub mod spread;
pub mod update;

pub use compare::compare;
pub use file::{Baseline, BaselineError, Job, Run};

#[cfg(test)]
#[allow(clippy::float_cmp)] // the values are exact
mod tests;
