//! The catalogue of rules: code, YAML, pages and fixtures agree.

// Tells clippy that helpers are test code, too.
#![cfg(test)]

mod catalogue;
mod fixtures;
mod key_measures;
mod sufficient;
