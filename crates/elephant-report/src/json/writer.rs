//! JSON that is safe to print on a terminal: characters that could move the cursor or reorder a line are escaped as
//! `\u…`, which every parser decodes.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

use super::super::wrap::{has_unsafe, is_unsafe};

/// Writes a document on many lines, with a line feed at the end.
pub(crate) fn write_pretty(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    write(value, PrettyFormatter::new(), out)
}

/// Writes a value on one line, with a line feed at the end.
pub(crate) fn write_line(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    write(value, CompactFormatter, out)
}

fn write(value: &impl Serialize, formatter: impl Formatter, out: &mut dyn Write) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(&mut *out, Escaping(formatter));
    value.serialize(&mut serializer).map_err(io::Error::from)?;
    out.write_all(b"\n")
}

struct Escaping<F>(F);

macro_rules! delegate {
    ($($name:ident($($argument:ident: $kind:ty),*);)+) => {$(
        fn $name<W: Write + ?Sized>(&mut self, out: &mut W $(, $argument: $kind)*) -> io::Result<()> {
            self.0.$name(out $(, $argument)*)
        }
    )+};
}

impl<F: Formatter> Formatter for Escaping<F> {
    delegate! {
        begin_array();
        end_array();
        begin_array_value(first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first: bool);
        end_object_key();
        begin_object_value();
        end_object_value();
    }

    fn write_string_fragment<W: Write + ?Sized>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        if !has_unsafe(fragment) {
            return out.write_all(fragment.as_bytes());
        }
        let mut escaped = String::with_capacity(fragment.len());
        for c in fragment.chars() {
            if is_unsafe(c) {
                // Writing to a string cannot fail.
                c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                    let _ = write!(escaped, "\\u{unit:04x}");
                });
            } else {
                escaped.push(c);
            }
        }
        out.write_all(escaped.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_characters_are_escaped_and_decoded() {
        let name = "a\u{9b}2J\u{7f}\u{202e}b\u{1b}\n\"ä\u{feff}";
        let mut out = Vec::new();
        write_line(&name, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "\"a\\u009b2J\\u007f\\u202eb\\u001b\\n\\\"ä\\ufeff\"\n");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), name);
    }

    #[test]
    fn documents_equal_those_of_serde_json() {
        let value = serde_json::json!({"a": [], "b": [1, {"c": null}], "d": {}, "e": "x"});
        let mut out = Vec::new();
        write_pretty(&value, &mut out).unwrap();
        let expected = serde_json::to_string_pretty(&value).unwrap() + "\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
