//! Mapreduce.

mod advice;
mod replay;
