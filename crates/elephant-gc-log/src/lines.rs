//! Lines of bounded length.

use std::io::{self, BufRead};

/// Longest line that is kept. G1's longest lines (ergonomics and references) have about a thousand characters.
pub(crate) const LONGEST: usize = 64 << 10;

/// Reads lines without their ends into one buffer.
pub(crate) struct Lines<R> {
    from: R,
    buffer: Vec<u8>,
}

/// A line that was read.
pub(crate) struct Line<'a> {
    /// Its bytes, at most [`LONGEST`].
    pub(crate) bytes: &'a [u8],
    /// Whether bytes were dropped.
    pub(crate) is_cut: bool,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(from: R) -> Self {
        Self { from, buffer: Vec::new() }
    }

    /// The next line, or `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        let mut is_cut = false;
        let mut has_read = false;
        loop {
            let bytes = match self.from.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if bytes.is_empty() {
                return Ok(has_read.then_some(Line { bytes: trimmed(&self.buffer), is_cut }));
            }
            has_read = true;
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(bytes.len(), |end| end + 1);
            let part = bytes.get(..end.unwrap_or(taken)).unwrap_or_default();
            let room = LONGEST.saturating_sub(self.buffer.len());
            is_cut |= part.len() > room;
            self.buffer.extend_from_slice(part.get(..room.min(part.len())).unwrap_or_default());
            self.from.consume(taken);
            if end.is_some() {
                return Ok(Some(Line { bytes: trimmed(&self.buffer), is_cut }));
            }
        }
    }
}

fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_with_either_end_or_none() {
        let mut lines = Lines::new(io::BufReader::with_capacity(3, &b"one\r\n\ntwo"[..]));
        let mut read = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            read.push(String::from_utf8(line.bytes.to_vec()).unwrap());
        }
        assert_eq!(read, ["one", "", "two"]);
    }

    #[test]
    fn a_long_line_is_cut_and_the_next_one_is_whole() {
        let mut text = vec![b'x'; LONGEST + 5];
        text.extend_from_slice(b"\nnext\n");
        let mut lines = Lines::new(&text[..]);
        let first = lines.next().unwrap().unwrap();
        assert!(first.is_cut);
        assert_eq!(first.bytes.len(), LONGEST);
        let second = lines.next().unwrap().unwrap();
        assert_eq!((second.bytes, second.is_cut), (&b"next"[..], false));
        assert!(lines.next().unwrap().is_none());
    }
}
