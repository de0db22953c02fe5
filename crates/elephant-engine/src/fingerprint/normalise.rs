//! Removes the parts of names that change from run to run: dates, times, ids, run counters.
//!
//! Small numbers stay, because they distinguish jobs: `(Stage-1)` and `(Stage-2)` of a Hive query, `step 3
//! of 12`, `q86`. In `3 of 12` and `(3/12)` only the total is replaced. A random id may happen to look like
//! a number or like hexadecimal digits; both get the same placeholder, so that the name does not depend on
//! chance.

use nom::branch::alt;
use nom::bytes::complete::{tag, tag_no_case, take_while_m_n, take_while1};
use nom::character::complete::{char, digit0, digit1, one_of, satisfy};
use nom::combinator::{not, opt, recognize, verify};
use nom::multi::many1;
use nom::sequence::terminated;
use nom::{IResult, Parser};

use super::moment::{
    bounded, clock, end_of_word, hour_with_letter, is_digit, moment, month_and_day, named_moment,
};
use elephant_model::model::RUN_COUNTERS;

/// A date, with the time of day if one follows.
const DATE: &str = "<date>";
/// A time of day.
const TIME: &str = "<time>";
/// An id in a form that engines and schedulers use.
const ID: &str = "<id>";
/// A number or hexadecimal digits that count or name a run.
const NUMBER: &str = "<n>";
/// An IPv4 address.
const ADDRESS: &str = "<address>";

/// Numbers with at least this many digits identify a run: years and scale factors are shorter.
const LONG_NUMBER: usize = 5;

/// At least this many hexadecimal digits, with a digit and a letter among them, are an id and not a word.
/// Git shortens commits to no less.
const LONG_HEX: usize = 7;

/// Partition keys whose number is part of a date.
const PARTS_OF_DATE: [&str; 7] = ["year", "month", "week", "day", "hour", "hr", "minute"];

/// Replaces the parts of `name` that change from run to run with placeholders, and white space and
/// unprintable characters with single blanks.
#[must_use]
pub fn normalise(name: &str) -> String {
    let name = tidy(name);
    let mut out = String::with_capacity(name.len());
    let mut at = 0;
    while let Some((before, rest)) = name.split_at_checked(at) {
        let Some(next) = rest.chars().next() else { break };
        if let Some((sign, length)) = placeholder(before, rest) {
            out.push_str(sign);
            at += length;
        } else {
            out.push(next);
            at += next.len_utf8();
        }
    }
    out
}

fn tidy(name: &str) -> String {
    let printable = |c: char| if is_harmful(c) { ' ' } else { c };
    let name: String = name.chars().map(printable).collect();
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Characters that move the cursor or reorder a line.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// The placeholder for the start of `rest` and the length that it replaces; `None` if the text stays.
fn placeholder(before: &str, rest: &str) -> Option<(&'static str, usize)> {
    let length = |parsed: IResult<&str, &str>| parsed.ok().map(|(_, found)| found.len());
    let last = before.chars().next_back();
    let starts_word = !last.is_some_and(|c| c.is_ascii_alphanumeric());
    if starts_word && let Some(length) = length(identifier(rest)) {
        return Some((ID, length));
    }
    if starts_word && let Some(length) = length(named_moment(rest)) {
        return Some((DATE, length));
    }
    if starts_word && let Some(length) = length(hexadecimal(rest)) {
        return Some((NUMBER, length));
    }
    if last.is_some_and(|c| c.is_ascii_digit()) || !rest.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if let Some(length) = cut_value(before, rest) {
        return Some((NUMBER, length));
    }
    if let Some(length) = length(moment(rest)) {
        return Some((DATE, length));
    }
    let continues = last.is_some_and(|c| matches!(c, '-' | '.' | '/' | ':'));
    if !continues {
        if let Some(length) = length(month_and_day(rest)) {
            return Some((DATE, length));
        }
        let is_padded = rest.chars().nth(1) != Some(':');
        if (starts_word || is_padded)
            && let Some(length) = length(clock(rest))
        {
            return Some((TIME, length));
        }
    }
    if starts_word && let Some(length) = length(hour_with_letter(rest)) {
        return Some((TIME, length));
    }
    if let Some(length) = length(address(rest)) {
        return Some((ADDRESS, length));
    }
    number(before, rest).map(|length| (NUMBER, length))
}

/// `job_1526555215992_0001`, `attempt_…_m_000000_0`, `app-20261121094318-0000`, a workflow's id, a UUID.
fn identifier(input: &str) -> IResult<&str, &str> {
    let hadoop = (
        alt((
            tag_no_case("job"),
            tag_no_case("application"),
            tag_no_case("appattempt"),
            tag_no_case("attempt"),
            tag_no_case("container"),
            tag_no_case("task"),
        )),
        char('_'),
        opt((char('e'), digit1, char('_'))),
        alt((recognize((tag("local"), digit0)), verify(digit1, |digits: &str| digits.len() >= 10))),
        many1((char('_'), opt((one_of("mrsct"), char('_'))), digit1)),
    );
    let standalone = (
        alt((tag("app"), tag("driver"))),
        char('-'),
        verify(digit1, |digits: &str| digits.len() == 14),
        char('-'),
        digit1,
    );
    let local = (tag("local-"), verify(digit1, |digits: &str| digits.len() >= 10));
    let oozie = (
        take_while_m_n(7, 7, is_digit),
        char('-'),
        verify(digit1, |digits: &str| digits.len() >= 12),
        tag("-oozie-"),
        take_while1(|c: char| c.is_ascii_alphanumeric() || c == '_'),
        char('-'),
        one_of("WCB"),
    );
    let hex = |length| take_while_m_n(length, length, |c: char| c.is_ascii_hexdigit());
    let uuid = (hex(8), char('-'), hex(4), char('-'), hex(4), char('-'), hex(4), char('-'), hex(12));
    let any =
        alt((recognize(hadoop), recognize(standalone), recognize(local), recognize(oozie), recognize(uuid)));
    terminated(any, end_of_word).parse(input)
}

/// A word of hexadecimal digits, such as a commit.
fn hexadecimal(input: &str) -> IResult<&str, &str> {
    let digits = take_while1(|c: char| c.is_ascii_hexdigit());
    let is_id = |word: &str| {
        word.len() >= LONG_HEX && word.contains(is_digit) && word.contains(|c: char| c.is_ascii_alphabetic())
    };
    terminated(verify(digits, is_id), end_of_word).parse(input)
}

fn address(input: &str) -> IResult<&str, &str> {
    let part = || verify(digit1, |digits: &str| digits.parse::<u8>().is_ok());
    let dot = || char('.');
    let whole = recognize((part(), dot(), part(), dot(), part(), dot(), part()));
    terminated(bounded(whole), not((char('.'), satisfy(is_digit)))).parse(input)
}

/// The length of the rest of a value that `...` has cut. Hive shortens queries in the middle, which may cut
/// a date.
fn cut_value(before: &str, rest: &str) -> Option<usize> {
    let end = rest.find(|c: char| !is_digit(c) && !matches!(c, '-' | ':' | '/')).unwrap_or(rest.len());
    let (_, after) = rest.split_at_checked(end)?;
    (before.ends_with("...") || after.starts_with("...")).then_some(end)
}

/// The length of a number at the start of `rest` that changes from run to run.
fn number(before: &str, rest: &str) -> Option<usize> {
    let digits = rest.find(|c| !is_digit(c)).unwrap_or(rest.len());
    let (number, after) = rest.split_at_checked(digits)?;
    let is_long = number.len() >= LONG_NUMBER || (number.len() >= 4 && number.starts_with('0'));
    let is_parameter = before.ends_with('\'') && after.starts_with('\'');
    (is_long || is_parameter || is_total(before, after) || is_counted(before) || is_part_of_date(before))
        .then_some(digits)
}

/// Whether the number after `before` is the total of `3 of 12` or `(3/12)`.
fn is_total(before: &str, after: &str) -> bool {
    if let Some(count) = before.strip_suffix(" of ") {
        return count.ends_with(is_digit);
    }
    let Some(count) = before.strip_suffix('/') else { return false };
    let start = count.trim_end_matches(is_digit);
    start.len() < count.len() && start.ends_with('(') && after.starts_with(')')
}

/// Whether the word before the number says that it counts runs.
fn is_counted(before: &str) -> bool {
    if before.ends_with('#') {
        return true;
    }
    let words = before.trim_end_matches([' ', '-', '_', '=', ':', '.']);
    RUN_COUNTERS.iter().any(|counted| last_word(words).eq_ignore_ascii_case(counted))
}

/// Whether the number is part of a partition's date, as in `day=20`.
fn is_part_of_date(before: &str) -> bool {
    let key = before.strip_suffix('=').map(last_word).unwrap_or_default();
    PARTS_OF_DATE.iter().any(|part| key.eq_ignore_ascii_case(part))
}

/// The letters at the end.
fn last_word(text: &str) -> &str {
    let start = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    text.get(start.len()..).unwrap_or_default()
}

#[cfg(test)]
mod tests;
