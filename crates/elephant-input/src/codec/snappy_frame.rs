//! The Snappy framing format of `framing_format.txt`: chunks with a type, a length and a checksum.

use std::io;

use super::blocks::{BlockFormat, Packed, Step};
use super::crc::crc32c;

/// The first bytes: a chunk that names the format. Concatenated streams repeat it.
pub(super) const MAGIC: &[u8; 10] = b"\xff\x06\0\0sNaPpY";

/// Type and length.
const HEADER_LEN: usize = 4;
const CHECKSUM_LEN: usize = 4;
/// The longest decoded chunk.
const MAX_CHUNK: usize = 64 << 10;

const PACKED: u8 = 0x00;
const STORED: u8 = 0x01;
/// The format lets readers skip other types, too, but no writer makes them, and a damaged chunk looks like them.
const PADDING: u8 = 0xfe;
const NAME: u8 = 0xff;

/// See the module.
#[derive(Default)]
pub(super) struct Framing {
    decoder: snap::raw::Decoder,
}

impl BlockFormat for Framing {
    fn next_block(&mut self, input: &mut Packed, out: &mut Vec<u8>) -> io::Result<Step> {
        loop {
            if input.at_end()? {
                return Ok(Step::End);
            }
            // A packed chunk is never empty, so these are the zeros of a tape or block store.
            if input.show(HEADER_LEN) == [0; HEADER_LEN] {
                return Ok(Step::Tail);
            }
            let Some([kind, len @ ..]) = input.require(HEADER_LEN)?.first_chunk::<HEADER_LEN>().copied()
            else {
                return Err(input.damaged("its header is incomplete"));
            };
            let [a, b, c] = len.map(usize::from);
            let len = a | b << 8 | c << 16;
            match kind {
                PACKED | STORED => {
                    return self.chunk(input, kind == PACKED, len, out).map(|()| Step::Block);
                }
                NAME if input.show(MAGIC.len()) == MAGIC => input.skip(MAGIC.len()),
                PADDING => {
                    input.require(HEADER_LEN + len)?;
                    input.skip(HEADER_LEN + len);
                }
                _ => return Err(input.damaged("its type is unknown")),
            }
        }
    }
}

impl Framing {
    fn chunk(&mut self, input: &mut Packed, packed: bool, len: usize, out: &mut Vec<u8>) -> io::Result<()> {
        if len < CHECKSUM_LEN || len > CHECKSUM_LEN + snap::raw::max_compress_len(MAX_CHUNK) {
            return Err(input.damaged("its length is impossible"));
        }
        let whole = input.require(HEADER_LEN + len)?.get(HEADER_LEN..).unwrap_or_default();
        let Some((sum, data)) = whole.split_first_chunk::<CHECKSUM_LEN>() else {
            return Err(input.damaged("its length is impossible"));
        };
        let sum = u32::from_le_bytes(*sum);
        if self.unpack(packed, data, out).is_none() {
            return Err(input.damaged("it cannot be decompressed"));
        }
        if masked(crc32c(out)) != sum {
            return Err(input.damaged("its checksum does not match"));
        }
        input.skip(HEADER_LEN + len);
        Ok(())
    }

    fn unpack(&mut self, packed: bool, data: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let len = if packed { snap::raw::decompress_len(data).ok()? } else { data.len() };
        if len > MAX_CHUNK {
            return None;
        }
        out.resize(len, 0);
        if packed {
            return self.decoder.decompress(data, out).ok().filter(|count| *count == len).map(drop);
        }
        out.copy_from_slice(data);
        Some(())
    }
}

/// The format stores checksums in this form, because checksums of data with checksums are weak.
fn masked(sum: u32) -> u32 {
    sum.rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read, Write};

    use super::*;
    use crate::codec::{Codec, decode};

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = snap::write::FrameEncoder::new(Vec::new());
        encoder.write_all(bytes).unwrap();
        encoder.into_inner().unwrap()
    }

    fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
        let mut stream = decode(Box::new(Cursor::new(packed.to_vec())));
        assert_eq!(stream.codec(), Codec::SnappyFrame);
        let mut all = Vec::new();
        stream.read_to_end(&mut all).ok().map(|_| all)
    }

    #[test]
    fn chunks_padding_and_concatenated_streams_are_read() {
        let text = b"one line of a log\n".repeat(20_000);
        let noise: Vec<u8> = (0..3000u32).map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect();
        assert_eq!(unpacked(&packed(&text)).unwrap(), text);
        assert_eq!(unpacked(&packed(&noise)).unwrap(), noise, "stored");
        let padding = [&b"\xfe\x03\0\0"[..], &[0; 3]].concat();
        let all = [packed(&text), padding, packed(&noise), vec![0; 100]].concat();
        assert_eq!(unpacked(&all).unwrap(), [text, noise].concat());
    }

    #[test]
    fn any_changed_byte_is_an_error() {
        let text = b"one line of a log\n".repeat(20);
        let packed = packed(&text);
        for at in MAGIC.len()..packed.len() {
            for bit in 0..8 {
                let mut changed = packed.clone();
                changed[at] ^= 1 << bit;
                assert_eq!(unpacked(&changed), None, "{at}, bit {bit}");
            }
        }
    }
}
