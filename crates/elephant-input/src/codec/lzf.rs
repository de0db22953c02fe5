//! LZF chunks, as the Java library `compress-lzf` writes them.

use std::io;

use super::blocks::{BlockFormat, Packed, Step};

const MAGIC: &[u8; 2] = b"ZV";
/// Magic number, type, length.
const STORED_HEADER_LEN: usize = 5;
/// A stored chunk's header, followed by the decoded length.
const PACKED_HEADER_LEN: usize = 7;
/// Instructions below this copy literals; the others repeat earlier output.
const FIRST_BACK_REFERENCE: u8 = 1 << 5;
/// The largest repetition length that fits into an instruction; at this value, one more length byte follows.
const LONG_REPETITION: usize = 7;

/// See the module.
#[derive(Default)]
pub(super) struct Framing;

impl BlockFormat for Framing {
    fn next_block(&mut self, input: &mut Packed, out: &mut Vec<u8>) -> io::Result<Step> {
        if input.at_end()? {
            return Ok(Step::End);
        }
        let shown = input.show(MAGIC.len());
        if !MAGIC.starts_with(shown) {
            return if shown == [0; 2] {
                Ok(Step::Tail)
            } else {
                Err(input.damaged("it does not start with ZV"))
            };
        }
        match *input.require(STORED_HEADER_LEN)? {
            [_, _, 0, high, low] => stored(input, len(high, low), out)?,
            [_, _, 1, high, low] => packed(input, len(high, low), out)?,
            _ => return Err(input.damaged("its type is unknown")),
        }
        Ok(Step::Block)
    }
}

/// Whether an unrecognised stream starts with a chunk in which one byte is wrong. The magic number has only two bytes,
/// so if one of them is wrong, the chunk must also end where its length says.
pub(super) fn is_nearly(head: &[u8], complete: bool) -> bool {
    let (magic, kind, len) = match head {
        [a, b, kind, high, low, ..] => ([*a, *b], *kind, len(*high, *low)),
        _ => return complete && head == MAGIC,
    };
    if magic == *MAGIC {
        return true;
    }
    let is_near = magic.iter().zip(MAGIC).any(|(byte, expected)| byte == expected);
    let header_len = if kind == 0 { STORED_HEADER_LEN } else { PACKED_HEADER_LEN };
    match head.get(header_len + len..) {
        Some([]) => is_near && kind <= 1 && complete,
        Some(next) => is_near && kind <= 1 && next.starts_with(MAGIC),
        None => false,
    }
}

fn len(high: u8, low: u8) -> usize {
    usize::from(u16::from_be_bytes([high, low]))
}

fn stored(input: &mut Packed, len: usize, out: &mut Vec<u8>) -> io::Result<()> {
    let whole = STORED_HEADER_LEN + len;
    out.clear();
    out.extend_from_slice(input.require(whole)?.get(STORED_HEADER_LEN..).unwrap_or_default());
    input.skip(whole);
    Ok(())
}

fn packed(input: &mut Packed, packed_len: usize, out: &mut Vec<u8>) -> io::Result<()> {
    let whole = PACKED_HEADER_LEN + packed_len;
    let [_, _, _, _, _, high, low, packed @ ..] = input.require(whole)? else {
        return Err(input.damaged("its header is incomplete"));
    };
    out.clear();
    if unpack(packed, out).is_none() || out.len() != len(*high, *low) {
        return Err(input.damaged("it cannot be decompressed"));
    }
    input.skip(whole);
    Ok(())
}

/// Decodes a chunk; `None` if it is invalid. Input is at most 64 KiB, which bounds the output too.
fn unpack(mut packed: &[u8], out: &mut Vec<u8>) -> Option<()> {
    while let [instruction, rest @ ..] = packed {
        if *instruction < FIRST_BACK_REFERENCE {
            let (literals, rest) = rest.split_at_checked(usize::from(*instruction) + 1)?;
            out.extend_from_slice(literals);
            packed = rest;
            continue;
        }
        let mut len = usize::from(instruction >> 5);
        let mut operands = rest;
        if len == LONG_REPETITION {
            let (more, rest) = operands.split_first()?;
            len += usize::from(*more);
            operands = rest;
        }
        let (low, rest) = operands.split_first()?;
        repeat(out, usize::from(instruction & 0x1f) << 8 | usize::from(*low), len + 2)?;
        packed = rest;
    }
    Some(())
}

/// Repeats `len` bytes that start `back + 1` bytes before the end; source and target may overlap.
fn repeat(out: &mut Vec<u8>, back: usize, mut len: usize) -> Option<()> {
    let from = out.len().checked_sub(back + 1)?;
    while len > 0 {
        let count = len.min(out.len() - from);
        out.extend_from_within(from..from + count);
        len -= count;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        unpack(packed, &mut out).map(|()| out)
    }

    #[test]
    fn literals_and_repetitions() {
        assert_eq!(unpacked(b"\x02abc").unwrap(), b"abc");
        assert_eq!(unpacked(b"\x02abc\x20\x02").unwrap(), b"abcabc");
        assert_eq!(unpacked(b"\x00a\x60\x00").unwrap(), b"aaaaaa", "repeats its own output");
        assert_eq!(unpacked(b"\x01ab\xe0\x03\x01").unwrap(), b"abababababababab"[..14]);
        assert_eq!(unpacked(b"").unwrap(), b"");
    }

    #[test]
    fn invalid_chunks_are_rejected() {
        for packed in [&b"\x02ab"[..], b"\x20\x00", b"\x00a\x20\x01", b"\x00a\x20", b"\x00a\xe0"] {
            assert_eq!(unpacked(packed), None, "{}", packed.escape_ascii());
        }
    }
}
