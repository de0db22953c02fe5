//! A reader whose next bytes can be looked at before they are read.

use std::io::{self, BufRead, ErrorKind, Read};

/// The first read of a file: enough to tell most files apart without a second one.
const FIRST_READ: usize = 4 * 1024;
/// Compressed bytes asked for at a time afterwards.
const REFILL: usize = 32 * 1024;
/// Compressed bytes asked for at a time by decoders of whole blocks.
const READ_AHEAD: usize = 128 * 1024;
/// Bytes shown to a decoder at a time. Decoders drop what they made in the very call that fails, so this is
/// the most that one error can take with it.
const PORTION: usize = 1024;

/// See the module. An error met while looking ahead waits until the bytes before it were read.
pub(super) struct Lookahead {
    reader: Box<dyn Read + Send>,
    /// Unread bytes from `start` to `end`; what follows is room for more.
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

    pub(super) fn unread(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// At least `wanted` unread bytes, fewer only at the end or in front of an error.
    pub(super) fn peek(&mut self, wanted: usize) -> &[u8] {
        while !self.ended && self.unread().len() < wanted {
            self.read_more((wanted - self.unread().len()).max(FIRST_READ));
        }
        self.unread()
    }

    /// As [`Self::peek`], for those who read on to the end: reads far ahead, and makes room for what is wanted
    /// only as fast as it comes, since a damaged file may announce any length.
    pub(super) fn fill(&mut self, wanted: usize) -> &[u8] {
        while !self.ended && self.unread().len() < wanted {
            self.read_more(self.unread().len().max(READ_AHEAD));
        }
        self.unread()
    }

    /// Passes over bytes that were shown.
    pub(super) fn skip(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
    }

    /// Whether nothing follows the unread bytes but perhaps an error.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Takes the error that follows the unread bytes.
    pub(super) fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    fn read_more(&mut self, room: usize) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        // Room that a read left over is kept: filling it with zeros for each read of a few bytes would take longer than they.
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
            let count = self.unread().read(out)?;
            self.start += count;
            return Ok(count);
        }
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if self.ended {
            return Ok(0);
        }
        // From here on the bytes pass straight through.
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
        while !self.ended && self.unread().is_empty() {
            self.read_more(REFILL);
        }
        if self.unread().is_empty()
            && let Some(error) = self.error.take()
        {
            return Err(error);
        }
        let unread = self.unread();
        Ok(unread.get(..PORTION).unwrap_or(unread))
    }

    fn consume(&mut self, count: usize) {
        self.skip(count);
    }
}
