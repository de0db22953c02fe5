//! What a rule is given and what it returns: parameters with their layers and cut-offs, findings with their evidence.

pub mod finding;
pub mod params;
pub mod wording;
