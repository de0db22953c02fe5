//! A target for each codec.

use std::io::{Cursor, Read};

use elephant_rs::input::codec::{self, Codec, Decoded, Tail};

use super::mend;
use super::same::{Drained, Drip, drain};

const GZIP: &[u8] = b"\x1f\x8b\x08";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
const LZ4_FRAME: &[u8] = b"\x04\x22\x4d\x18";

/// Streams shorter than this may be the beginning of a compressed one, which shows once there is more.
const LONGEST_MAGIC: usize = 8;

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
    codec(b"LZ4Block", Codec::Lz4, &mend::lz4_blocks(bytes));
}

pub fn snappy(bytes: &[u8]) {
    codec(b"\x82SNAPPY\0", Codec::Snappy, bytes);
}

pub fn lzf(bytes: &[u8]) {
    let mut bytes = bytes.to_vec();
    // The type of the first chunk is part of what tells this codec.
    if let Some(kind) = bytes.get_mut(2) {
        *kind &= 1;
    }
    codec(b"ZV", Codec::Lzf, &bytes);
}

/// Decodes bytes that begin with a magic number, whatever they began with. Other portions must give the same, and a stream
/// that is cut the beginning of it.
fn codec(magic: &[u8], codec: Codec, bytes: &[u8]) {
    let mut packed = bytes.to_vec();
    packed.resize(packed.len().max(magic.len() + 1), 0);
    packed[..magic.len()].copy_from_slice(magic);

    let decoded = codec::decode(Box::new(Cursor::new(packed.clone())));
    assert_eq!(decoded.codec(), codec);
    let whole = drain_all(decoded, 1 << 16);
    let dripped = drain_all(codec::decode(Box::new(Drip::new(&packed))), 7);
    assert_agree("read in other portions", &packed, &whole, &dripped);

    let mut peeked = codec::decode(Box::new(Cursor::new(packed.clone())));
    let head = peeked.peek(100).bytes.to_vec();
    let whole_is_damaged = whole.0.error.is_some() && is_by_library(&packed);
    assert!(
        is_start(&head, &whole.0.bytes) || (whole_is_damaged && is_start(&whole.0.bytes, &head)),
        "looking ahead shows other bytes"
    );
    let rest = drain_all(peeked, 1 << 10);
    assert_agree("looked at first", &packed, &whole, &rest);
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
        whole.error.is_some() && is_by_library(&packed) && is_start(&whole.bytes, &cut.bytes);
    assert!(
        !is_settled || is_start(&cut.bytes, &whole.bytes) || damage_hides_more,
        "a cut stream gives other bytes"
    );
}

fn drain_all(decoded: Decoded, portion: usize) -> (Drained, Tail) {
    let tail = decoded.tail();
    (drain(decoded, portion), tail)
}

/// Two ways to read the same. What a library has decoded when it meets damage depends on the portions that it was asked for,
/// so bytes in front of an error may differ in number there, also where its stream lies within blocks. Where it has decoded
/// a whole compressed stream and something behind it, the damage further on is not met.
fn assert_agree(what: &str, packed: &[u8], (a, a_tail): &(Drained, Tail), (b, b_tail): &(Drained, Tail)) {
    assert!(is_start(&a.bytes, &b.bytes) || is_start(&b.bytes, &a.bytes), "{what}: other bytes");
    if a.stopped || b.stopped {
        return;
    }
    let (a_ends, b_ends) =
        (a.error.as_ref().map(ToString::to_string), b.error.as_ref().map(ToString::to_string));
    if a_ends.is_some() != b_ends.is_some() {
        let is_met_once = is_by_library(packed) && (a_tail.is_there() || b_tail.is_there());
        // zstd compares a frame's length with what its header says only where it has all of the frame at once.
        let is_looked_for_once =
            [&a_ends, &b_ends].into_iter().flatten().any(|error| error.contains("corruption"));
        assert!(is_met_once || is_looked_for_once, "{what}: {a_ends:?}, {b_ends:?}");
        return;
    }
    if !(is_by_library(packed) && a_ends.is_some()) {
        assert_eq!(a.bytes.len(), b.bytes.len(), "{what}: more bytes, {a_ends:?}");
    }
}

/// Whether a stream that a library decodes lies somewhere within.
fn is_by_library(packed: &[u8]) -> bool {
    [GZIP, ZSTD, LZ4_FRAME].iter().any(|magic| packed.windows(magic.len()).any(|bytes| bytes == *magic))
}

fn is_start(start: &[u8], whole: &[u8]) -> bool {
    whole.starts_with(start)
}
