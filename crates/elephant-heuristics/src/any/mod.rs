//! The rules of any engine, one file per heuristic.

mod failed_attempts;
mod gc_failures;
mod gc_requests;
mod gc_stops;
mod heap_floor;
mod large_scan;
mod speculation_waste;
mod straggler_detection;
mod straggler_dos_index;
mod straggler_impact;
mod support;
mod unfinished;
mod wait_time;
mod wasted_resources;

use elephant_catalogue::Rule;

/// Every rule of any engine, in the order of the documentation.
pub(super) const RULES: &[Rule] = &[
    straggler_dos_index::RULE,
    straggler_impact::RULE,
    straggler_detection::RULE,
    speculation_waste::RULE,
    failed_attempts::RULE,
    wasted_resources::RULE,
    wait_time::RULE,
    unfinished::RULE,
    gc_stops::RULE,
    heap_floor::RULE,
    gc_failures::RULE,
    gc_requests::RULE,
    large_scan::RULE,
];
