//! Histories that are cut, damaged, or change while they are read.

mod changing_files;
mod fuzz_corpus;
mod mapreduce;
