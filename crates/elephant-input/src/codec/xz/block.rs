//! One block of an xz stream: a header, LZMA2 data, padding, and a checksum of the decoded bytes.

use std::io::{self, Read};

use flate2::Crc;
use lzma_rust2::Lzma2Reader;

use super::input::{Input, truncated};
use super::{damaged, unsupported};
use crate::codec::crc::crc64;

/// The filter for LZMA2. The others prepare machine code and sound, which no log contains.
const LZMA2: u64 = 0x21;
const FILTERS: u8 = 0x03;
const RESERVED: u8 = 0x3c;
const HAS_STORED_LEN: u8 = 0x40;
const HAS_LEN: u8 = 0x80;
/// The largest dictionary of xz's presets. It takes memory only as far as the block has decoded bytes.
const MAX_DICTIONARY: u64 = 64 << 20;
/// Bytes decoded at a time, because a failing call of the library discards what it has decoded.
const PORTION: usize = 4 << 10;

/// The checksum of decoded blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    None,
    Crc32,
    Crc64,
}

impl Check {
    pub(super) fn from_flags(flags: [u8; 2]) -> io::Result<Self> {
        match flags {
            [0, 0] => Ok(Self::None),
            [0, 1] => Ok(Self::Crc32),
            [0, 4] => Ok(Self::Crc64),
            [0, 10] => {
                Err(unsupported("its checksum, SHA-256, is not supported; compress it with --check=crc64"))
            }
            _ => Err(unsupported("its checksum is of an unknown type")),
        }
    }
}

/// The parts of a header that are needed for reading.
pub(super) struct BlockHeader {
    dictionary: u32,
}

impl BlockHeader {
    /// The next block's header; `None` if the index follows, whose first byte was then read.
    pub(super) fn read(input: &mut Input) -> io::Result<Option<Self>> {
        input.start_sum();
        let len = match input.byte()? {
            0 => return Ok(None),
            quarters => u64::from(quarters) * 4,
        };
        let flags = input.byte()?;
        if flags & (FILTERS | RESERVED) != 0 {
            return Err(unsupported("it uses filters for data other than text"));
        }
        for flag in [HAS_STORED_LEN, HAS_LEN] {
            if flags & flag != 0 {
                input.number()?;
            }
        }
        let (filter, properties_len, dictionary) = (input.number()?, input.number()?, input.byte()?);
        while input.summed() < len {
            if input.byte()? != 0 {
                return Err(damaged("the header of a block is damaged"));
            }
        }
        if input.summed() != len {
            return Err(damaged("the header of a block is longer than its stated length"));
        }
        input.expect_sum("the header of a block")?;
        if (filter, properties_len) != (LZMA2, 1) {
            return Err(unsupported("it uses filters for data other than text"));
        }
        let dictionary = dictionary_len(dictionary).ok_or_else(|| {
            unsupported(
                "it needs a dictionary of more than 64 MiB; compress it with one of the presets of xz",
            )
        })?;
        Ok(Some(Self { dictionary }))
    }
}

/// Decodes a size: a power of two, or one and a half times a power of two. `None` above the maximum.
fn dictionary_len(encoded: u8) -> Option<u32> {
    let len = (2 | u64::from(encoded & 1)).checked_shl(u32::from(encoded / 2) + 11)?;
    u32::try_from(len).ok().filter(|_| encoded <= 40 && len <= MAX_DICTIONARY)
}

/// A block that is being decoded.
pub(super) struct Block {
    data: Lzma2Reader<Input>,
    check: Check,
    crc32: Crc,
    crc64: u64,
}

impl Block {
    pub(super) fn new(mut input: Input, header: &BlockHeader, check: Check) -> Self {
        input.start_sum();
        let data = Lzma2Reader::new(input, header.dictionary, None);
        Self { data, check, crc32: Crc::new(), crc64: 0 }
    }

    /// Reads the padding and the checksum after the data.
    pub(super) fn finish(self) -> io::Result<Input> {
        let mut input = self.data.into_inner();
        while !input.summed().is_multiple_of(4) {
            if input.byte()? != 0 {
                return Err(damaged("a block is not padded with zeros"));
            }
        }
        let matches = match self.check {
            Check::None => true,
            Check::Crc32 => u32::from_le_bytes(input.array()?) == self.crc32.sum(),
            Check::Crc64 => u64::from_le_bytes(input.array()?) == self.crc64,
        };
        if matches { Ok(input) } else { Err(damaged("the checksum of a block does not match")) }
    }
}

impl Read for Block {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = out.len().min(PORTION);
        let out = out.get_mut(..len).unwrap_or_default();
        let count = self.data.read(out).map_err(truncated)?;
        let decoded = out.get(..count).unwrap_or_default();
        match self.check {
            Check::None => {}
            Check::Crc32 => self.crc32.update(decoded),
            Check::Crc64 => self.crc64 = crc64(self.crc64, decoded),
        }
        Ok(count)
    }
}
