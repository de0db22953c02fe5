//! One file for each format of histories. All of them read and write one part after the other, in bounded memory.

mod avro;
mod conf;
mod hadoop1;
mod jhist;
mod json_lines;
mod spark;

use std::io::{self, Read, Write};

use super::mask::Mask;
use elephant_input::kind::SourceKind;

pub(crate) use conf::configuration;

/// What was left out of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Dropped {
    /// Lines or records that could not be read.
    pub(crate) damaged: u64,
    /// Lines or records longer than the limit.
    pub(crate) too_long: u64,
    /// Whether the file broke off: it could not be read to its end.
    pub(crate) broken_off: bool,
}

/// Whether there is a file here for histories of this kind. Those of Tez, answers of servers and logs of processes are left out.
pub(crate) const fn is_known(kind: SourceKind) -> bool {
    kind.is_history() && !kind.is_spread()
}

/// Rewrites the bytes of a history.
///
/// # Errors
/// If the result cannot be written. What cannot be read is left out and counted.
pub(crate) fn rewrite(
    mask: &mut Mask,
    kind: SourceKind,
    bytes: &mut dyn Read,
    longest: usize,
    out: &mut dyn Write,
) -> io::Result<Dropped> {
    match kind {
        SourceKind::SparkEventLog => spark::event_log(mask, bytes, longest, out),
        SourceKind::JhistJson => jhist::history(mask, bytes, longest, out),
        SourceKind::JhistBinary => avro::history(mask, bytes, longest, out),
        SourceKind::Hadoop1History => hadoop1::history(mask, bytes, out),
        SourceKind::TezJson
        | SourceKind::TezProto
        | SourceKind::Answers
        | SourceKind::JobConf
        | SourceKind::GcLog
        | SourceKind::ProcessLog
        | SourceKind::Trace(_)
        | SourceKind::Unrelated(_) => Ok(Dropped::default()),
    }
}
