//! Job histories of Hadoop 0.21 to 3.4 (`.jhist`), in both encodings.

pub mod avro;
mod event_template;
pub mod fields;
pub mod json;
