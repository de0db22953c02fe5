//! Rules on queries of Spark SQL: what their operators cost, and what costs less.

mod broadcast;
mod cache;
mod commit;
mod driver_time;
mod engine_fallback;
mod exploding_join;
mod loss;
mod nested_loop_join;
mod on_queries;
mod partition_pruning;
mod python_functions;
mod repeated_work;
mod rewritten_rows;
mod rows;
mod schema_inference;
mod selective_scan;
mod shuffle_volume;
mod small_files_read;
mod small_files_written;
mod stream;
mod table_scan;
mod would_broadcast;
mod writing;

use elephant_catalogue::Rule;

/// The rules, in the order of the documentation.
pub(crate) const RULES: &[Rule] = &[
    driver_time::RULE,
    nested_loop_join::RULE,
    exploding_join::RULE,
    would_broadcast::RULE,
    broadcast::RULE,
    python_functions::RULE,
    repeated_work::RULE,
    small_files_read::RULE,
    small_files_written::RULE,
    partition_pruning::RULE,
    selective_scan::RULE,
    table_scan::RULE,
    shuffle_volume::RULE,
    rewritten_rows::RULE,
    cache::RULE,
    schema_inference::RULE,
    engine_fallback::RULE,
    stream::behind::RULE,
    stream::state::RULE,
];

#[cfg(test)]
mod tests;
