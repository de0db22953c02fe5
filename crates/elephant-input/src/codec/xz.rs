//! The xz format: streams of blocks, each an LZMA2 stream with a checksum, and an index at the end.
//!
//! Our own reader around the library's LZMA2 decoder: its xz reader would add eight crates for a checksum that is hardly
//! ever used, and does not tell which part is damaged.

mod block;
mod input;

use std::io::{self, Read};

use super::Codec;
use super::members::Member;
use crate::lookahead::Lookahead;
use block::{Block, BlockHeader, Check};
use input::Input;

/// The first bytes of a stream.
pub(super) const MAGIC: &[u8; 6] = b"\xfd7zXZ\0";
const FOOTER_MAGIC: &[u8; 2] = b"YZ";

/// One stream. Padding and further streams are left to the caller.
pub(super) struct Xz {
    state: State,
    check: Check,
    /// Number of blocks, which the index repeats.
    blocks: u64,
}

enum State {
    Start(Input),
    Between(Input),
    Block(Box<Block>),
    End(Input),
    /// An error was returned.
    Broken,
}

impl Xz {
    /// Moves on from a state without data; `false` at the end.
    fn advance(&mut self) -> io::Result<bool> {
        match std::mem::replace(&mut self.state, State::Broken) {
            State::Start(mut input) => {
                self.check = stream_header(&mut input)?;
                self.state = State::Between(input);
            }
            State::Between(mut input) => {
                if let Some(header) = BlockHeader::read(&mut input)? {
                    self.blocks += 1;
                    self.state = State::Block(Box::new(Block::new(input, &header, self.check)));
                } else {
                    index(&mut input, self.blocks)?;
                    footer(&mut input, self.check)?;
                    self.state = State::End(input);
                }
            }
            State::Block(block) => self.state = State::Between(block.finish()?),
            State::End(input) => {
                self.state = State::End(input);
                return Ok(false);
            }
            State::Broken => return Ok(false),
        }
        Ok(true)
    }
}

impl Read for Xz {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            if let State::Block(block) = &mut self.state {
                let count = block.read(out)?;
                if count > 0 {
                    return Ok(count);
                }
            }
            if !self.advance()? {
                return Ok(0);
            }
        }
    }
}

impl Member for Xz {
    const CODEC: Codec = Codec::Xz;

    fn start(input: Lookahead) -> io::Result<Self> {
        Ok(Self { state: State::Start(Input::new(input)), check: Check::None, blocks: 0 })
    }

    fn into_input(self) -> Option<Lookahead> {
        match self.state {
            State::Start(input) | State::Between(input) | State::End(input) => Some(input.into_inner()),
            State::Block(_) | State::Broken => None,
        }
    }
}

fn stream_header(input: &mut Input) -> io::Result<Check> {
    if input.array()? != *MAGIC {
        return Err(damaged("a stream does not start with the bytes of an xz stream"));
    }
    input.start_sum();
    let flags: [u8; 2] = input.array()?;
    input.expect_sum("the stream's header")?;
    Check::from_flags(flags)
}

/// Reads the index after its first byte, which is 0 where a block has the length of its header.
fn index(input: &mut Input, blocks: u64) -> io::Result<()> {
    let count = input.number()?;
    if count != blocks {
        return Err(damaged("its index lists a different number of blocks"));
    }
    for _ in 0..count {
        let (_stored, _decoded) = (input.number()?, input.number()?);
    }
    while !input.summed().is_multiple_of(4) {
        if input.byte()? != 0 {
            return Err(damaged("its index is not padded with zeros"));
        }
    }
    input.expect_sum("its index")
}

fn footer(input: &mut Input, check: Check) -> io::Result<()> {
    let sum = u32::from_le_bytes(input.array()?);
    let (index_len, flags): ([u8; 4], [u8; 2]) = (input.array()?, input.array()?);
    let mut crc = flate2::Crc::new();
    crc.update(&index_len);
    crc.update(&flags);
    if crc.sum() != sum || input.array()? != *FOOTER_MAGIC {
        return Err(damaged("the end of the stream is damaged"));
    }
    if Check::from_flags(flags)? != check {
        return Err(damaged("the start and the end of the stream name different checksums"));
    }
    Ok(())
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn unsupported(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, what)
}

#[cfg(test)]
mod tests;
