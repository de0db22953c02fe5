//! What several rules of Spark share: sizes of executors, reasons of failures and losses, figures of stages.

pub(super) mod beyond_heap;
pub(super) mod failures;
pub(super) mod losses;
pub(super) mod lost_time;
pub(super) mod memory;
#[cfg(test)]
pub(super) mod sample;
pub(super) mod spill_sizing;
pub(super) mod stage_figures;
pub(super) mod stage_text;
pub(super) mod waiting;
