//! Snappy blocks as framed by the Java library `snappy-java`.

use std::io;

use super::blocks::{BlockFormat, MAX_BLOCK, Packed, Step};

/// The first bytes of a stream; concatenated streams repeat them.
pub(super) const MAGIC: &[u8; 8] = b"\x82SNAPPY\0";

/// Magic number, version, minimum compatible version.
const HEADER_LEN: usize = 16;
const LEN_LEN: usize = 4;
/// Two compressed bytes cannot expand to more than this many times their size.
const MAX_RATIO: usize = 64;

/// See the module.
#[derive(Default)]
pub(super) struct Framing {
    decoder: snap::raw::Decoder,
}

impl BlockFormat for Framing {
    fn next_block(&mut self, input: &mut Packed, out: &mut Vec<u8>) -> io::Result<Step> {
        while header_follows(input.show(MAGIC.len())) {
            input.require(HEADER_LEN)?;
            input.skip(HEADER_LEN);
        }
        if input.at_end()? {
            return Ok(Step::End);
        }
        match input.require(LEN_LEN)?.first_chunk().map_or(0, |len| u32::from_be_bytes(*len)) {
            0 => Ok(Step::Tail),
            len => self.block(input, usize::try_from(len).unwrap_or(usize::MAX), out).map(|()| Step::Block),
        }
    }
}

/// Whether a (possibly truncated) header follows. Its magic, read as a block length, exceeds any real block.
fn header_follows(shown: &[u8]) -> bool {
    shown.len() >= LEN_LEN && MAGIC.starts_with(shown)
}

impl Framing {
    fn block(&mut self, input: &mut Packed, packed_len: usize, out: &mut Vec<u8>) -> io::Result<()> {
        if packed_len > snap::raw::max_compress_len(MAX_BLOCK) {
            return Err(input.damaged("its length is impossible"));
        }
        let whole = LEN_LEN + packed_len;
        let packed = input.require(whole)?.get(LEN_LEN..).unwrap_or_default();
        if self.unpack(packed, out).is_none() {
            return Err(input.damaged("it cannot be decompressed"));
        }
        input.skip(whole);
        Ok(())
    }

    fn unpack(&mut self, packed: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let len = snap::raw::decompress_len(packed).ok()?;
        if len > MAX_BLOCK || len / MAX_RATIO > packed.len() {
            return None;
        }
        out.resize(len, 0);
        self.decoder.decompress(packed, out).ok().filter(|count| *count == len).map(drop)
    }
}
