//! The README, the dependencies, imports between modules, sizes of files, and how tests are counted.

mod boundaries;
mod readme;
mod sizes;
mod skipped;
mod supply_chain;
