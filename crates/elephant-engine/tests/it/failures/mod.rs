//! The root causes of failures in findings.

mod mapreduce;
mod recordings;
mod spark;
