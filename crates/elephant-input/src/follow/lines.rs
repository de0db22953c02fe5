//! Joins pieces of a stream to whole lines.

use memchr::{memchr, memrchr};

/// The line that has begun.
pub(super) struct Lines {
    begun: Vec<u8>,
    most: usize,
    /// Whether the line that has begun is longer than `most`; the rest of it is not kept.
    too_long: bool,
}

impl Lines {
    /// If a line spans pieces and is longer than `most` bytes, only its first `most` + 1 bytes are passed on.
    pub(super) fn new(most: usize) -> Self {
        Self { begun: Vec::new(), most, too_long: false }
    }

    /// Adds a piece, and passes on the lines that are whole now.
    pub(super) fn add(&mut self, piece: &[u8], take: &mut impl FnMut(&[u8])) {
        let mut rest = piece;
        if !self.begun.is_empty() {
            let Some(end) = memchr(b'\n', rest) else { return self.keep(rest) };
            let (first, others) = rest.split_at(end + 1);
            self.keep(first);
            if self.too_long {
                self.begun.push(b'\n');
            }
            take(&self.begun);
            self.begun.clear();
            self.too_long = false;
            rest = others;
        }
        let whole = memrchr(b'\n', rest).map_or(0, |end| end + 1);
        let (lines, begun) = rest.split_at(whole);
        if !lines.is_empty() {
            take(lines);
        }
        self.keep(begun);
    }

    /// Passes on a last line without its line feed.
    pub(super) fn end(&mut self, mut take: impl FnMut(&[u8])) {
        if !self.begun.is_empty() {
            take(&self.begun);
            self.begun.clear();
        }
    }

    fn keep(&mut self, piece: &[u8]) {
        // Keep one byte beyond the limit, so that the line reader sees that the line is too long.
        let room = self.most.saturating_add(1).saturating_sub(self.begun.len());
        self.too_long |= piece.len() > room;
        self.begun.extend_from_slice(piece.get(..room).unwrap_or(piece));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&str], most: usize) -> Vec<String> {
        let mut lines = Lines::new(most);
        let mut taken = String::new();
        let mut take = |bytes: &[u8]| taken.push_str(std::str::from_utf8(bytes).unwrap());
        for piece in pieces {
            lines.add(piece.as_bytes(), &mut take);
        }
        lines.end(&mut take);
        taken.lines().map(str::to_owned).collect()
    }

    #[test]
    fn pieces_make_the_same_lines_wherever_they_are_cut() {
        let text = "one\ntwo\n\nthree";
        let expected: Vec<&str> = text.lines().collect();
        for first in 0..=text.len() {
            for second in first..=text.len() {
                let pieces = [&text[..first], &text[first..second], &text[second..]];
                assert_eq!(lines(&pieces, 100), expected, "{first} {second}");
            }
        }
    }

    #[test]
    fn a_line_that_is_too_long_takes_no_more_memory_than_it_may() {
        assert_eq!(lines(&["one\ntwotwo", "two", "two\nthree\n"], 4), ["one", "twotw", "three"]);
    }
}
