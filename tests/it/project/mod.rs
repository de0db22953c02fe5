//! The README and the manual, dependencies, imports between modules, file sizes, numbers in code, and the count of skipped tests.

mod api;
mod crates;
mod docs;
mod numbers;
mod readme;
mod sizes;
mod skipped;
mod supply_chain;
