//! The README and the manual, dependencies, imports between modules, file sizes, and the count of skipped tests.

mod api;
mod crates;
mod docs;
mod readme;
mod sizes;
mod skipped;
mod supply_chain;
