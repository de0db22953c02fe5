//! LZ4 frames. The library takes the end of the file for the end of the frame, so the end mark is verified here.

use std::io::{self, BufRead, ErrorKind, Read};

use lz4_flex::frame::FrameDecoder;

use super::Codec;
use super::members::Member;
use crate::lookahead::Lookahead;

/// Offset and bit of the flag for a checksum after the end mark.
const FLAGS: u64 = 4;
const HAS_CHECKSUM: u8 = 1 << 2;
const MARK_LEN: usize = 4;
const CHECKSUM_LEN: usize = 4;

/// One frame.
pub(super) struct Lz4Frame {
    decoder: FrameDecoder<Watched>,
    ended: bool,
}

impl Read for Lz4Frame {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.ended {
            return Ok(0);
        }
        let count = self.decoder.read(out)?;
        if count == 0 && !out.is_empty() {
            self.ended = true;
            if !self.decoder.get_ref().has_end() {
                return Err(io::Error::new(ErrorKind::UnexpectedEof, "the compressed data is truncated"));
            }
        }
        Ok(count)
    }
}

impl Member for Lz4Frame {
    const CODEC: Codec = Codec::Lz4Frame;

    fn start(input: Lookahead) -> io::Result<Self> {
        Ok(Self {
            decoder: FrameDecoder::new(Watched { input, read: 0, flags: 0, last: [0xff; 8] }),
            ended: false,
        })
    }

    fn into_input(self) -> Option<Lookahead> {
        Some(self.decoder.into_inner().input)
    }
}

/// The compressed bytes, of which the flags and the last few are remembered.
struct Watched {
    input: Lookahead,
    read: u64,
    flags: u8,
    last: [u8; MARK_LEN + CHECKSUM_LEN],
}

impl Watched {
    /// Whether the last bytes are an end mark, and a checksum if there is one.
    fn has_end(&self) -> bool {
        let (first, second) = self.last.split_at(MARK_LEN);
        let mark = if self.flags & HAS_CHECKSUM == 0 { second } else { first };
        mark == [0; MARK_LEN]
    }
}

impl Read for Watched {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.input.fill_buf()?.read(out)?;
        self.input.consume(count);
        let bytes = out.get(..count).unwrap_or_default();
        if let Some(flags) = FLAGS.checked_sub(self.read).and_then(|at| bytes.get(usize::try_from(at).ok()?))
        {
            self.flags = *flags;
        }
        self.read += count as u64;
        let last = bytes.get(count.saturating_sub(self.last.len())..).unwrap_or_default();
        self.last.rotate_left(last.len());
        let kept = self.last.len() - last.len();
        if let Some(end) = self.last.get_mut(kept..) {
            end.copy_from_slice(last);
        }
        Ok(count)
    }
}
