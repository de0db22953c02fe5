//! The README, dependencies, imports between modules, file sizes, and the count of skipped tests.

mod api;
mod boundaries;
mod readme;
mod sizes;
mod skipped;
mod supply_chain;
