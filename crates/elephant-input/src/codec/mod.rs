//! Decompression. The codec is detected from the bytes; file extensions are ignored.
//!
//! A truncated or damaged stream yields every byte that can be decoded, then the decoder's error, even if
//! that error occurred while looking ahead.

mod blocks;
mod crc;
mod lz4;
mod lz4_frame;
mod lzf;
mod members;
mod snappy;
mod snappy_frame;
mod tail;
mod xz;

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::lookahead::Lookahead;
use blocks::Blocks;
use members::Members;

pub use tail::Tail;

/// Enough bytes to recognise most codecs and the start of every longer magic number.
const MAGIC_LEN: usize = 4;
/// Longest magic number of the codecs, in bytes.
pub(super) const LONG_MAGIC_LEN: usize = 10;
/// Maximum depth of nested compression. Real files need at most two layers; more is an attack.
const MAX_LAYERS: usize = 3;

/// The bytes after the first four of bzip2: those of a block, or those of the end if there is no block.
const BZIP2_BLOCK: &[u8] = b"1AY&SY";
const BZIP2_END: &[u8] = b"\x17\x72\x45\x38\x50\x90";

/// How a stream was compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Codec {
    /// Not compressed.
    Plain,
    /// gzip, with any number of members.
    Gzip,
    /// Zstandard, with any number of frames.
    Zstd,
    /// LZ4 blocks as framed by Java's `LZ4BlockOutputStream`, which Spark uses.
    Lz4,
    /// The LZ4 frame format, as written by the `lz4` command.
    Lz4Frame,
    /// Snappy blocks as framed by the Java library `snappy-java`.
    Snappy,
    /// Snappy chunks in Snappy's own framing format.
    SnappyFrame,
    /// LZF chunks.
    Lzf,
    /// bzip2, with any number of streams.
    Bzip2,
    /// xz, with any number of streams.
    Xz,
}

impl Codec {
    /// The codec of a stream with these first bytes.
    #[must_use]
    pub fn from_magic(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            [0x04, 0x22, 0x4d, 0x18, ..] => Self::Lz4Frame,
            [b'Z', b'V', 0 | 1, ..] => Self::Lzf,
            _ if head.starts_with(lz4::MAGIC) => Self::Lz4,
            _ if head.starts_with(snappy::MAGIC) => Self::Snappy,
            _ if head.starts_with(snappy_frame::MAGIC) => Self::SnappyFrame,
            _ if head.starts_with(xz::MAGIC) => Self::Xz,
            [b'B', b'Z', b'h', b'1'..=b'9', block @ ..]
                if block.starts_with(BZIP2_BLOCK) || block.starts_with(BZIP2_END) =>
            {
                Self::Bzip2
            }
            _ => Self::Plain,
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "plain",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Lz4 => "lz4",
            Self::Lz4Frame => "lz4 frame",
            Self::Snappy => "snappy",
            Self::SnappyFrame => "snappy frame",
            Self::Lzf => "lzf",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
        })
    }
}

/// The decoded bytes of a source.
pub struct Decoded {
    stream: Lookahead,
    codec: Codec,
    tail: Tail,
    plain_len: Option<u64>,
}

/// What [`Decoded::peek`] shows.
#[derive(Debug, Clone, Copy)]
pub struct Head<'a> {
    /// The next bytes of the stream.
    pub bytes: &'a [u8],
    /// Whether these are the last bytes: the stream ends or breaks after them.
    pub complete: bool,
}

/// Opens a file and decompresses it while reading.
///
/// # Errors
/// If the file cannot be opened. Later errors are returned by reading from [`Decoded`].
pub fn open(path: &Path) -> io::Result<Decoded> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let decoded = decode(Box::new(file));
    let is_plain = metadata.is_file() && decoded.codec == Codec::Plain;
    Ok(Decoded { plain_len: is_plain.then_some(metadata.len()), ..decoded })
}

/// Decodes an object of this size, as [`open`] does a file.
pub(super) fn decode_sized(reader: Box<dyn Read + Send>, size: Option<u64>) -> Decoded {
    let decoded = decode(reader);
    let is_plain = decoded.codec == Codec::Plain;
    Decoded { plain_len: size.filter(|_| is_plain), ..decoded }
}

/// Decodes a stream. Its first bytes are read immediately.
#[must_use]
pub fn decode(reader: Box<dyn Read + Send>) -> Decoded {
    let tail = Tail::default();
    let mut stream = Lookahead::new(reader);
    let mut outermost = Codec::Plain;
    for _ in 0..MAX_LAYERS {
        let codec = codec_of(&mut stream);
        let layer: Box<dyn Read + Send> = match codec {
            Codec::Plain => break,
            Codec::Gzip => Box::new(Members::<members::Gzip>::new(stream, &tail)),
            Codec::Zstd => Box::new(Members::<members::Zstd>::new(stream, &tail)),
            Codec::Lz4Frame => Box::new(Members::<lz4_frame::Lz4Frame>::new(stream, &tail)),
            Codec::Lz4 => Box::new(Blocks::<lz4::Framing>::new(stream, &tail)),
            Codec::Snappy => Box::new(Blocks::<snappy::Framing>::new(stream, &tail)),
            Codec::SnappyFrame => Box::new(Blocks::<snappy_frame::Framing>::new(stream, &tail)),
            Codec::Bzip2 => Box::new(Members::<members::Bzip2>::new(stream, &tail)),
            Codec::Xz => Box::new(Members::<xz::Xz>::new(stream, &tail)),
            Codec::Lzf => Box::new(Blocks::<lzf::Framing>::new(stream, &tail)),
        };
        stream = Lookahead::new(layer);
        if outermost == Codec::Plain {
            outermost = codec;
        }
    }
    Decoded { stream, codec: outermost, tail, plain_len: None }
}

/// Shorter beginnings of magic numbers occur by chance.
const SHORTEST: usize = 2;

/// The format whose magic number differs from the first bytes in at most one byte. A stream shorter than the magic
/// number must be its beginning. Such a file is damaged or truncated, not of another kind.
pub(super) fn nearly_magic(head: &[u8], complete: bool) -> Option<&'static str> {
    const FORMATS: [(&str, &[u8]); 9] = [
        ("gzip", b"\x1f\x8b\x08"),
        ("zstd", b"\x28\xb5\x2f\xfd"),
        ("lz4", lz4::MAGIC),
        ("lz4 frame", b"\x04\x22\x4d\x18"),
        ("snappy", snappy::MAGIC),
        ("snappy frame", snappy_frame::MAGIC),
        ("xz", xz::MAGIC),
        ("zip", b"PK\x03\x04"),
        ("zip", b"PK\x05\x06"),
    ];
    let is_near = |magic: &[u8]| {
        let Some(start) = head.get(..magic.len()) else {
            return complete && head.len() >= SHORTEST && magic.starts_with(head);
        };
        start.iter().zip(magic).filter(|(byte, expected)| byte != expected).count() <= 1
    };
    let found = FORMATS.into_iter().find(|(_, magic)| is_near(magic)).map(|(format, _)| format);
    found
        .or_else(|| is_nearly_bzip2(head, complete).then_some("bzip2"))
        .or_else(|| lzf::is_nearly(head, complete).then_some("lzf"))
}

/// As [`nearly_magic`] for bzip2, whose fourth byte is the level.
fn is_nearly_bzip2(head: &[u8], complete: bool) -> bool {
    let wrong = |head: &[u8], block: &[u8]| {
        let expected = b"BZh".iter().copied().map(|byte| byte..=byte).chain([b'1'..=b'9']);
        let expected = expected.chain(block.iter().copied().map(|byte| byte..=byte));
        head.iter().zip(expected).filter(|(byte, expected)| !expected.contains(byte)).count()
    };
    [BZIP2_BLOCK, BZIP2_END].into_iter().any(|block| match head.get(..LONG_MAGIC_LEN) {
        Some(start) => wrong(start, block) <= 1,
        None => complete && head.len() >= SHORTEST && wrong(head, block) == 0,
    })
}

/// Reads no more bytes than needed: an error of the layer below must stay pending.
fn codec_of(stream: &mut Lookahead) -> Codec {
    let head = stream.peek(MAGIC_LEN);
    let long: [&[u8]; 5] = [lz4::MAGIC, snappy::MAGIC, snappy_frame::MAGIC, xz::MAGIC, b"BZh"];
    let may_be_long = |start: &[u8; MAGIC_LEN]| {
        long.iter().any(|magic| magic.starts_with(start) || start.starts_with(magic))
    };
    let is_long = head.first_chunk().is_some_and(may_be_long);
    Codec::from_magic(if is_long { stream.peek(LONG_MAGIC_LEN) } else { head })
}

impl Decoded {
    /// The compression of the stream as stored.
    #[must_use]
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// Length of an uncompressed file when it was opened; all of it must be read.
    #[must_use]
    pub const fn plain_len(&self) -> Option<u64> {
        self.plain_len
    }

    /// Shows the next `limit` bytes, or fewer at the end, without consuming them.
    pub fn peek(&mut self, limit: usize) -> Head<'_> {
        self.stream.peek(limit);
        let pending = self.stream.pending();
        let bytes = pending.get(..limit).unwrap_or(pending);
        Head { bytes, complete: self.stream.has_ended() && bytes.len() == pending.len() }
    }

    /// Takes the error that follows the bytes shown by [`Self::peek`], if there is one.
    pub(crate) fn take_error(&mut self) -> Option<io::Error> {
        self.stream.take_error()
    }

    /// What follows the last member; valid once the stream was read to its end.
    #[must_use]
    pub fn tail(&self) -> Tail {
        self.tail.clone()
    }
}

impl Read for Decoded {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.stream.read(out)
    }
}

impl fmt::Debug for Decoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoded").field("codec", &self.codec).finish_non_exhaustive()
    }
}
