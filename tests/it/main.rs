//! Tests from outside: they run the command or use the library's public API.
//!
//! Tests of the library's internals are in `tests/internal`, a module of the library's own tests.

// Tells clippy that helpers are test code, too.
#![cfg(test)]

#[cfg(feature = "cli")]
mod allocator;
mod check;
mod cli;
mod corpus;
mod damage;
mod generated;
mod project;
mod reports;
mod rules;
mod spark;
