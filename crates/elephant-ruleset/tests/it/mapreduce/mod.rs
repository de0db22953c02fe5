//! Mapreduce.

mod differences;
mod oracle;
mod skew;
