//! What hangs together, what helps, and what it saves: troubles, savings, charts.

pub mod account;
pub mod charts;
pub mod savings;
pub mod troubles;
