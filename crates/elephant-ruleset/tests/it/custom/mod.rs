//! Custom.

mod docs;
mod files;
