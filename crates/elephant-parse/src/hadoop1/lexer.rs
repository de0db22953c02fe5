//! The grammar of one record: `Type KEY="value" KEY2="value2" .`

use std::borrow::Cow;

use memchr::{memchr, memchr2};
use nom::bytes::complete::take_while;
use nom::character::complete::{anychar, char};
use nom::combinator::{all_consuming, fail, opt};
use nom::multi::fold_many0;
use nom::sequence::{delimited, preceded, separated_pair};
use nom::{IResult, Parser};

/// The record types of `org.apache.hadoop.mapred.JobHistory.RecordTypes`.
pub(super) const KNOWN_TYPES: [&str; 6] =
    ["Jobtracker", "Job", "Task", "MapAttempt", "ReduceAttempt", "Meta"];

/// Initial capacity for an unescaped value, if it does not end sooner; enough for host names. Keeps lines
/// with many escapes from allocating a multiple of their size.
const FIRST_ROOM: usize = 256;

/// How values are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Hadoop 0.18 and older: unescaped; a record ends with its line.
    Plain,
    /// `Meta VERSION="1"`: a backslash escapes the next character; a record ends with ` .`
    Escaped,
}

impl Dialect {
    /// Guesses the dialect from the first line of a record.
    pub(super) fn guess(line: &[u8]) -> Self {
        let line = line.trim_ascii_end();
        if line.ends_with(b"\"") { Self::Plain } else { Self::Escaped }
    }
}

/// One record of a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record<'a> {
    /// The record's type, such as `MapAttempt`.
    pub kind: &'a str,
    /// Keys and values in the order of the record, values unescaped.
    pub fields: Vec<(&'a str, Cow<'a, str>)>,
    /// Whether the record ends with its closing dot.
    pub closed: bool,
}

impl Record<'_> {
    /// Whether two records have run together: Hadoop writes each key at most once, and no task id in records
    /// of a job.
    #[must_use]
    pub(crate) fn is_two(&self) -> bool {
        let keys = || self.fields.iter().map(|(key, _)| *key);
        let repeated = keys().enumerate().any(|(at, key)| keys().take(at).any(|before| before == key));
        repeated || (self.kind == "Job" && self.get("TASKID").is_some())
    }

    /// The first value of `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| *known == key).map(|(_, value)| value.as_ref())
    }
}

/// Parses the text of one record; `None` if it is not one.
#[must_use]
pub(crate) fn parse_record(text: &str, dialect: Dialect) -> Option<Record<'_>> {
    let field = separated_pair(word, char('='), |input| quoted(input, dialect));
    // Attempts have about ten fields.
    let room = || Vec::with_capacity(12);
    let fields = fold_many0(preceded(blanks, field), room, |mut fields, field| {
        fields.push(field);
        fields
    });
    let closing = delimited(opt(blanks), opt(char('.')), take_while(|c: char| c.is_ascii_whitespace()));
    let (_, ((kind, fields), dot)) = all_consuming(((word, fields), closing)).parse(text).ok()?;
    (!fields.is_empty()).then_some(Record { kind, fields, closed: dot.is_some() })
}

fn word(input: &str) -> IResult<&str, &str> {
    one_or_more(input, word_len(input.as_bytes()))
}

fn blanks(input: &str) -> IResult<&str, &str> {
    one_or_more(input, blanks_len(input.as_bytes()))
}

/// The first `len` bytes, if `len` is not 0.
fn one_or_more(input: &str, len: usize) -> IResult<&str, &str> {
    match input.split_at_checked(len) {
        Some((taken, rest)) if len > 0 => Ok((rest, taken)),
        _ => fail().parse(input),
    }
}

fn quoted(input: &str, dialect: Dialect) -> IResult<&str, Cow<'_, str>> {
    between(input, ['"', '"'], |rest| match dialect {
        Dialect::Escaped => unescape_until(rest, b'"'),
        Dialect::Plain => Ok(plain_value(rest)),
    })
}

/// Parses `inner` between two characters. Like nom's `delimited`, but always inlined: this is the hot path of
/// Hadoop 1 histories.
#[inline]
pub(super) fn between<'a, T>(
    input: &'a str,
    [open, close]: [char; 2],
    inner: impl FnOnce(&'a str) -> IResult<&'a str, T>,
) -> IResult<&'a str, T> {
    let Some(rest) = input.strip_prefix(open) else { return fail().parse(input) };
    let (rest, value) = inner(rest)?;
    match rest.strip_prefix(close) {
        Some(rest) => Ok((rest, value)),
        None => fail().parse(rest),
    }
}

/// The rest after an unescaped value, and the value.
fn plain_value(input: &str) -> (&str, Cow<'_, str>) {
    let len = value_len(input.as_bytes(), Dialect::Plain).unwrap_or(input.len());
    let (value, rest) = input.split_at_checked(len).unwrap_or((input, ""));
    (rest, Cow::Borrowed(value))
}

/// Text up to an unescaped `stop` or the end; a backslash stands for the character after it.
pub(super) fn unescape_until(input: &str, stop: u8) -> IResult<&str, Cow<'_, str>> {
    let (mut rest, start) = before_special(input, stop);
    if !rest.starts_with('\\') {
        return Ok((rest, Cow::Borrowed(start)));
    }
    let nearest_end = memchr(stop, rest.as_bytes()).unwrap_or(rest.len());
    let mut text = String::with_capacity(start.len() + nearest_end.min(FIRST_ROOM));
    text.push_str(start);
    while rest.starts_with('\\') {
        let (after, escaped) = preceded(char('\\'), anychar).parse(rest)?;
        let (after, more) = before_special(after, stop);
        text.push(escaped);
        text.push_str(more);
        rest = after;
    }
    Ok((rest, Cow::Owned(text)))
}

/// As [`unescape_until`], but discards the text and requires a `stop`.
pub(super) fn skip_until(input: &str, stop: u8) -> IResult<&str, ()> {
    match escaped_len(input.as_bytes(), stop).and_then(|len| input.get(len..)) {
        Some(rest) => Ok((rest, ())),
        None => fail().parse(input),
    }
}

/// Number of bytes before the first `stop` that no backslash precedes; `None` if there is none.
fn escaped_len(text: &[u8], stop: u8) -> Option<usize> {
    let mut at = 0;
    loop {
        let special = memchr2(stop, b'\\', text.get(at..)?)?;
        if text.get(at + special) == Some(&stop) {
            return Some(at + special);
        }
        at += special + 2;
    }
}

/// The text from the next `stop` or backslash on, and the text before it.
#[inline]
fn before_special(input: &str, stop: u8) -> (&str, &str) {
    split_before(input, memchr2(stop, b'\\', input.as_bytes()))
}

/// The text from `at` on, and the text before it.
fn split_before(input: &str, at: Option<usize>) -> (&str, &str) {
    let (before, after) = at.and_then(|at| input.split_at_checked(at)).unwrap_or((input, ""));
    (after, before)
}

/// Length in bytes of the value at the start of `text`; `None` if its end is not in `text`.
pub(super) fn value_len(text: &[u8], dialect: Dialect) -> Option<usize> {
    if dialect == Dialect::Escaped {
        return escaped_len(text, b'"');
    }
    let mut at = 0;
    loop {
        let quote = at + memchr(b'"', text.get(at..)?)?;
        if text.get(quote + 1..).is_none_or(may_follow_value) {
            return Some(quote);
        }
        at = quote + 1;
    }
}

/// Whether a quote followed by `rest` can end a value. Hadoop 0.18 did not escape quotes, so a quote counts
/// only before another field or at the end of the record.
fn may_follow_value(rest: &[u8]) -> bool {
    let start = rest.iter().position(|b| !matches!(b, b' ' | b'\t' | b'\r'));
    match start.and_then(|start| rest.get(start..)) {
        None | Some([b'\n', ..]) => true,
        Some([b'.', after @ ..]) => after.trim_ascii_start().is_empty(),
        Some(after) => start > Some(0) && starts_with_field(after),
    }
}

/// Whether `text` starts with `KEY="`.
fn starts_with_field(text: &[u8]) -> bool {
    let key = word_len(text);
    key > 0 && text.get(key..).is_some_and(|rest| rest.starts_with(b"=\""))
}

fn blanks_len(text: &[u8]) -> usize {
    text.iter().take_while(|b| matches!(b, b' ' | b'\t')).count()
}

/// Whether a byte may appear in a key or a record type.
const IN_WORDS: [bool; 256] = {
    let mut found = [false; 256];
    let (mut byte, mut rest) = (0u8, found.as_mut_slice());
    while let [entry, others @ ..] = rest {
        *entry = byte.is_ascii_alphanumeric() || byte == b'_';
        byte = byte.wrapping_add(1);
        rest = others;
    }
    found
};

fn word_len(text: &[u8]) -> usize {
    text.iter().take_while(|&&byte| IN_WORDS.get(usize::from(byte)) == Some(&true)).count()
}

/// Whether `line` starts like a record of any type.
pub(super) fn starts_record(line: &[u8]) -> bool {
    let kind = word_len(line);
    let after = line.get(kind..).and_then(|rest| rest.strip_prefix(b" "));
    kind > 0 && after.is_some_and(starts_with_field)
}

/// Whether `line` starts like a record of a type that Hadoop writes.
pub(super) fn starts_known_record(line: &[u8]) -> bool {
    KNOWN_TYPES.iter().any(|kind| {
        let after = line.strip_prefix(kind.as_bytes()).and_then(|rest| rest.strip_prefix(b" "));
        after.is_some_and(starts_with_field)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(text: &str, dialect: Dialect) -> Option<String> {
        parse_record(&format!("Task ERROR=\"{text}\" ."), dialect)?.get("ERROR").map(str::to_owned)
    }

    #[test]
    fn a_backslash_escapes_the_next_character() {
        for (written, unescaped) in [
            (r"a\.b", "a.b"),
            (r#"say \"hi\""#, r#"say "hi""#),
            (r"C:\\x", r"C:\x"),
            (r"Physical memory \\(bytes\\)", r"Physical memory \(bytes\)"),
            (r"\n", "n"),
            (r"\é", "é"),
            ("two\nlines", "two\nlines"),
            ("", ""),
        ] {
            assert_eq!(value(written, Dialect::Escaped).as_deref(), Some(unescaped), "{written}");
        }
        assert_eq!(value(r"open\", Dialect::Escaped), None);
    }

    #[test]
    fn plain_values_have_no_escapes() {
        assert_eq!(value(r"C:\temp\", Dialect::Plain).as_deref(), Some(r"C:\temp\"));
        assert_eq!(value(r#"select "a" from b"#, Dialect::Plain).as_deref(), Some(r#"select "a" from b"#));
        let record = parse_record("Job JOBNAME=\"a \"b\" c\" USER=\"x\" ", Dialect::Plain).unwrap();
        assert_eq!((record.get("JOBNAME"), record.get("USER")), (Some("a \"b\" c"), Some("x")));
        assert!(!record.closed);
    }

    #[test]
    fn records_end_with_a_dot_or_with_their_line() {
        for (text, closed) in [("Meta VERSION=\"1\" .", true), ("Meta VERSION=\"1\"", false)] {
            let record = parse_record(text, Dialect::Escaped).unwrap();
            assert_eq!((record.kind, record.get("VERSION"), record.closed), ("Meta", Some("1"), closed));
        }
        for bad in
            ["", "Meta", "Meta .", "Job A=\"b\"C=\"d\" .", "Job A=\"b\" x", "Job A=\"b\" . .", "Job A=b ."]
        {
            assert_eq!(parse_record(bad, Dialect::Escaped), None, "{bad}");
        }
    }

    #[test]
    fn the_dialect_is_guessed_from_the_first_line() {
        assert_eq!(Dialect::guess(b"Meta VERSION=\"1\" .\r"), Dialect::Escaped);
        assert_eq!(Dialect::guess(b"Job JOBID=\"job_1_2\" "), Dialect::Plain);
        assert_eq!(Dialect::guess(b"MapAttempt ERROR=\"java\\.io"), Dialect::Escaped);
    }

    #[test]
    fn starts_of_records() {
        assert!(starts_known_record(b"Job JOBID=\"job_1_2\""));
        assert!(!starts_known_record(b"Job JOBID=\\\"job_1_2\\\""));
        assert!(!starts_known_record(b"Jobs JOBID=\"\"") && starts_record(b"Jobs JOBID=\"\""));
        assert!(!starts_record(b"Job ") && !starts_record(b" A=\"\"") && !starts_record(b"\tat org.apache"));
    }

    /// A second implementation of `JobHistory.escapeString`.
    fn escape(text: &str) -> String {
        text.chars()
            .flat_map(|c| matches!(c, '"' | '.' | '\\').then_some('\\').into_iter().chain([c]))
            .collect()
    }

    proptest! {
        #[test]
        fn any_value_survives_escaping(values in prop::collection::vec("(?s).{0,20}|[\\\\\".\n=K ]{0,12}", 1..5)) {
            let fields: Vec<_> = values.iter().map(|v| format!("KEY=\"{}\"", escape(v))).collect();
            let text = format!("Task {} .", fields.join(" "));
            let record = parse_record(&text, Dialect::Escaped).unwrap();
            let read: Vec<_> = record.fields.iter().map(|(_, value)| value.to_string()).collect();
            prop_assert_eq!(read, values);
            prop_assert!(record.closed);
        }

        #[test]
        fn no_text_panics(text in "(?s).{0,80}|(Job|Task) ([A-Z]{1,3}=\"[a.\\\\\"\n]{0,5}\" ?){0,4}[ .]{0,3}") {
            let _ = parse_record(&text, Dialect::Escaped);
            let _ = parse_record(&text, Dialect::Plain);
        }
    }
}
