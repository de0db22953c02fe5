//! One target per codec.

use std::io::{Cursor, Read};

use elephant_input::codec::{self, Codec, Decoded, Tail};

use super::repair;
use super::same::{Drained, Drip, drain};

const GZIP: &[u8] = b"\x1f\x8b\x08";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
const BZIP2: &[u8] = b"BZh11AY&SY";
const XZ: &[u8] = b"\xfd7zXZ\0";
const LZ4_FRAME: &[u8] = b"\x04\x22\x4d\x18";

/// A shorter stream may be the start of a compressed one, and decoding changes once there is more.
const LONGEST_MAGIC: usize = 10;

pub fn gzip(bytes: &[u8]) {
    codec(GZIP, Codec::Gzip, bytes);
}

pub fn zstd(bytes: &[u8]) {
    codec(ZSTD, Codec::Zstd, bytes);
}

pub fn lz4_frame(bytes: &[u8]) {
    codec(LZ4_FRAME, Codec::Lz4Frame, bytes);
}

pub fn lz4(bytes: &[u8]) {
    codec(b"LZ4Block", Codec::Lz4, bytes);
    codec(b"LZ4Block", Codec::Lz4, &repair::lz4_blocks(bytes));
}

pub fn snappy(bytes: &[u8]) {
    codec(b"\x82SNAPPY\0", Codec::Snappy, bytes);
}

pub fn snappy_frame(bytes: &[u8]) {
    codec(b"\xff\x06\0\0sNaPpY", Codec::SnappyFrame, bytes);
}

pub fn bzip2(bytes: &[u8]) {
    codec(BZIP2, Codec::Bzip2, bytes);
}

pub fn xz(bytes: &[u8]) {
    codec(XZ, Codec::Xz, bytes);
}

pub fn lzf(bytes: &[u8]) {
    let mut bytes = bytes.to_vec();
    // This codec is also recognised by the type of the first chunk.
    if let Some(kind) = bytes.get_mut(2) {
        *kind &= 1;
    }
    codec(b"ZV", Codec::Lzf, &bytes);
}

/// Decodes bytes after setting their magic number. Reading in other portions must give the same bytes, and a
/// truncated stream must give a prefix of them.
fn codec(magic: &[u8], codec: Codec, bytes: &[u8]) {
    let mut packed = bytes.to_vec();
    packed.resize(packed.len().max(magic.len() + 1), 0);
    packed[..magic.len()].copy_from_slice(magic);

    let decoded = codec::decode(Box::new(Cursor::new(packed.clone())));
    assert_eq!(decoded.codec(), codec);
    let whole = drain_all(decoded, 1 << 16);
    let in_small_portions = drain_all(codec::decode(Box::new(Drip::new(&packed))), 7);
    assert_agree("read in other portions", &packed, &whole, &in_small_portions);

    let mut peeked = codec::decode(Box::new(Cursor::new(packed.clone())));
    let head = peeked.peek(100).bytes.to_vec();
    let whole_is_damaged = whole.0.error.is_some() && uses_library(&packed);
    assert!(
        is_prefix(&head, &whole.0.bytes) || (whole_is_damaged && is_prefix(&whole.0.bytes, &head)),
        "peeking shows different bytes"
    );
    let rest = drain_all(peeked, 1 << 10);
    assert_agree("peeked first", &packed, &whole, &rest);
    let (whole, _) = whole;

    let sum =
        bytes.iter().fold(bytes.len(), |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(*byte)));
    let cut = sum % (packed.len() + 1);
    if cut < magic.len() {
        return;
    }
    let cut = drain(codec::decode(Box::new(Cursor::new(packed.clone()).take(cut as u64))), 1 << 16);
    let is_settled = cut.bytes.len() >= LONGEST_MAGIC;
    let damage_hides_more =
        whole.error.is_some() && uses_library(&packed) && is_prefix(&whole.bytes, &cut.bytes);
    assert!(
        !is_settled || is_prefix(&cut.bytes, &whole.bytes) || damage_hides_more,
        "a truncated stream gives different bytes"
    );
}

fn drain_all(decoded: Decoded, portion: usize) -> (Drained, Tail) {
    let tail = decoded.tail();
    (drain(decoded, portion), tail)
}

/// Compares two ways to read the same stream. The bytes that a library decodes before it finds damage depend
/// on the requested portions, so with libraries, also inside blocks, the number of bytes before an error may
/// differ. If a library has decoded a complete compressed stream and data after it, it may not reach damage
/// further on.
fn assert_agree(what: &str, packed: &[u8], (a, a_tail): &(Drained, Tail), (b, b_tail): &(Drained, Tail)) {
    assert!(is_prefix(&a.bytes, &b.bytes) || is_prefix(&b.bytes, &a.bytes), "{what}: different bytes");
    if a.stopped || b.stopped {
        return;
    }
    let (a_ends, b_ends) =
        (a.error.as_ref().map(ToString::to_string), b.error.as_ref().map(ToString::to_string));
    if a_ends.is_some() != b_ends.is_some() {
        let may_miss_damage = uses_library(packed) && (a_tail.is_there() || b_tail.is_there());
        // zstd compares a frame's length with its header only if it has the whole frame at once.
        let is_length_mismatch =
            [&a_ends, &b_ends].into_iter().flatten().any(|error| error.contains("corruption"));
        assert!(may_miss_damage || is_length_mismatch, "{what}: {a_ends:?}, {b_ends:?}");
        return;
    }
    if !(uses_library(packed) && a_ends.is_some()) {
        assert_eq!(a.bytes.len(), b.bytes.len(), "{what}: different length, {a_ends:?}");
    }
}

/// Whether a stream that a library decodes is somewhere in the bytes.
fn uses_library(packed: &[u8]) -> bool {
    [GZIP, ZSTD, LZ4_FRAME, b"BZh", XZ]
        .iter()
        .any(|magic| packed.windows(magic.len()).any(|bytes| bytes == *magic))
}

fn is_prefix(prefix: &[u8], whole: &[u8]) -> bool {
    whole.starts_with(prefix)
}
