//! Line numbers of many positions in a text: counting lines anew for each would take quadratic time.

use super::work;

/// Where the lines of a text end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    ends: Vec<usize>,
}

impl Lines {
    /// The ends of the lines of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        work::count(text.len());
        Self { ends: memchr::memchr_iter(b'\n', text.as_bytes()).collect() }
    }

    /// The line of a byte, counted from 1.
    #[must_use]
    pub fn line(&self, byte: usize) -> usize {
        self.ends.partition_point(|end| *end < byte) + 1
    }
}

/// Counts lines and columns of positions that come in order.
pub(super) struct Place<'t> {
    rest: &'t str,
    at: usize,
    line: usize,
    column: usize,
}

impl<'t> Place<'t> {
    pub(super) fn start(text: &'t str) -> Self {
        Self { rest: text, at: 0, line: 1, column: 1 }
    }

    /// Line and column of a byte that is not before an earlier one, counted from 1; columns count characters.
    pub(super) fn of(&mut self, byte: usize) -> (usize, usize) {
        let passed = self.rest.get(..byte.saturating_sub(self.at)).unwrap_or(self.rest);
        self.rest = self.rest.get(passed.len()..).unwrap_or_default();
        self.at += passed.len();
        work::count(passed.len());
        let line_start = passed.rfind('\n').map(|newline| newline + 1);
        if line_start.is_some() {
            self.line += passed.matches('\n').count();
            self.column = 1;
        }
        let within = passed.get(line_start.unwrap_or_default()..).unwrap_or_default();
        self.column += within.chars().filter(|&c| c != '\u{feff}').count();
        (self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_counted_from_one() {
        let text = "\u{feff}a\nüb\n\nc";
        let (lines, mut place) = (Lines::of(text), Place::start(text));
        let expected =
            [(0, 1, 1), (3, 1, 1), (4, 1, 2), (5, 2, 1), (7, 2, 2), (9, 3, 1), (10, 4, 1), (11, 4, 2)];
        for (byte, line, column) in expected {
            assert_eq!(lines.line(byte), line, "{byte}");
            assert_eq!(place.of(byte), (line, column), "{byte}");
        }
        assert_eq!(place.of(99), (4, 2), "beyond the end");
    }
}
