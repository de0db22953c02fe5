//! Streams of small blocks, each compressed on its own and preceded by its length.
//!
//! The lengths come from the file and cannot be trusted: a block is decoded only once all its bytes are
//! there, and a block longer than any writer makes is an error.

use std::io::{self, ErrorKind, Read};

use super::Tail;
use crate::lookahead::Lookahead;

/// The longest decoded block that any writer makes: Java's LZ4 stream allows 32 MiB, the others less.
pub(super) const MAX_BLOCK: usize = 32 << 20;

/// What [`BlockFormat::next_block`] found.
pub(super) enum Step {
    /// A block, which is now in the output.
    Block,
    /// The end of the stream.
    End,
    /// Bytes after the end that are not compressed data, mostly padding.
    Tail,
}

/// The block framing of one codec.
pub(super) trait BlockFormat: Default + Send {
    /// Decodes the next block into `out`, replacing what is there.
    fn next_block(&mut self, input: &mut Packed, out: &mut Vec<u8>) -> io::Result<Step>;
}

/// The compressed bytes and the current offset.
pub(super) struct Packed {
    stream: Lookahead,
    offset: u64,
}

impl Packed {
    /// Whether the input is at its end.
    pub(super) fn at_end(&mut self) -> io::Result<bool> {
        if !self.stream.fill(1).is_empty() {
            return Ok(false);
        }
        self.stream.take_error().map_or(Ok(true), Err)
    }

    /// The next `len` bytes; an error if there are fewer.
    pub(super) fn require(&mut self, len: usize) -> io::Result<&[u8]> {
        if self.stream.fill(len).len() < len {
            return Err(self.stream.take_error().unwrap_or_else(|| self.truncated()));
        }
        Ok(self.stream.pending().get(..len).unwrap_or_default())
    }

    /// The next `len` bytes, or fewer at the end.
    pub(super) fn show(&mut self, len: usize) -> &[u8] {
        let shown = self.stream.fill(len);
        shown.get(..len).unwrap_or(shown)
    }

    pub(super) fn skip(&mut self, len: usize) {
        self.stream.skip(len);
        self.offset += len as u64;
    }

    /// The error for an invalid block.
    pub(super) fn damaged(&self, what: &str) -> io::Error {
        let message = format!("the block at byte {} of the compressed data is damaged: {what}", self.offset);
        io::Error::new(ErrorKind::InvalidData, message)
    }

    fn truncated(&self) -> io::Error {
        let message = format!("the compressed data is truncated in the block at byte {}", self.offset);
        io::Error::new(ErrorKind::UnexpectedEof, message)
    }
}

/// Decodes the blocks one after another.
pub(super) struct Blocks<F> {
    input: Packed,
    format: F,
    block: Vec<u8>,
    start: usize,
    ended: bool,
    tail: Tail,
}

impl<F: BlockFormat> Blocks<F> {
    pub(super) fn new(stream: Lookahead, tail: &Tail) -> Self {
        Self {
            input: Packed { stream, offset: 0 },
            format: F::default(),
            block: Vec::new(),
            start: 0,
            ended: false,
            tail: tail.clone(),
        }
    }

    fn advance(&mut self) -> io::Result<()> {
        self.start = 0;
        let step = self.format.next_block(&mut self.input, &mut self.block);
        if matches!(step, Ok(Step::Block)) {
            return Ok(());
        }
        self.ended = true;
        self.block.clear();
        if matches!(step?, Step::Tail) {
            self.tail.classify(&mut self.input.stream)?;
        }
        Ok(())
    }
}

impl<F: BlockFormat> Read for Blocks<F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.start >= self.block.len() && !self.ended {
            self.advance()?;
        }
        let count = self.block.get(self.start..).unwrap_or_default().read(out)?;
        self.start += count;
        Ok(count)
    }
}
