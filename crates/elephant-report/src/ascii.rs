//! Text for terminals without Unicode.

use std::borrow::Cow;
use std::io::{self, Write};

use super::TextOptions;

/// Calls `write` with `out` or, if only ASCII is wanted, with a writer that converts.
pub fn in_charset(
    options: TextOptions,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if options.ascii { write(&mut Ascii(out)) } else { write(out) }
}

/// Converts text to the characters that [`in_charset`] writes.
#[must_use]
pub fn to_ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut converted = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() { converted.push(c) } else { converted.push_str(ascii(c)) }
    }
    Cow::Owned(converted)
}

/// Writes ASCII: common signs in their usual ASCII form, and `?` for every other character.
struct Ascii<'a>(&'a mut dyn Write);

impl Write for Ascii<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_ascii() {
            return self.0.write(bytes);
        }
        let mut text = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            text.push_str(&to_ascii(chunk.valid()));
            text.extend(chunk.invalid().iter().map(|_| '?'));
        }
        self.0.write_all(text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn ascii(c: char) -> &'static str {
    match c {
        '→' => "->",
        '←' => "<-",
        '×' => "x",
        '±' => "+-",
        '·' | '–' | '—' | '─' | '−' => "-",
        '³' => "3",
        '√' => "sqrt",
        '≥' => ">=",
        '≤' => "<=",
        '…' | '≈' => "~",
        'µ' => "u",
        '“' | '”' => "\"",
        '‘' | '’' => "'",
        '│' | '┆' | '┊' => "|",
        '▁'..='▏' | '■' | '●' | '•' => "#",
        '░' | '▒' | '▓' => ":",
        '²' => "2",
        _ => "?",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_have_an_ascii_form_and_letters_do_not() {
        let mut out = Vec::new();
        writeln!(Ascii(&mut out), "häuser → 3.2 GB·h ± 0.1, 53.6×").unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "h?user -> 3.2 GB-h +- 0.1, 53.6x\n");
    }
}
