//! Straggler analytics: which tasks were stragglers, their cost, their causes, and how well detectors would
//! have found them.
//!
//! Everything here works on one group of similar tasks at a time (all map tasks, all reduce tasks, the tasks
//! of one stage attempt), never on a mix: [`executions`] picks the judged attempt of a task and its duration,
//! [`labels`] labels executions as stragglers, [`usual`] estimates how long they usually take, [`impact`]
//! computes their cost, [`progress`] gives an attempt's progress at any time.
//!
//! [`group`] labels a group and separates stragglers explained by their input from the others,
//! [`speculation`] counts the copies that the cluster ran.
//!
//! [`detect`] holds the detectors, [`replay`] runs them on a finished job and [`live`] on a running one,
//! [`quality`] and [`evaluation`] rate them, [`first_order`] translates quality into time and energy.
//!
//! The definitions are from three papers, cited as
//!
//! - S0: T.-D. Phan, G. Pallez, S. Ibrahim, P. Raghavan, "A New Framework for Evaluating Straggler Detection Mechanisms
//!   in `MapReduce`", 2019,
//! - S1: X. Ouyang, P. Garraghan, C. Wang et al., "An Approach for Modeling and Ranking Node-level Stragglers in Cloud
//!   Datacenters", 2016,
//! - S2: P. Garraghan, X. Ouyang, R. Yang et al., "Straggler Root-Cause and Impact Analysis for Massive-scale
//!   Virtualized Cloud Datacenters", 2019.

pub mod cause;
pub mod detect;
pub mod dolly;
pub mod evaluation;
pub mod executions;
pub mod first_order;
pub mod group;
pub mod impact;
pub mod labels;
pub mod live;
pub mod progress;
pub mod quality;
pub mod regression;
pub mod replay;
pub mod speculation;
pub mod usual;
