//! The data that `analyze` read, before the report is written.

use std::error::Error;

use elephant_engine::engine::Pieces;
use elephant_engine::results::Report;

/// All applications, read and judged.
pub(super) struct Analysis {
    pub(super) report: Report,
    /// The parts of the report that were rendered while histories were read.
    pub(super) pieces: Pieces,
    /// The error, if applications should have been stored and some were not.
    pub(super) unkept: Option<Box<dyn Error>>,
}
