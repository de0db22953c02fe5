//! Raw deflate data, as stored in zip: no header of its own, and the checksum is kept elsewhere.

use std::io::{self, BufRead, ErrorKind, Read};

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::region::Region;
use crate::lookahead::Lookahead;

/// Decodes one member. Reports truncated data as an error; the library's own reader would report a normal end.
pub(super) struct Inflate {
    input: Lookahead,
    state: Decompress,
    sum: Crc,
    expected: Option<u32>,
    ended: bool,
    /// An error of the compressed stream, held back while the decoder still has unpacked bytes.
    broken: Option<io::Error>,
}

impl Inflate {
    pub(super) fn new(region: Region, expected: Option<u32>) -> Self {
        let input = Lookahead::new(Box::new(region));
        Self { input, state: Decompress::new(false), sum: Crc::new(), expected, ended: false, broken: None }
    }

    /// Compressed bytes used so far.
    pub(super) fn used(&self) -> u64 {
        self.state.total_in()
    }

    /// Whether the deflate stream reached its end, not just the end of the available bytes.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    fn step(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let (packed, broken): (&[u8], _) = match self.input.fill_buf() {
            Ok([]) => (&[], Some(self.broken.take().unwrap_or_else(truncated))),
            Ok(packed) => (packed, None),
            Err(error) => (&[], Some(error)),
        };
        let (used, made) = (self.state.total_in(), self.state.total_out());
        let status = self
            .state
            .decompress(packed, out, FlushDecompress::None)
            .map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        self.ended = status == Status::StreamEnd;
        let used = usize::try_from(self.state.total_in() - used).unwrap_or_default();
        self.input.consume(used);
        let made = usize::try_from(self.state.total_out() - made).unwrap_or_default();
        // The decoder may have read all input before all its output fits into `out`.
        match broken {
            Some(error) if made == 0 && !self.ended => return Err(error),
            broken => self.broken = broken,
        }
        Ok(made)
    }

    fn verify(&mut self) -> io::Result<usize> {
        match self.expected.take() {
            Some(expected) if expected != self.sum.sum() => {
                Err(io::Error::new(ErrorKind::InvalidData, "the checksum of the member does not match"))
            }
            _ => Ok(0),
        }
    }
}

fn truncated() -> io::Error {
    io::Error::new(ErrorKind::UnexpectedEof, "the archive is truncated in this member")
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

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use flate2::Compression;
    use flate2::write::DeflateEncoder;

    use super::*;

    /// Reads `packed` in steps of `portion` bytes.
    fn unpack(packed: &[u8], sum: u32, portion: usize) -> (Vec<u8>, Option<io::Error>) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(packed).unwrap();
        let region = Region::new(&Arc::new(file), 0, Some(packed.len() as u64));
        let mut member = Inflate::new(region, Some(sum));
        let (mut all, mut out) = (Vec::new(), vec![0; portion]);
        loop {
            match member.read(&mut out) {
                Ok(0) => return (all, None),
                Ok(count) => all.extend(&out[..count]),
                Err(error) => return (all, Some(error)),
            }
        }
    }

    #[test]
    fn a_member_ends_at_its_end_whatever_the_buffer_size() {
        for len in [0usize, 1, 999, 32 << 10, (32 << 10) + 1, 100_000, 300_000] {
            let text: Vec<u8> = (0..=u8::MAX).cycle().flat_map(|byte| [byte; 700]).take(len).collect();
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&text).unwrap();
            let packed = encoder.finish().unwrap();
            let mut crc = Crc::new();
            crc.update(&text);
            for portion in [7, 1000, 4096, 32 << 10, 200_000] {
                let (all, error) = unpack(&packed, crc.sum(), portion);
                assert!(error.is_none() && all == text, "{len} by {portion}: {error:?}, {}", all.len());
                // A member without its end is truncated; the bytes that are there come out before the error.
                let (all, error) = unpack(&packed[..packed.len() - 1], crc.sum(), portion);
                assert_eq!(error.unwrap().kind(), ErrorKind::UnexpectedEof, "{len} by {portion}");
                assert!(
                    text.starts_with(&all) && len - all.len() < 1000,
                    "{len} by {portion}: {}",
                    all.len()
                );
            }
            assert_eq!(unpack(&packed, !crc.sum(), 1000).1.unwrap().kind(), ErrorKind::InvalidData);
        }
    }
}
