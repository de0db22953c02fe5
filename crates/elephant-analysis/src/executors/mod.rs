//! The memory of executors and drivers: what they have, how long, and what would fit.

mod heap;
mod lifetime;
mod overhead;
mod shortage;
mod sizes;

pub use heap::*;
pub use lifetime::*;
pub use overhead::{Overhead, fitting_overhead, in_containers, is_python, resident, room_for};
pub use shortage::was_short;
pub use sizes::*;
