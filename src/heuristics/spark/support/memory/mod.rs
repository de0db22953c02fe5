//! Memory of executors and drivers: settings, lifetimes, and recommended sizes.

mod heap;
mod lifetime;
mod size;

pub(in crate::heuristics) use heap::*;
pub(in crate::heuristics) use lifetime::*;
pub(in crate::heuristics) use size::*;
