//! Histories that are truncated or damaged, or that change while they are read.

mod changing_files;
mod contradictions;
mod impossible_numbers;
mod lost_records;
mod mapreduce;
mod recordings;
mod spark;
