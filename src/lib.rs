//! Reads Spark event logs and Hadoop MapReduce job histories, and reports which applications waste the cluster, why,
//! and what to change.
//!
//! Data flows in one direction. [`input`] finds and decompresses histories. [`parse`] turns bytes into the typed
//! [`model`] of an application. [`rules`] load parameters from YAML for the [`heuristics`], which produce [`finding`]s.
//! [`metrics`] compute the costs of an application. [`engine`] combines everything into one ranked report, and
//! [`report`] renders it. A [`fingerprint`] identifies the same job or finding in another run: [`baseline`] uses it to
//! compare a report with an accepted state, and [`diff`] to compare two reports.
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
//! The library does not panic on any input. A value that the history does not contain is `None`, never zero.

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
