//! Functions that several MapReduce rules share: tasks and their counters, split sizes, heaps and containers.

pub(super) mod containers;
pub(super) mod counters;
pub(super) mod heap;
pub(super) mod java_opts;
pub(super) mod lost_time;
pub(super) mod replayed;
pub(super) mod role;
pub(super) mod run_times;
pub(super) mod settings;
pub(super) mod sort_buffer;
pub(super) mod splits;
pub(super) mod tasks;
