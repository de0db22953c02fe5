//! LZ4 blocks as Java's `LZ4BlockOutputStream` frames them.

use std::io;

use twox_hash::XxHash32;

use super::blocks::{BlockFormat, Packed, Step};

/// The first bytes of every block.
pub(super) const MAGIC: &[u8; 8] = b"LZ4Block";

/// Magic number, token, two lengths, checksum.
const HEADER_LEN: usize = 21;
const STORED: u8 = 0x10;
const COMPRESSED: u8 = 0x20;
const SEED: u32 = 0x9747_b28c;
/// Java's writer keeps only these bits of the hash.
const CHECKSUM_BITS: u32 = 0x0fff_ffff;

/// See the module.
#[derive(Default)]
pub(super) struct Framing {
    /// Whether the previous block was an end mark: padding or another stream may follow.
    ended: bool,
}

struct Header {
    method: u8,
    packed_len: usize,
    len: usize,
    checksum: u32,
}

impl BlockFormat for Framing {
    fn next_block(&mut self, input: &mut Packed, out: &mut Vec<u8>) -> io::Result<Step> {
        loop {
            // A running or killed application writes no end mark; like Spark, accept the end of the file
            // instead.
            if input.at_end()? {
                return Ok(Step::End);
            }
            if self.ended && !MAGIC.starts_with(input.show(MAGIC.len())) {
                return Ok(Step::Tail);
            }
            let header = header(input)?;
            self.ended = header.len == 0;
            if !self.ended {
                return block(input, &header, out).map(|()| Step::Block);
            }
            input.skip(HEADER_LEN);
        }
    }
}

fn header(input: &mut Packed) -> io::Result<Header> {
    let shown = input.show(MAGIC.len());
    if !MAGIC.starts_with(shown) {
        return Err(input.damaged("it does not start with LZ4Block"));
    }
    let header = parse_header(input.require(HEADER_LEN)?);
    header.ok_or_else(|| input.damaged("its two lengths contradict each other"))
}

/// Parses a header; `None` if no writer would produce it.
fn parse_header(bytes: &[u8]) -> Option<Header> {
    let (token, numbers) = bytes.get(MAGIC.len()..)?.split_first()?;
    let (numbers, _) = numbers.as_chunks::<4>();
    let [packed_len, len, checksum] = numbers else { return None };
    let header = Header {
        method: token & 0xf0,
        packed_len: usize::try_from(u32::from_le_bytes(*packed_len)).ok()?,
        len: usize::try_from(u32::from_le_bytes(*len)).ok()?,
        checksum: u32::from_le_bytes(*checksum),
    };
    // The low bits of the token give the writer's block size, 32 MiB at most.
    let longest = 1024 << (token & 0x0f);
    let makes_sense = match header.method {
        STORED => header.packed_len == header.len,
        COMPRESSED => header.packed_len <= header.len && (header.len == 0) == (header.packed_len == 0),
        _ => false,
    };
    (header.len <= longest && makes_sense).then_some(header)
}

fn block(input: &mut Packed, header: &Header, out: &mut Vec<u8>) -> io::Result<()> {
    let whole = HEADER_LEN + header.packed_len;
    let packed = input.require(whole)?.get(HEADER_LEN..).unwrap_or_default();
    if !unpack(header, packed, out) {
        return Err(input.damaged("it cannot be decompressed"));
    }
    if XxHash32::oneshot(SEED, out) & CHECKSUM_BITS != header.checksum {
        return Err(input.damaged("its checksum does not match"));
    }
    input.skip(whole);
    Ok(())
}

fn unpack(header: &Header, packed: &[u8], out: &mut Vec<u8>) -> bool {
    if header.method == STORED {
        out.clear();
        out.extend_from_slice(packed);
        return true;
    }
    out.resize(header.len, 0);
    lz4_flex::block::decompress_into(packed, out).is_ok_and(|count| count == header.len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header_of(token: u8, packed_len: u32, len: u32) -> Option<usize> {
        let mut bytes = [MAGIC.as_slice(), &[token]].concat();
        bytes.extend([packed_len, len, 0].map(u32::to_le_bytes).concat());
        parse_header(&bytes).map(|header| header.len)
    }

    #[test]
    fn headers_that_java_writes() {
        assert_eq!(header_of(0x25, 13_000, 32_768), Some(32_768));
        assert_eq!(header_of(0x15, 700, 700), Some(700));
        assert_eq!(header_of(0x15, 0, 0), Some(0));
        assert_eq!(header_of(0x2f, 1 << 20, 32 << 20), Some(32 << 20));
    }

    #[test]
    fn invalid_headers_are_rejected() {
        assert_eq!(header_of(0x25, 13_000, 32_769), None, "longer than the token allows");
        assert_eq!(header_of(0x2f, 9, u32::MAX), None);
        assert_eq!(header_of(0x25, u32::MAX, 100), None);
        assert_eq!(header_of(0x15, 700, 701), None, "stored with two different lengths");
        assert_eq!(header_of(0x25, 0, 9), None);
        assert_eq!(header_of(0x35, 9, 9), None, "unknown method");
    }
}
