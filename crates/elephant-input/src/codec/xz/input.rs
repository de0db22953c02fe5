//! The compressed bytes of an xz stream, with the checksum of the part that is being read.

use std::io::{self, BufRead, ErrorKind, Read};

use flate2::Crc;

use super::damaged;
use crate::lookahead::Lookahead;

/// Bytes of the longest encoded number.
const LONGEST_NUMBER: u32 = 9;

/// See the module.
pub(super) struct Input {
    stream: Lookahead,
    crc: Crc,
    /// Bytes read since [`Self::start_sum`].
    summed: u64,
}

impl Input {
    pub(super) fn new(stream: Lookahead) -> Self {
        Self { stream, crc: Crc::new(), summed: 0 }
    }

    pub(super) fn into_inner(self) -> Lookahead {
        self.stream
    }

    /// Starts a new part: resets the checksum and the count.
    pub(super) fn start_sum(&mut self) {
        self.crc.reset();
        self.summed = 0;
    }

    /// Number of bytes read since the part started.
    pub(super) fn summed(&self) -> u64 {
        self.summed
    }

    /// Reads a checksum and compares it with that of the part `what`.
    pub(super) fn expect_sum(&mut self, what: &str) -> io::Result<()> {
        let sum = self.crc.sum();
        if u32::from_le_bytes(self.array()?) == sum {
            return Ok(());
        }
        Err(damaged(&format!("the checksum of {what} does not match")))
    }

    pub(super) fn byte(&mut self) -> io::Result<u8> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    pub(super) fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.read_exact(&mut bytes).map_err(truncated)?;
        Ok(bytes)
    }

    /// A number in groups of seven bits, the lowest first.
    pub(super) fn number(&mut self) -> io::Result<u64> {
        let mut number = 0;
        for group in 0..LONGEST_NUMBER {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << (7 * group);
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(damaged("a number is too long"))
    }
}

impl Read for Input {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut shown = self.stream.fill_buf()?;
        let count = shown.read(out)?;
        self.crc.update(out.get(..count).unwrap_or_default());
        self.summed += count as u64;
        self.stream.consume(count);
        Ok(count)
    }
}

/// The error for data that ends too early, worded as for the other codecs.
pub(super) fn truncated(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::UnexpectedEof if error.get_ref().is_none() => {
            io::Error::new(ErrorKind::UnexpectedEof, "the compressed data is truncated")
        }
        _ => error,
    }
}
