//! Histories of Hadoop 0.21 to 3.4 (`.jhist`), in both of their encodings.

pub mod avro;
pub mod fields;
pub mod json;
mod shapes;
