//! The README, the dependencies, and how tests are counted.

mod readme;
mod skipped;
mod supply_chain;
