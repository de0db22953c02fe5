//! Words in the names of jobs that count their runs.

/// Words after which a number of any length counts runs: the same job runs again with another number.
pub const RUN_COUNTERS: [&str; 15] = [
    "run",
    "build",
    "batch",
    "attempt",
    "try",
    "retry",
    "part",
    "chunk",
    "seq",
    "pid",
    "ts",
    "epoch",
    "iteration",
    "iter",
    "id",
];
