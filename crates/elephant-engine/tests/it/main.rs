//! From files to findings: what is found, judged, saved and promised.

// Tells clippy that helpers are test code, too.
#![cfg(test)]

mod account;
mod anonymised;
mod core_hours;
mod custom;
mod damage;
mod diagnosis;
mod explain;
mod failures;
mod gate;
mod harm;
mod input;
mod mapreduce;
mod nodes;
mod plans;
mod platforms;
mod process_logs;
mod public_runs;
mod purposes;
mod queries;
mod replay;
mod savings;
mod spark;
mod stragglers;
mod tez;
mod troubles;
mod values_in_force;
