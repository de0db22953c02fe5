//! Memory of executors and drivers: what is set, how long it is held, and how much would do.

mod heap;
mod lifetime;
mod size;

pub(in crate::heuristics) use heap::*;
pub(in crate::heuristics) use lifetime::*;
pub(in crate::heuristics) use size::*;
