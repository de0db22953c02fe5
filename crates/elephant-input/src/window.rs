//! A sliding window over a byte stream: contiguous slices for parsers, in bounded memory.

use std::io::{self, ErrorKind, Read};

use memchr::memchr;

/// Bytes read at a time.
const READ_SIZE: usize = 256 * 1024;

/// A reader that exposes its pending bytes as one slice.
pub struct ByteWindow<R> {
    reader: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    offset: u64,
    exhausted: bool,
    /// Number of bytes still to come, if known.
    expected: Option<usize>,
}

impl<R: Read> ByteWindow<R> {
    /// A window at the start of `reader`.
    pub fn new(reader: R) -> Self {
        Self::expecting(None, reader)
    }

    /// A window at the start of a reader whose length may be known: a short one gets a smaller buffer.
    pub fn expecting(len: Option<u64>, reader: R) -> Self {
        let expected = len.and_then(|len| usize::try_from(len).ok());
        Self { reader, buffer: Vec::new(), start: 0, end: 0, offset: 0, exhausted: false, expected }
    }

    /// The bytes that were read but not yet consumed.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Offset of the window from the start of the (decoded) stream, in bytes.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Moves the start of the window forward by `count` bytes, at most to its end.
    pub fn consume(&mut self, count: usize) {
        let count = count.min(self.end - self.start);
        self.start += count;
        self.offset += count as u64;
    }

    /// Reads more bytes into the window; `false` at the end of the stream.
    ///
    /// # Errors
    /// The reader's error, once; afterwards the stream counts as ended.
    pub fn extend(&mut self) -> io::Result<bool> {
        if self.exhausted {
            return Ok(false);
        }
        self.make_room();
        loop {
            let free = self.buffer.get_mut(self.end..).unwrap_or_default();
            match self.reader.read(free) {
                Ok(0) => {
                    self.exhausted = true;
                    return Ok(false);
                }
                Ok(count) => {
                    self.end += count;
                    self.expected = self.expected.and_then(|expected| expected.checked_sub(count));
                    return Ok(true);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.exhausted = true;
                    return Err(error);
                }
            }
        }
    }

    /// All pending bytes up to the end of the stream or the error that ends it.
    pub fn into_rest(mut self) -> (Vec<u8>, Option<io::Error>) {
        let failure = loop {
            match self.extend() {
                Ok(true) => {}
                Ok(false) => break None,
                Err(error) => break Some(error),
            }
        };
        let Self { mut buffer, start, end, .. } = self;
        buffer.truncate(end);
        buffer.drain(..start);
        (buffer, failure)
    }

    /// Moves the pending bytes to the front; grows the buffer only if they fill more than half of it.
    fn make_room(&mut self) {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        } else if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        // One byte more than expected, to detect the end of the stream.
        let wanted = self.expected.map_or(READ_SIZE, |expected| READ_SIZE.min(expected.saturating_add(1)));
        let is_small = self.buffer.len() < READ_SIZE || self.end > self.buffer.len() / 2;
        if is_small && self.buffer.len() - self.end < wanted {
            let grown = (self.buffer.len() * 2).max(self.end + wanted);
            self.buffer.resize(grown, 0);
        }
    }
}

/// A line of a text stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Counted from 1.
    pub number: u64,
    /// Where it begins: a byte of the stream, counted from 0.
    pub offset: u64,
    /// Without its line feed.
    pub bytes: &'a [u8],
    /// Whether the line ends with a line feed; the last line of a stream may not.
    pub terminated: bool,
}

/// What [`LineReader::next_line`] found.
#[derive(Debug)]
pub enum NextLine<'a> {
    /// A line.
    Line(Line<'a>),
    /// A line longer than the limit; it was skipped.
    TooLong {
        /// Its number, counted from 1.
        number: u64,
    },
    /// The end of the stream.
    End,
}

/// Splits a stream into lines without copying them.
pub struct LineReader<R> {
    window: ByteWindow<R>,
    consumed_line: usize,
    number: u64,
    offset: u64,
    max_line_len: usize,
}

impl<R: Read> LineReader<R> {
    /// Reads the remaining lines of `window`; lines longer than `max_line_len` bytes are skipped.
    pub fn new(window: ByteWindow<R>, max_line_len: usize) -> Self {
        Self { window, consumed_line: 0, number: 0, offset: 0, max_line_len }
    }

    /// The next line.
    ///
    /// # Errors
    /// The reader's error. The lines before it are returned first.
    pub fn next_line(&mut self) -> io::Result<NextLine<'_>> {
        self.window.consume(self.consumed_line);
        self.offset += self.consumed_line as u64;
        self.consumed_line = 0;
        self.number += 1;
        let mut searched = 0;
        let len = loop {
            let bytes = self.window.bytes();
            if let Some(at) = memchr(b'\n', bytes.get(searched..).unwrap_or_default()) {
                break Some(searched + at);
            }
            searched = bytes.len();
            if searched > self.max_line_len {
                return self.skip_long_line();
            }
            if !self.window.extend()? {
                break None;
            }
        };
        let (len, terminated) = match len {
            Some(len) => (len, true),
            None if searched == 0 => return Ok(NextLine::End),
            None => (searched, false),
        };
        self.consumed_line = len + usize::from(terminated);
        if len > self.max_line_len {
            return Ok(NextLine::TooLong { number: self.number });
        }
        let bytes = self.window.bytes().get(..len).unwrap_or_default();
        Ok(NextLine::Line(Line { number: self.number, offset: self.offset, bytes, terminated }))
    }

    fn skip_long_line(&mut self) -> io::Result<NextLine<'_>> {
        loop {
            if let Some(at) = memchr(b'\n', self.window.bytes()) {
                self.window.consume(at + 1);
                self.offset += at as u64 + 1;
                break;
            }
            let passed = self.window.bytes().len();
            self.window.consume(passed);
            self.offset += passed as u64;
            if !self.window.extend()? {
                break;
            }
        }
        Ok(NextLine::TooLong { number: self.number })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Yields its bytes in portions of one size, so that lines straddle reads.
    struct Drip<'a>(&'a [u8], usize);

    impl Read for Drip<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(out.len());
            out[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn read_all(text: &[u8], portion: usize, limit: usize) -> Vec<Option<Vec<u8>>> {
        read_expecting(None, text, portion, limit)
    }

    fn read_expecting(len: Option<u64>, text: &[u8], portion: usize, limit: usize) -> Vec<Option<Vec<u8>>> {
        let mut reader = LineReader::new(ByteWindow::expecting(len, Drip(text, portion)), limit);
        let mut lines = Vec::new();
        loop {
            match reader.next_line().unwrap() {
                NextLine::Line(line) => lines.push(Some(line.bytes.to_vec())),
                NextLine::TooLong { .. } => lines.push(None),
                NextLine::End => return lines,
            }
        }
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_read_sizes(
            text in prop::collection::vec(prop_oneof![3 => any::<u8>(), 1 => Just(b'\n')], 0..300),
            portion in 1..40usize, len in prop_oneof![0..400u64, Just(u64::MAX)],
        ) {
            prop_assert_eq!(read_expecting(Some(len), &text, portion, 1000), read_all(&text, 1000, 1000));
            let mut expected: Vec<_> = text.split(|&b| b == b'\n').map(|l| Some(l.to_vec())).collect();
            if expected.last() == Some(&Some(Vec::new())) {
                expected.pop();
            }
            prop_assert_eq!(read_all(&text, portion, 1000), expected);
        }
    }

    #[test]
    fn a_short_file_takes_no_more_memory_than_it_has_bytes() {
        let text = vec![b'x'; 3 * READ_SIZE];
        for (len, most) in [(0, 1), (100, 101), (READ_SIZE - 1, READ_SIZE), (text.len(), 4 * READ_SIZE)] {
            let mut window = ByteWindow::expecting(Some(len as u64), Drip(&text[..len], 5000));
            while window.extend().unwrap() {}
            assert_eq!(window.bytes(), &text[..len]);
            assert!(window.buffer.len() <= most, "{len}: {}", window.buffer.len());
        }
    }

    #[test]
    fn a_line_beyond_the_limit_is_skipped_and_the_next_one_read() {
        let text = [b"ab\n".as_slice(), &[b'x'; 5000], b"\ncd"].concat();
        assert_eq!(read_all(&text, 7, 100), [Some(b"ab".to_vec()), None, Some(b"cd".to_vec())]);
    }
}
