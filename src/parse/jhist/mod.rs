//! Histories of Hadoop 0.21 and later (`.jhist`), written by `o.a.h.mapreduce.jobhistory.EventWriter`.

pub mod avro;
pub mod fields;
