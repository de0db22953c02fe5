//! Histories that are truncated or damaged, or that change while they are read.

mod changing_files;
mod fuzz_corpus;
mod mapreduce;
