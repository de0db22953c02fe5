//! Lines of a stream, each at most as long as the limit.

use std::io::{self, BufRead};

use super::limits;

/// A line of a log.
pub(crate) struct Line<'b> {
    /// Its bytes without the line end, cut at the limit.
    pub(crate) bytes: &'b [u8],
    /// Its length in the stream, with the line end.
    pub(crate) len: u64,
    /// Whether it was cut.
    pub(crate) cut: bool,
}

/// Reads lines.
pub(crate) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(crate) const fn new(input: R) -> Self {
        Self { input, buffer: Vec::new() }
    }

    /// The next line; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        let (mut len, mut cut) = (0_u64, false);
        loop {
            let available = match self.input.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // What was read before damage counts.
                Err(_) if len > 0 => break,
                Err(error) => return Err(error),
            };
            if available.is_empty() {
                break;
            }
            let end = memchr::memchr(b'\n', available);
            let taken = end.map_or(available.len(), |end| end + 1);
            let text = available.get(..end.unwrap_or(taken)).unwrap_or_default();
            let room = limits::LINE - self.buffer.len();
            cut |= text.len() > room;
            self.buffer.extend_from_slice(text.get(..room).unwrap_or(text));
            len += taken as u64;
            self.input.consume(taken);
            if end.is_some() {
                break;
            }
        }
        Ok((len > 0).then_some(Line { bytes: &self.buffer, len, cut }))
    }
}

/// A line as text: blanks that browsers and Livy write in place of spaces are spaces, colours are left out, and of a
/// progress bar, which returns to the start of the line, only what was written last counts.
pub(crate) fn cleaned(bytes: &[u8]) -> String {
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes);
    let shown = text.rsplit('\r').next().unwrap_or_default();
    let shown = shown.replace('\u{a0}', " ");
    let shown = if shown.contains('\u{1b}') { without_colours(&shown) } else { shown };
    // Pages that were saved as text keep their entities.
    if shown.contains("&quot;") || shown.contains("&lt;") { super::page::decoded(&shown) } else { shown }
}

/// The text without escape sequences such as `\x1b[31m`.
fn without_colours(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.strip_prefix('[').and_then(|rest| rest.find(|c: char| c.is_ascii_alphabetic()));
        shown += end.and_then(|end| part.get(end + 2..)).unwrap_or(part);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<(Vec<u8>, u64, bool)> {
        let mut lines = Lines::new(io::BufReader::with_capacity(3, text));
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            all.push((line.bytes.to_vec(), line.len, line.cut));
        }
        all
    }

    #[test]
    fn lines_have_their_length_in_the_stream() {
        let expected = [(b"ab".to_vec(), 3, false), (Vec::new(), 1, false), (b"cdef".to_vec(), 4, false)];
        assert_eq!(all(b"ab\n\ncdef"), expected);
        assert_eq!(all(b""), []);
    }

    #[test]
    fn a_long_line_is_cut_and_the_next_one_is_whole() {
        let mut text = vec![b'x'; limits::LINE + 7];
        text.extend_from_slice(b"\nnext");
        let lines = all(&text);
        assert_eq!((lines[0].0.len(), lines[0].1, lines[0].2), (limits::LINE, limits::LINE as u64 + 8, true));
        assert_eq!(lines[1], (b"next".to_vec(), 4, false));
    }

    #[test]
    fn what_a_terminal_shows_counts() {
        assert_eq!(
            cleaned("[Stage 0:>  (0 + 2) / 2]\r   \r26/11/30 WARN a: b".as_bytes()),
            "26/11/30 WARN a: b"
        );
        assert_eq!(cleaned(b"windows\r"), "windows");
        assert_eq!(cleaned("a\u{a0}b \u{1b}[31mred\u{1b}[0m".as_bytes()), "a b red");
        assert_eq!(
            cleaned("File &quot;a.py&quot;, in &lt;module&gt;".as_bytes()),
            "File \"a.py\", in <module>"
        );
    }
}
