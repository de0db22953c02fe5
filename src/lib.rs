//! Reads Spark event logs and Hadoop MapReduce job histories and tells which applications waste the cluster, why, and
//! what to change.
//!
//! The data flows one way: [`input`] finds histories and takes compression off, [`parse`] turns bytes into
//! the typed [`model`] of an application, [`rules`] bring parameters from YAML to the [`heuristics`], which
//! give [`finding`]s; [`metrics`] say what the application cost, [`engine`] puts everything into one ranked
//! report, and [`report`] renders it. [`fingerprint`] tells what stays the same when a job runs again; by it
//! [`baseline`] compares a report with an accepted state, and [`diff`] two reports with each other.
//!
//! ```
//! use elephant_rs::engine::{Options, analyze};
//! use elephant_rs::rules::RuleSet;
//! use elephant_rs::severity::Severity;
//!
//! let rules = RuleSet::built_in()?;
//! let report = analyze(&["testdata/hadoop1".into()], &rules, Options::default());
//! let job = &report.applications[0];
//! assert_eq!(job.severity, Severity::Severe);
//! assert_eq!(job.findings[0].rule, "mapper-memory");
//! assert!(job.findings[0].advice[0].contains("4096 → 1024"));
//! # Ok::<(), elephant_rs::rules::RuleError>(())
//! ```
//!
//! Nothing here panics on any input, and what a history does not tell is `None`, never zero.

#[cfg(test)]
extern crate self as elephant_rs;

pub mod baseline;
pub mod charts;
#[doc(hidden)]
pub mod cli;
pub mod diff;
pub mod engine;
pub mod finding;
pub mod fingerprint;
pub mod heuristics;
pub mod input;
#[cfg(test)]
#[path = "../tests/internal/mod.rs"]
mod internal;
pub mod limits;
pub mod metrics;
pub mod model;
pub mod node_metrics;
pub mod nodes;
pub mod params;
pub mod parse;
pub mod report;
pub mod results;
pub mod rules;
pub mod severity;
pub mod stats;
pub mod stragglers;
pub mod survey;
pub mod units;
