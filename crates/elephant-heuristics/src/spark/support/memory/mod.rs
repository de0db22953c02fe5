//! Memory of executors and drivers: settings, lifetimes, and recommended sizes.

mod heap;
mod lifetime;
mod size;

pub(crate) use heap::*;
pub(crate) use lifetime::*;
pub(crate) use size::*;
