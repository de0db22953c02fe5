//! Straggler analytics: which tasks were stragglers, what they cost, why, and how well they could have been detected.
//!
//! Everything here works on one group of like tasks at a time (all maps, all reduces, the tasks of one stage attempt),
//! never over a mix: [`executions`] says which attempt of a task is judged and how long it took, [`labels`] which
//! executions are stragglers, [`impact`] what they cost, [`progress`] how far an attempt had come at any moment.
//!
//! [`group`] puts labels on a group and parts the stragglers that their input explains from the others,
//! [`speculation`] tells what copies the cluster ran.
//!
//! [`detect`] holds detectors, [`replay`] takes them through a finished job, [`quality`] and [`evaluation`] say how good
//! they were, [`first_order`] what that means for time and energy.
//!
//! The definitions are those of three papers, cited as
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
pub mod progress;
pub mod quality;
pub mod regression;
pub mod replay;
pub mod speculation;
