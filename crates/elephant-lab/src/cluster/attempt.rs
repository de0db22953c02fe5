//! Attempts of tasks on a simulated cluster.

/// An attempt of a task.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attempt {
    /// The index of its task.
    pub task: usize,
    /// Whether it is a copy of another attempt.
    pub copy: bool,
    /// The index of the node that it runs on.
    pub node: usize,
    /// Its launch, in seconds since the start of the job.
    pub start: f64,
    /// Its end; `None` while it runs.
    pub end: Option<f64>,
    /// Whether it completed; otherwise another attempt of its task completed first.
    pub won: bool,
    /// Its last report: its age in seconds, and its progress from 0 to 1.
    pub(crate) reported: (f64, f64),
    /// When it was flagged first, in seconds since its launch.
    pub(crate) detected: Option<f64>,
    /// Whether its container is one of those kept for copies.
    pub(super) reserved: bool,
    /// The work that it has to do.
    pub(super) work: f64,
    /// The node's count of work when it began to compute.
    pub(super) base: Option<f64>,
}
