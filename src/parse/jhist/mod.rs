//! Job histories of Hadoop 0.21 to 3.4 (`.jhist`), in both encodings.

pub(crate) mod avro;
mod event_template;
pub(crate) mod fields;
pub(crate) mod json;
