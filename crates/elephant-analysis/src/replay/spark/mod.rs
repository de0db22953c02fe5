//! Replay of Spark applications.
//!
//! [`Plan::of`] reads from the log what waits for what, and for how long after it. [`Plan::replay`] schedules the recorded
//! attempts again:
//!
//! - A job waits for the jobs that had ended when it was submitted: those of its SQL execution, if there are any, or else
//!   all. The time between the last of these ends and its submission is the driver's, and stays.
//! - A stage attempt waits for its job, its parents within the job, and its own earlier attempt.
//! - Tasks take free slots in the order in which they were launched, stages in the order of jobs (FIFO), or the stage with
//!   fewest running tasks first (FAIR). A retry is queued when its predecessor ends, a copy starts at its recorded distance
//!   from the original, and the first success ends the other attempts.
//! - Executors come and go when they did. With dynamic allocation they follow the stages.
//!
//! Model: `TaskSchedulerImpl`, `TaskSetManager`, `DAGScheduler` and `ExecutorAllocationManager` of Spark.

mod causes;
mod change;
mod jobs;
mod path;
mod plan;
mod read;
mod recorded;
mod schedule;
mod slots;
mod stages;

pub use causes::{Cause, Overhead, Partitions, Scope};
pub use change::{Change, Slots};
pub use plan::{Attempt, Plan, Stage, Unknown};
pub use recorded::{Recorded, RecordedOnce};
pub use schedule::Outcome;
