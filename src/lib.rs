//! Reads Spark event logs and Hadoop MapReduce job histories, and reports which applications waste the cluster, why,
//! and what to change.
//!
//! [`engine`] finds the histories below a path, decompresses and parses them into the typed [`model`] of an application,
//! evaluates [`rules`] on each, and returns the [`results`]: ranked [`finding`]s and the costs of each application.
//! [`report`] renders them. [`baseline`] compares them with an accepted state, [`diff`] with another analysis. [`survey`]
//! and [`nodes`] look at stragglers and at slow nodes over many applications.
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
//! You can write your own rules in Rust: see [`rules::AddedRule`]. Types that will grow are `#[non_exhaustive]`;
//! options are built from their defaults (`Options { top: Some(10), ..Options::default() }`).
//!
//! The library does not panic on any input. A value that the history does not contain is `None`, never zero.

#![forbid(unsafe_code)]
// Without the command or the HTML report, parts that serve only them are unused.
#![cfg_attr(not(all(feature = "cli", feature = "html")), allow(dead_code, unused_imports))]

#[cfg(any(test, feature = "internals"))]
extern crate self as elephant_rs;

pub mod baseline;
mod charts;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
mod diagnosis;
pub mod diff;
pub mod engine;
pub mod finding;
mod fingerprint;
mod heuristics;
mod input;
#[cfg(test)]
#[path = "../tests/internal/mod.rs"]
mod internal;
#[cfg(any(test, feature = "internals"))]
#[doc(hidden)]
pub mod internals;
pub mod limits;
mod metrics;
pub mod model;
pub mod node_metrics;
pub mod nodes;
mod params;
mod parse;
mod replay;
pub mod report;
pub mod results;
pub mod rules;
mod savings;
pub mod severity;
mod simulate;
mod state;
mod stats;
#[cfg(feature = "store")]
mod store;
mod stragglers;
pub mod survey;
mod trace;
pub mod troubles;
pub mod units;
pub(crate) mod watch;
pub mod whatif;
