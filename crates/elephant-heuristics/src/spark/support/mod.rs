//! Functions that several Spark rules share: executor sizes, causes of failures and losses, measurements of
//! stages.

pub(super) mod adaptive;
pub(super) mod application;
pub(super) mod beyond_heap;
pub(super) mod broadcasts;
pub(super) mod by_design;
pub(super) mod cancelled;
pub(super) mod collections;
pub(super) mod crowded;
pub(super) mod driver_alone;
pub(super) mod failed_places;
pub(super) mod failed_queries;
pub(super) mod failures;
pub(super) mod idle;
pub(super) mod jvms;
pub(super) mod limited;
pub(super) mod loss;
pub(super) mod losses;
pub(super) mod lost_time;
pub(super) mod memory;
pub(super) mod partitions;
mod pinned;
pub(super) mod remedies;
pub(super) mod repeated_loss;
pub(super) mod root;
pub(super) mod shuffle_service;
pub(super) mod slots;
pub(super) mod spill_sizing;
pub(super) mod spilling;
pub(super) mod stage_figures;
pub(super) mod stage_text;
pub(super) mod waiting;
