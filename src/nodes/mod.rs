//! Node ranking.

pub mod fit;
pub mod levels;
