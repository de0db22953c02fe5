//! Messages and stack traces: what is kept of them word by word.
//!
//! A text is cut into pieces at white space, quotes and brackets, which all stay. A piece is a time, an id, a path, an address,
//! a source file, a dotted name, or words; each has its own replacement. Strings by which failures are known stay wherever
//! they stand.

mod dotted;
mod ids;
mod names;
mod paths;
mod plan;
mod sites;
mod sql;
#[cfg(test)]
pub(crate) mod testing;

pub(crate) use dotted::SUFFIXES;
pub(crate) use sites::is_sql;

use std::ops::Range;

use super::mask::Mask;
use super::pseudonyms::Kind;
use super::vocabulary::{self, is_known};

/// Longer numbers identify something: a person, an account, a row.
const SHORT_NUMBER: usize = 4;

/// Words before numbers that only count: "TID 123456".
const COUNTING: [&str; 21] = [
    "sqlstate",
    "task",
    "tid",
    "stage",
    "executor",
    "attempt",
    "partition",
    "job",
    "shuffle",
    "index",
    "after",
    "of",
    "than",
    "limit",
    "requested",
    "available",
    "required",
    "map",
    "reduce",
    "size",
    "code",
];

/// Words behind numbers that make them amounts.
const UNITS: [&str; 34] = [
    "b",
    "bytes",
    "byte",
    "k",
    "kb",
    "kib",
    "m",
    "mb",
    "mib",
    "g",
    "gb",
    "gib",
    "t",
    "tb",
    "tib",
    "ms",
    "s",
    "sec",
    "secs",
    "seconds",
    "milliseconds",
    "min",
    "minutes",
    "h",
    "hours",
    "ns",
    "us",
    "rows",
    "records",
    "tasks",
    "cores",
    "times",
    "partitions",
    "files",
];

/// Where pieces end. Every other character is part of one, so that none of a foreign script is taken for a separator.
fn ends_piece(c: char) -> bool {
    c.is_ascii_whitespace() || "\"'`()[]{}<>,;|=&?\u{2026}".contains(c) || c.is_control()
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || !c.is_ascii()
}

impl Mask {
    /// What is kept of a message.
    pub(crate) fn message(&mut self, text: &str) -> String {
        self.around(&vocabulary::failure_spans(text), text)
    }

    /// The text with these parts kept, and the rest replaced.
    fn around(&mut self, kept: &[Range<usize>], text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        for span in kept {
            self.prose(text.get(from..span.start).unwrap_or_default(), &mut out);
            out.push_str(text.get(span.clone()).unwrap_or_default());
            from = span.end;
        }
        self.prose(text.get(from..).unwrap_or_default(), &mut out);
        out
    }

    fn prose(&mut self, text: &str, out: &mut String) {
        let mut at = 0;
        while let Some((before, rest)) = text.split_at_checked(at).filter(|(_, rest)| !rest.is_empty()) {
            let len = rest.find(ends_piece).unwrap_or(rest.len());
            let (piece, after) = rest.split_at(len);
            if piece.is_empty() {
                let sign = after.chars().next().unwrap_or_default();
                out.push(sign);
                at += sign.len_utf8();
            } else {
                self.piece(piece, before, after, out);
                at += len;
            }
        }
    }

    fn piece(&mut self, piece: &str, before: &str, after: &str, out: &mut String) {
        let core = piece.trim_end_matches([':', '.', '!']);
        let end = piece.get(core.len()..).unwrap_or_default();
        if let Some(whole) = self.whole(core) {
            out.push_str(&whole);
        } else {
            let after = if end.is_empty() { after } else { end };
            self.words(core, before, after, out);
        }
        out.push_str(end);
    }

    /// The replacement of a piece that has a meaning as a whole.
    fn whole(&mut self, piece: &str) -> Option<String> {
        if piece.is_empty() {
            return None;
        }
        if let Some(moved) = self.clock.date(piece) {
            return Some(moved);
        }
        if let Some(id) = self.engine_id(piece) {
            return Some(id);
        }
        if piece.contains('/') {
            return Some(self.path_in_text(piece));
        }
        if piece.trim_matches('@').contains('@') {
            return Some(self.name(Kind::Mail, piece));
        }
        self.source_line(piece).or_else(|| self.address(piece)).or_else(|| self.dotted(piece))
    }

    /// Words, and what is between them.
    fn words(&mut self, text: &str, before: &str, after: &str, out: &mut String) {
        let mut at = 0;
        while let Some((own_before, rest)) = text.split_at_checked(at).filter(|(_, rest)| !rest.is_empty()) {
            let len = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
            let (word, own_after) = rest.split_at(len);
            if word.is_empty() {
                let sign = own_after.chars().next().unwrap_or_default();
                out.push(sign);
                at += sign.len_utf8();
                continue;
            }
            let before = if own_before.is_empty() { before } else { own_before };
            let after = if own_after.is_empty() { after } else { own_after };
            out.push_str(&self.word(word, before, after));
            at += len;
        }
    }

    fn word(&mut self, word: &str, before: &str, after: &str) -> String {
        if word.bytes().all(|byte| byte.is_ascii_digit()) {
            return if is_harmless_number(word, before, after) { word.to_owned() } else { self.digits(word) };
        }
        if is_known(word) || is_amount(word) {
            return word.to_owned();
        }
        self.exception(word).unwrap_or_else(|| self.name(Kind::Word, word))
    }

    /// The text if an engine uses all its words, else a pseudonym of the whole.
    pub(crate) fn word_or(&mut self, kind: Kind, text: &str) -> String {
        if is_known(text) { text.to_owned() } else { self.name(kind, text) }
    }
}

/// Whether a number counts or measures something.
fn is_harmless_number(number: &str, before: &str, after: &str) -> bool {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let joins = |c: Option<char>| c.is_some_and(|c| matches!(c, '-' | ' ' | '.'));
    let mut ahead = after.chars();
    let mut behind = before.chars().rev();
    // Groups of digits are numbers of telephones, cards, persons.
    let is_group = matches!(ahead.next(), Some('-')) && is_digit(ahead.next())
        || matches!(behind.next(), Some('-')) && is_digit(behind.next());
    let follows_group = {
        let mut signs = before.chars().rev();
        joins(signs.next()) && is_digit(signs.next())
    };
    if is_group {
        return false;
    }
    if number.len() <= SHORT_NUMBER {
        return !follows_group || number.len() < SHORT_NUMBER;
    }
    let next = after.trim_start().split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let last =
        before.rsplit(|c: char| !c.is_ascii_alphanumeric()).find(|word| !word.is_empty()).unwrap_or_default();
    let is_in = |list: &[&str], word: &str| list.iter().any(|known| known.eq_ignore_ascii_case(word));
    number.len() <= 19 && (is_in(&UNITS, next) || is_in(&COUNTING, last) && number.len() <= 9)
}

/// Whether this is an amount with its unit: `512m`, `10s`.
pub(crate) fn is_amount(word: &str) -> bool {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    let unit = word.get(digits..).unwrap_or_default();
    (1..=19).contains(&digits) && UNITS.iter().any(|known| known.eq_ignore_ascii_case(unit))
}

#[cfg(test)]
mod tests {
    use super::testing::{mask, shape};
    use crate::mask::Meaning;

    fn message(text: &str) -> String {
        shape(&mask().text(Meaning::Message, text))
    }

    #[test]
    fn messages_keep_the_words_of_engines() {
        for text in [
            "java.lang.OutOfMemoryError: Java heap space",
            "Container killed by YARN for exceeding memory limits. 5.5 GB of 5.5 GB physical memory used.",
            "Job aborted due to stage failure: Task 3 in stage 1.0 failed 4 times, most recent failure: Lost task 3.3 in stage 1.0 (TID 123456)",
            "Container exited with a non-zero exit code 143",
            "Size exceeds Integer.MAX_VALUE",
            "org.apache.spark.shuffle.FetchFailedException",
            "",
        ] {
            assert_eq!(message(text), text);
        }
    }

    #[test]
    fn messages_lose_the_words_of_users() {
        for (text, expected) in [
            ("Lost executor 3 on acme7: Slave lost", "Lost executor 3 on word-*: Slave lost"),
            ("Failed to connect to db1.acme.com:7337", "Failed to connect to host-*:7337"),
            ("ask alice@acme.com", "ask mail-*"),
            ("lost 10.20.30.40:9866 and 10.20.30.40", "lost host-*:9866 and host-*"),
            ("com.acme.PayrollException: no salary of Alice", "masked.Class_*Exception: no word-* of Word-*"),
            (
                "Input path does not exist: hdfs://nn1:8020/user/alice/in.csv",
                "Input path does not exist: hdfs://host-*:8020/user/user-*/file-*.csv",
            ),
            ("File \"/home/bob/etl.py\", line 12, in f", "File \"/home/user-*/file-*.py\", line 12, in f"),
            ("größe", "word-*"),
        ] {
            assert_eq!(message(text), expected, "{text}");
        }
    }

    #[test]
    fn long_numbers_are_replaced_and_amounts_stay() {
        let masked =
            message("customer 4711471 has 1073741824 bytes, phone 555-0199, card 4111-1111-1111-1111");
        for secret in ["4711471", "555-0199", "4111"] {
            assert!(!masked.contains(secret), "{masked}");
        }
        assert!(masked.contains("1073741824 bytes"));
    }
}
