//! The kinds of stages of a generated job, and what a stage reads from the one before it.

/// The work of a stage's tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Read files, write a shuffle.
    Scan,
    /// Read a shuffle, write a shuffle.
    Aggregate,
    /// Read a shuffle, write files.
    Write,
}

/// The output of the previous stage.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Upstream {
    pub(super) tasks: i64,
    /// Number of tasks that share it.
    pub(super) readers: i64,
    pub(super) bytes: i64,
    pub(super) records: i64,
}
