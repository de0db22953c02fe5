//! Rules that users define in YAML.

// Helpers of tests are not tests to clippy.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::print_stdout)]

mod common;

#[path = "custom/agreement.rs"]
mod agreement;
#[path = "custom/command.rs"]
mod command;
#[path = "custom/docs.rs"]
mod docs;
#[path = "custom/files.rs"]
mod files;
