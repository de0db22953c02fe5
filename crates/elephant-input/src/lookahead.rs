//! A reader that can show its next bytes before they are read.

use std::io::{self, BufRead, ErrorKind, Read};

/// Size of the first read: enough to detect most file kinds without a second one.
const FIRST_READ: usize = 4 * 1024;
/// Size of later reads, in compressed bytes.
const REFILL: usize = 32 * 1024;
/// Size of reads for decoders of whole blocks, in compressed bytes.
const READ_AHEAD: usize = 128 * 1024;
/// Bytes given to a decoder at a time. A decoder discards the output of a failing call, so this bounds what
/// one error can lose.
const PORTION: usize = 1024;

/// See the module. An error met while looking ahead is returned after the bytes that precede it.
pub(super) struct Lookahead {
    reader: Box<dyn Read + Send>,
    /// Pending bytes are at `start..end`; the rest is free space.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
    error: Option<io::Error>,
}

impl Lookahead {
    pub(super) fn new(reader: Box<dyn Read + Send>) -> Self {
        Self { reader, buffer: Vec::new(), start: 0, end: 0, ended: false, error: None }
    }

    pub(super) fn pending(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// At least `wanted` pending bytes; fewer only at the end or before an error.
    pub(super) fn peek(&mut self, wanted: usize) -> &[u8] {
        while !self.ended && self.pending().len() < wanted {
            self.read_more((wanted - self.pending().len()).max(FIRST_READ));
        }
        self.pending()
    }

    /// As [`Self::peek`], for callers that read to the end: reads far ahead, and allocates only as data
    /// arrives, since a damaged file may announce any length.
    pub(super) fn fill(&mut self, wanted: usize) -> &[u8] {
        while !self.ended && self.pending().len() < wanted {
            self.read_more(self.pending().len().max(READ_AHEAD));
        }
        self.pending()
    }

    /// Skips bytes that were shown.
    pub(super) fn skip(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
    }

    /// Whether nothing but an error can follow the pending bytes.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Takes the error that follows the pending bytes.
    pub(super) fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    fn read_more(&mut self, room: usize) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        // Keep space that a short read left over: clearing it again for each read of a few bytes would
        // dominate the cost.
        let needed = self.end + room;
        if self.buffer.len() < needed {
            self.buffer.resize(needed, 0);
        }
        match self.reader.read(self.buffer.get_mut(self.end..needed).unwrap_or_default()) {
            Ok(count) => {
                self.ended = count == 0;
                self.end += count;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => {
                self.ended = true;
                self.error = Some(error);
            }
        }
    }
}

impl Read for Lookahead {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.start < self.end {
            let count = self.pending().read(out)?;
            self.start += count;
            return Ok(count);
        }
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if self.ended {
            return Ok(0);
        }
        // From here on, reads bypass the buffer.
        self.buffer = Vec::new();
        self.start = 0;
        self.end = 0;
        let result = self.reader.read(out);
        self.ended = match &result {
            Ok(count) => *count == 0 && !out.is_empty(),
            Err(error) => error.kind() != ErrorKind::Interrupted,
        };
        result
    }
}

impl BufRead for Lookahead {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while !self.ended && self.pending().is_empty() {
            self.read_more(REFILL);
        }
        if self.pending().is_empty()
            && let Some(error) = self.error.take()
        {
            return Err(error);
        }
        let pending = self.pending();
        Ok(pending.get(..PORTION).unwrap_or(pending))
    }

    fn consume(&mut self, count: usize) {
        self.skip(count);
    }
}
