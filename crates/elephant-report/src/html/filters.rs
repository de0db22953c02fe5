//! Template filters that turn values into text. Askama escapes their results.

// Needed for the code that askama generates from filters, and for the signatures that it expects.
#![allow(unreachable_pub, clippy::inline_always, clippy::unused_self, clippy::unnecessary_wraps)]

use std::borrow::Cow;
use std::fmt::{Display, Write as _};

use askama::filters::{Html, Safe, escape};
use askama::{Result, Values};

use crate::wrap::belong_together;
use elephant_base::units::{MbMillis, Timestamp, show_gb_hours, three_digits};

/// A value through any number of references, as templates pass it.
pub(crate) trait Is<T> {
    fn get(&self) -> T;
}

impl<T, R: Is<T>> Is<T> for &R {
    fn get(&self) -> T {
        (**self).get()
    }
}

macro_rules! is {
    ($($type:ty),+) => {
        $(impl Is<$type> for $type {
            fn get(&self) -> $type {
                *self
            }
        })+
    };
}
is!(u64, f64, MbMillis, Timestamp);

/// Text from a history. Characters that could hide or reorder text are made visible.
#[askama::filter_fn]
pub(crate) fn shown<T: Display>(text: T, _: &dyn Values) -> Result<String> {
    Ok(visible(&text.to_string()))
}

/// Like [`shown`], cut to `most` characters, with an ellipsis if it was longer.
#[askama::filter_fn]
pub(crate) fn cut<T: Display>(text: T, _: &dyn Values, most: usize) -> Result<String> {
    Ok(cut_text(&text.to_string(), most))
}

/// Visible text of at most `most` characters, with an ellipsis if it was longer.
pub(crate) fn cut_text(text: &str, most: usize) -> String {
    let end = text.char_indices().nth(most).map(|(end, _)| end);
    match end.and_then(|end| text.get(..end)) {
        Some(kept) => visible(kept) + "…",
        None => visible(text),
    }
}

/// Flags from this length on may be wider than a phone.
const LONG_FLAG: usize = 24;

/// Sentences, cut to `most` characters. No line ends inside of a flag, or between a number and its unit. In tables, long
/// words such as paths are broken after punctuation. Text in backticks is code.
#[askama::filter_fn]
pub(crate) fn prose<T: Display>(text: T, _: &dyn Values, most: usize) -> Result<Safe<String>> {
    Ok(Safe(in_prose(&cut_text(&text.to_string(), most))?))
}

/// The same for documents. Writing to a string does not fail.
pub(crate) fn prose_html(text: &str) -> String {
    in_prose(text).unwrap_or_default()
}

fn in_prose(text: &str) -> Result<String> {
    let mut html = String::with_capacity(text.len() + text.len() / 4);
    let mut rest = text;
    while let Some((before, code, after)) = next_code(rest) {
        write!(html, "{}<code>{}</code>", with_whole_words(before)?, escape(code, Html)?)?;
        rest = after;
    }
    html.push_str(&with_whole_words(rest)?);
    Ok(html)
}

/// The first text in backticks, with the text before and after it. Names may contain backticks, too, so both must be at
/// the edge of a word, as in "see `rules show order`.".
fn next_code(text: &str) -> Option<(&str, &str, &str)> {
    let (before, after) = text.split_once('`')?;
    let (code, after) = after.split_once('`')?;
    let opens = before.is_empty() || before.ends_with([' ', '(']);
    let closes = after.is_empty() || after.starts_with([' ', ')', ',', '.', ';', ':']);
    let is_code = opens && closes && !code.is_empty() && code.trim() == code;
    is_code.then_some((before, code, after))
}

/// Longer words may be broken in sentences.
const LONG_WORD: usize = 16;

fn with_whole_words(text: &str) -> Result<String> {
    let mut html = String::with_capacity(text.len() + text.len() / 4);
    let mut words = text.split(' ').enumerate().peekable();
    while let Some((place, word)) = words.next() {
        let (mut together, mut last) = (word.to_owned(), word);
        while let Some((_, next)) = words.next_if(|(_, next)| belong_together(last, next)) {
            together.push(' ');
            together.push_str(next);
            last = next;
        }
        html.push_str(if place > 0 { " " } else { "" });
        let bare = word.trim_start_matches(['(', '"', '`', '\'']);
        let is_flag = bare.starts_with('-') && bare.len() > 1;
        if is_flag || together.len() > word.len() {
            let size = match together.len() {
                LONG_FLAG.. if is_flag => " flag",
                _ => "",
            };
            write!(html, "<span class=\"whole{size}\">{}</span>", escape(&together, Html)?)?;
        } else if word.len() > LONG_WORD {
            html.push_str(&with_breaks(word)?);
        } else {
            write!(html, "{}", escape(word, Html)?)?;
        }
    }
    Ok(html)
}

/// Names, cut to `most` characters. In narrow columns, lines end after punctuation.
#[askama::filter_fn]
pub(crate) fn dotted<T: Display>(text: T, _: &dyn Values, most: usize) -> Result<Safe<String>> {
    Ok(Safe(with_breaks(&cut_text(&text.to_string(), most))?))
}

/// The same for documents.
pub(crate) fn dotted_html(text: &str, most: usize) -> String {
    with_breaks(&cut_text(text, most)).unwrap_or_default()
}

/// Visible text as HTML.
pub(crate) fn shown_html(text: &str) -> String {
    escape(visible(text), Html).map(|text| text.to_string()).unwrap_or_default()
}

fn with_breaks(text: &str) -> Result<String> {
    let mut html = String::with_capacity(text.len() * 2);
    for (place, part) in text.split_inclusive(['.', '_', '/', ':', '=']).enumerate() {
        write!(html, "{}{}", if place > 0 { "<wbr>" } else { "" }, escape(part, Html)?)?;
    }
    Ok(html)
}

/// Gigabyte-hours.
#[askama::filter_fn]
pub(crate) fn gb_hours<T: Is<MbMillis>>(amount: T, _: &dyn Values) -> Result<String> {
    Ok(format!("{} GB·h", show_gb_hours(amount.get())))
}

/// Gigabyte-hours without the unit.
#[askama::filter_fn]
pub(crate) fn hours<T: Is<MbMillis>>(amount: T, _: &dyn Values) -> Result<String> {
    Ok(show_gb_hours(amount.get()))
}

/// A time, to the second.
#[askama::filter_fn]
pub(crate) fn moment<T: Is<Timestamp>>(at: T, _: &dyn Values) -> Result<String> {
    Ok(moment_text(at.get()))
}

/// A time, to the minute, for tables.
#[askama::filter_fn]
pub(crate) fn minute<T: Is<Timestamp>>(at: T, _: &dyn Values) -> Result<String> {
    Ok(minute_text(at.get()))
}

/// "2018-05-17 11:06", without the seconds and the zone.
pub(crate) fn minute_text(at: Timestamp) -> String {
    let text = moment_text(at);
    let minute = text.strip_suffix(" UTC").and_then(|text| text.rsplit_once(':'));
    minute.map_or(text.clone(), |(text, _)| text.to_owned())
}

/// A number with three digits.
#[askama::filter_fn]
pub(crate) fn digits<T: Is<f64>>(value: T, _: &dyn Values) -> Result<String> {
    Ok(three_digits(value.get()))
}

/// A coordinate in a drawing.
#[askama::filter_fn]
pub(crate) fn px<T: Is<f64>>(value: T, _: &dyn Values) -> Result<String> {
    Ok(format!("{:.1}", value.get()))
}

/// A percentage in a drawing.
#[askama::filter_fn]
pub(super) fn share<T: Is<f64>>(value: T, _: &dyn Values) -> Result<String> {
    Ok(format!("{:.2}", value.get()))
}

/// A count with thousands separators.
#[askama::filter_fn]
pub(crate) fn count<T: Is<u64>>(value: T, _: &dyn Values) -> Result<String> {
    Ok(grouped(value.get()))
}

/// "1 more run is", "1,200 more runs are".
#[askama::filter_fn]
pub(crate) fn more<T: Is<u64>>(value: T, _: &dyn Values, one: &str, several: &str) -> Result<String> {
    let count = value.get();
    Ok(format!("{} more {}", grouped(count), if count == 1 { one } else { several }))
}

/// `2018-05-17 11:06:58 UTC`.
pub(crate) fn moment_text(at: Timestamp) -> String {
    let text = at.to_rfc3339().unwrap_or_else(|| format!("{} ms after 1970", at.as_millis()));
    match text.split_once('T').zip(text.split_once('.')) {
        Some(((date, time), _)) => format!("{date} {} UTC", time.get(..8).unwrap_or(time)),
        None => text,
    }
}

/// A whole number with thousands separators.
pub(crate) fn grouped(value: u64) -> String {
    elephant_rule::wording::grouped(i128::from(value))
}

/// "1 task", "1,200 tasks".
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// Like [`shown`], for text of several lines. Borrowed if nothing changes.
pub(crate) fn visible_lines(text: &str) -> Cow<'_, str> {
    let lines: Vec<String> = text.split('\n').map(visible).collect();
    let shown = lines.join("\n");
    if shown == text { Cow::Borrowed(text) } else { Cow::Owned(shown) }
}

/// Replaces control characters by their pictures, and characters that hide or reorder text by their code points.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{0}'..='\u{1f}' => shown.extend(char::from_u32(0x2400 + u32::from(c))),
            '\u{7f}' => shown.push('\u{2421}'),
            '\u{80}'..='\u{9f}'
            | '\u{ad}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{fdd0}'..='\u{fdef}'
            | '\u{e0000}'..='\u{e007f}' => {
                let _ = write!(shown, "[U+{:04X}]", u32::from(c));
            }
            // HTML parsers report an error for the last two code points of each plane.
            c if u32::from(c) & 0xfffe == 0xfffe => {
                let _ = write!(shown, "[U+{:04X}]", u32::from(c));
            }
            c => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_and_reordering_characters_become_visible() {
        assert_eq!(visible("a\u{0}\n\u{202e}b\u{200f}\u{7f}\u{85}é日"), "a␀␊[U+202E]b[U+200F]␡[U+0085]é日");
        assert_eq!(visible("\u{ffff}\u{1fffe}"), "[U+FFFF][U+1FFFE]");
    }

    #[test]
    fn flags_and_units_stay_whole() {
        let html = with_whole_words("set -Xmx3g → -Xmx<8g, 25 % more - or --conf a=1 of 2 files").unwrap();
        let whole = |text: &str| format!("<span class=\"whole\">{text}</span>");
        let expected = format!(
            "set {} → {} {} more - or {} of 2 files",
            whole("-Xmx3g"),
            whole("-Xmx&#60;8g,"),
            whole("25 %"),
            whole("--conf a=1")
        );
        assert_eq!(html, expected);
        let long = with_whole_words("--conf spark.sql.adaptive.enabled=true").unwrap();
        assert_eq!(long, "<span class=\"whole flag\">--conf spark.sql.adaptive.enabled=true</span>");
        assert_eq!(with_whole_words("on node2.example.com").unwrap(), "on node2.<wbr>example.<wbr>com");
        assert_eq!(with_whole_words("of a.b").unwrap(), "of a.b");
    }

    #[test]
    fn text_in_backticks_is_code() {
        let text = |text: &str| in_prose(text).unwrap();
        assert_eq!(
            text("give `a <b` (`c`), or `d`."),
            "give <code>a &#60;b</code> (<code>c</code>), or <code>d</code>."
        );
        for unclosed in ["a `b", "a`b`c", "` a `", "``"] {
            assert_eq!(text(unclosed), unclosed);
        }
    }

    #[test]
    fn names_break_after_punctuation() {
        assert_eq!(with_breaks("root.default<b").unwrap(), "root.<wbr>default&#60;b");
        assert_eq!(with_breaks("etl.").unwrap(), "etl.");
    }

    #[test]
    fn times_are_shown_to_the_second() {
        assert_eq!(moment_text(Timestamp::from_millis(1_526_555_218_123)), "2018-05-17 11:06:58 UTC");
        assert_eq!(moment_text(Timestamp::from_millis(i64::MAX)), "9223372036854775807 ms after 1970");
    }
}
