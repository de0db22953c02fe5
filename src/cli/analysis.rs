//! What `analyze` read, before it is written.

use std::error::Error;

use crate::engine::Pieces;
use crate::results::Report;

/// All applications, read and judged.
pub(super) struct Analysis {
    pub(super) report: Report,
    /// What was rendered while they were read.
    pub(super) pieces: Pieces,
    /// Why not all of them were stored, if that was wanted.
    pub(super) unkept: Option<Box<dyn Error>>,
}
