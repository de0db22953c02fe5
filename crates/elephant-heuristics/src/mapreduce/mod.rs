//! The rules of MapReduce, one file per heuristic.

mod distributed_cache_limit;
mod gc;
mod job_exception;
mod job_queue_limit;
mod mapper_input_size;
mod mapper_side_reads;
mod mapper_speed;
mod mapper_spill;
mod memory;
mod shuffle_sort;
mod skew;
mod support;
mod time;

pub(super) use job_exception::of_failure as remedies_of_failures;
pub(super) use mapper_spill::four_decimals;
pub(super) use memory::{no_container, no_memory};
pub(super) use shuffle_sort::slow_start;
pub(super) use support::counters::{MissingCounters, counter, input_bytes, run_time, to_bytes, to_millis};
pub(super) use support::heap::{larger_heaps, larger_sort_buffer};
pub(super) use support::replayed::ReplayedJob;
pub(super) use support::run_times::waiting_for_maps;
pub(super) use support::tasks::no_times;

use elephant_catalogue::Rule;

/// Every rule of MapReduce, in the order of the documentation.
pub(super) const RULES: &[Rule] = &[
    skew::MAPPER,
    skew::REDUCER,
    gc::MAPPER,
    gc::REDUCER,
    time::MAPPER,
    time::REDUCER,
    mapper_speed::RULE,
    mapper_spill::RULE,
    memory::MAPPER,
    memory::REDUCER,
    shuffle_sort::RULE,
    job_exception::RULE,
    distributed_cache_limit::RULE,
    job_queue_limit::RULE,
    mapper_input_size::RULE,
    mapper_side_reads::RULE,
];
