//! Compression codecs of Spark event logs.

use std::io::{self, BufWriter, Read, Write};

use lz4_flex::block::{compress_into, decompress_into, get_maximum_output_size};
use twox_hash::XxHash32;

/// `spark.eventLog.compression.codec`, or no compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// Uncompressed lines of JSON.
    Plain,
    /// One frame of level 1, as is Spark's default.
    Zstd,
    /// Java's `LZ4Block`, which is not the LZ4 frame format that tools read.
    Lz4,
}

impl Codec {
    /// The file name extension of a compressed log, including the dot.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Zstd => ".zstd",
            Self::Lz4 => ".lz4",
        }
    }

    /// Compresses the output of `content`.
    pub fn pack(
        self,
        out: &mut dyn Write,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        match self {
            Self::Plain => content(out),
            Self::Zstd => {
                let mut encoder = zstd::Encoder::new(out, 1)?;
                content(&mut encoder)?;
                encoder.finish().map(|_| ())
            }
            Self::Lz4 => {
                let mut blocks = BufWriter::with_capacity(BLOCK, Lz4Blocks { out });
                content(&mut blocks)?;
                blocks.into_inner().map_err(io::IntoInnerError::into_error)?.finish()
            }
        }
    }
}

/// `spark.io.compression.lz4.blockSize`.
const BLOCK: usize = 1 << (10 + LEVEL);
const MAGIC: &[u8; 8] = b"LZ4Block";
const STORED: u8 = 0x10;
const PACKED: u8 = 0x20;
/// Block size in the lower half of the token: the power of two above 2^10.
const LEVEL: u8 = 5;
const SEED: u32 = 0x9747_b28c;

/// Java keeps 28 bits of the hash.
fn checksum(bytes: &[u8]) -> u32 {
    XxHash32::oneshot(SEED, bytes) & 0x0fff_ffff
}

struct Lz4Blocks<'a> {
    out: &'a mut dyn Write,
}

impl Lz4Blocks<'_> {
    fn block(&mut self, method: u8, stored: &[u8], content: &[u8]) -> io::Result<()> {
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).map_err(io::Error::other);
        let sum = if content.is_empty() { 0 } else { checksum(content) };
        self.out.write_all(MAGIC)?;
        self.out.write_all(&[method | LEVEL])?;
        for field in [length(stored)?, length(content)?, sum] {
            self.out.write_all(&field.to_le_bytes())?;
        }
        self.out.write_all(stored)
    }

    /// Ends the file with an empty block.
    fn finish(&mut self) -> io::Result<()> {
        self.block(STORED, &[], &[])
    }
}

impl Write for Lz4Blocks<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut packed = Vec::with_capacity(get_maximum_output_size(BLOCK));
        for content in bytes.chunks(BLOCK) {
            packed.resize(get_maximum_output_size(content.len()), 0);
            let length = compress_into(content, &mut packed).map_err(io::Error::other)?;
            packed.truncate(length);
            if length < content.len() {
                self.block(PACKED, &packed, content)?;
            } else {
                self.block(STORED, content, content)?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Decompresses a file of [`Codec::Lz4`], checks every block, and returns the length: the minimum cost of
/// reading it.
pub fn unpack_lz4(file: &mut dyn Read, mut take: impl FnMut(&[u8])) -> io::Result<u64> {
    let (mut stored, mut content, mut total) = (Vec::new(), Vec::new(), 0);
    loop {
        let (mut magic, mut token) = ([0; 8], [0]);
        file.read_exact(&mut magic)?;
        file.read_exact(&mut token)?;
        let [stored_length, length, sum] = [number(file)?, number(file)?, number(file)?];
        if length == 0 {
            return Ok(total);
        }
        stored.resize(stored_length as usize, 0);
        content.resize(length as usize, 0);
        file.read_exact(&mut stored)?;
        if token == [PACKED | LEVEL] {
            decompress_into(&stored, &mut content).map_err(io::Error::other)?;
        } else {
            content.clone_from(&stored);
        }
        if &magic != MAGIC || checksum(&content) != sum {
            return Err(io::Error::other("not a block of LZ4Block"));
        }
        take(&content);
        total += u64::from(length);
    }
}

fn number(file: &mut dyn Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    file.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}
