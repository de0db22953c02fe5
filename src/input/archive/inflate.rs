//! Deflate as zip has it: without a header, with the checksum elsewhere.

use std::io::{self, BufRead, ErrorKind, Read};

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::region::Region;
use crate::input::lookahead::Lookahead;

/// Decodes one member. The library's own reader takes a cut for the end, which this does not.
pub(super) struct Inflate {
    input: Lookahead,
    state: Decompress,
    sum: Crc,
    expected: Option<u32>,
    ended: bool,
}

impl Inflate {
    pub(super) fn new(region: Region, expected: Option<u32>) -> Self {
        let input = Lookahead::new(Box::new(region));
        Self { input, state: Decompress::new(false), sum: Crc::new(), expected, ended: false }
    }

    /// Compressed bytes used so far.
    pub(super) fn used(&self) -> u64 {
        self.state.total_in()
    }

    /// Whether the end was reached and not just the end of the bytes.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    fn step(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let packed = self.input.fill_buf()?;
        if packed.is_empty() {
            return Err(io::Error::new(ErrorKind::UnexpectedEof, "the archive is cut in this member"));
        }
        let (used, made) = (self.state.total_in(), self.state.total_out());
        let status = self
            .state
            .decompress(packed, out, FlushDecompress::None)
            .map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        self.ended = status == Status::StreamEnd;
        let used = usize::try_from(self.state.total_in() - used).unwrap_or_default();
        self.input.consume(used);
        Ok(usize::try_from(self.state.total_out() - made).unwrap_or_default())
    }

    fn verify(&mut self) -> io::Result<usize> {
        match self.expected.take() {
            Some(expected) if expected != self.sum.sum() => {
                Err(io::Error::new(ErrorKind::InvalidData, "the checksum of the member differs"))
            }
            _ => Ok(0),
        }
    }
}

impl Read for Inflate {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        while !self.ended {
            let count = self.step(out)?;
            if count > 0 {
                self.sum.update(out.get(..count).unwrap_or_default());
                return Ok(count);
            }
        }
        self.verify()
    }
}
