//! How much findings and messages show.

/// How many stages or groups get their own finding; the others are only counted.
pub(crate) const FINDINGS: usize = 3;
/// How many tasks, nodes, stages or reasons a message names.
pub(crate) const NAMES: usize = 3;
/// How many characters of a stage's name are shown.
pub(crate) const STAGE_NAME: usize = 40;
/// How many characters of a logged message are shown.
pub(crate) const MESSAGE: usize = 160;
