//! Writes lines of JSON directly to bytes.

use std::io::{self, Write};

/// The log and its current line.
pub(super) struct Log<'a> {
    out: &'a mut dyn Write,
    line: Json,
}

impl<'a> Log<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self { out, line: Json(Vec::with_capacity(1 << 17)) }
    }

    /// Writes a line: the named event, with the fields added by `fields`.
    pub(super) fn event(&mut self, name: &str, fields: impl FnOnce(&mut Json)) -> io::Result<()> {
        self.line.0.clear();
        self.line.braces(|event| {
            event.text("Event", name);
            fields(event);
        });
        self.line.0.push(b'\n');
        self.out.write_all(&self.line.0)
    }

    /// Writes an event of Spark SQL, which has the full class name.
    pub(super) fn sql_event(&mut self, name: &str, fields: impl FnOnce(&mut Json)) -> io::Result<()> {
        self.event(&format!("org.apache.spark.sql.execution.ui.{name}"), fields)
    }
}

/// JSON without spaces, as Jackson writes it. Keys must not need escaping.
pub(super) struct Json(Vec<u8>);

impl Json {
    pub(super) fn number(&mut self, key: &str, value: i64) -> &mut Self {
        self.key(key).integer(value);
        self
    }

    /// A number in quotes: Spark's form for everything except its own metrics.
    pub(super) fn quoted(&mut self, key: &str, value: i64) -> &mut Self {
        self.key(key).0.push(b'"');
        self.digits(value);
        self.0.push(b'"');
        self
    }

    /// A fractional number, already formatted.
    pub(super) fn fraction(&mut self, key: &str, value: &str) -> &mut Self {
        self.key(key).0.extend_from_slice(value.as_bytes());
        self
    }

    pub(super) fn flag(&mut self, key: &str, value: bool) -> &mut Self {
        self.key(key).0.extend_from_slice(if value { b"true" } else { b"false" });
        self
    }

    pub(super) fn text(&mut self, key: &str, value: &str) -> &mut Self {
        self.key(key).string(value);
        self
    }

    pub(super) fn object(&mut self, key: &str, fields: impl FnOnce(&mut Self)) -> &mut Self {
        self.key(key).braces(fields);
        self
    }

    pub(super) fn array(&mut self, key: &str, elements: impl FnOnce(&mut Self)) -> &mut Self {
        self.key(key).brackets(elements);
        self
    }

    pub(super) fn numbers(&mut self, key: &str, values: &[i64]) -> &mut Self {
        self.array(key, |array| values.iter().for_each(|&value| array.integer(value)))
    }

    pub(super) fn texts<K: AsRef<str>, V: AsRef<str>>(&mut self, key: &str, fields: &[(K, V)]) -> &mut Self {
        self.object(key, |object| {
            for (key, value) in fields {
                object.text(key.as_ref(), value.as_ref());
            }
        })
    }

    /// An object as an element.
    pub(super) fn braces(&mut self, fields: impl FnOnce(&mut Self)) {
        self.separate();
        self.0.push(b'{');
        fields(self);
        self.0.push(b'}');
    }

    /// An array as an element.
    pub(super) fn brackets(&mut self, elements: impl FnOnce(&mut Self)) {
        self.separate();
        self.0.push(b'[');
        elements(self);
        self.0.push(b']');
    }

    /// A number as an element.
    pub(super) fn integer(&mut self, value: i64) {
        self.separate();
        self.digits(value);
    }

    fn string(&mut self, value: &str) {
        self.separate();
        self.0.push(b'"');
        for byte in value.bytes() {
            match byte {
                b'"' | b'\\' => self.0.extend_from_slice(&[b'\\', byte]),
                b'\n' => self.0.extend_from_slice(b"\\n"),
                b'\t' => self.0.extend_from_slice(b"\\t"),
                _ => self.0.push(byte),
            }
        }
        self.0.push(b'"');
    }

    fn key(&mut self, key: &str) -> &mut Self {
        self.separate();
        self.0.push(b'"');
        self.0.extend_from_slice(key.as_bytes());
        self.0.extend_from_slice(b"\":");
        self
    }

    fn separate(&mut self) {
        if !matches!(self.0.last(), None | Some(b'{' | b'[' | b':')) {
            self.0.push(b',');
        }
    }

    /// By hand, because a log has hundreds of numbers per task and `write!` takes several times as long.
    fn digits(&mut self, value: i64) {
        if value < 0 {
            self.0.push(b'-');
        }
        let mut digits = [0; 20];
        let mut rest = value.unsigned_abs();
        let mut first = digits.len();
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
            first -= 1;
            if rest == 0 {
                break;
            }
        }
        self.0.extend(digits.iter().skip(first));
    }
}
