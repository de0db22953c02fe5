//! Rules that users define in YAML.

// Helpers of tests are not tests to clippy.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::print_stdout)]

mod common;

#[path = "defined/agreement.rs"]
mod agreement;
#[path = "defined/command.rs"]
mod command;
#[path = "defined/docs.rs"]
mod docs;
#[path = "defined/files.rs"]
mod files;
