//! Replays the recorded tasks of an application under changed conditions: fewer or more slots, no stragglers, no
//! skew, no failures, other numbers of tasks.
//!
//! A replay is list scheduling of recorded work. The times of tasks, the time the driver spends between jobs, and the
//! lives of executors are taken from the log; what waits for what, and for which free slot, is computed again. A replay
//! without any change should take as long as the log says. The difference, the residual, is the error that the model is
//! known to have on this application.
//!
//! [`mapreduce`] replays jobs of Hadoop, [`spark`] applications of Spark.

pub mod mapreduce;
mod merged;
mod micros;
mod slowdown;
pub mod spark;

use merged::{as_uneven, merged, spread};
pub use micros::Micros;
pub use slowdown::PerMille;
use slowdown::{DISK_SPEED, beyond_limit, spill_time};

/// A stage, or a job's map or reduce tasks, cannot be split into more tasks than this in a replay: each takes memory.
pub const MAX_TASKS: u32 = 1_000_000;

/// A replay that differs from the recorded time by more than this share, without any change, predicts nothing.
pub const MAX_RESIDUAL: f64 = 0.1;

/// The error of a replay under a change, as a share of the time that it takes, in addition to the difference without a
/// change. Replays of recordings with changed conditions are within it.
pub const ERROR: f64 = 0.05;

/// The attempts that replays of one application may schedule: about as much time as reading them takes.
pub const MAX_ATTEMPTS: usize = 400_000;

/// What a replay took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replayed {
    /// From the application's submission to its end.
    pub wall: Micros,
    /// The time of all task attempts on their slots.
    pub task_time: Micros,
    /// The time for which slots were held, with or without a task.
    pub held: Micros,
}
