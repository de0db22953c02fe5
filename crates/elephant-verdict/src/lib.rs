//! What hangs together, what helps, and what it saves: troubles, savings, charts, names that stay the same.

pub mod charts;
pub mod fingerprint;
pub mod savings;
pub mod troubles;
