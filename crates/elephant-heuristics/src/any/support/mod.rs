//! Functions that several rules of any engine share: causes of stragglers, slow nodes, speculation.

pub(super) mod causes;
pub(super) mod costs;
pub(super) mod gc_logs;
pub(super) mod groups;
mod side_effects;
pub(super) mod slow_nodes;
pub(super) mod speculation_settings;
pub(super) mod working_times;
