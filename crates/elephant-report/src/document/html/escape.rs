//! Text from histories in HTML: no markup, and no characters that hide or reorder text.

use std::fmt::Write as _;

use crate::wrap::belong_together;
use elephant_base::units::Timestamp;

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
pub(crate) fn prose(text: &str, most: usize) -> String {
    in_prose(&cut_text(text, most))
}

fn in_prose(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + text.len() / 4);
    let mut rest = text;
    while let Some((before, code, after)) = next_code(rest) {
        let _ = write!(html, "{}<code>{}</code>", with_whole_words(before), escape(code));
        rest = after;
    }
    html.push_str(&with_whole_words(rest));
    html
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

fn with_whole_words(text: &str) -> String {
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
            let _ = write!(html, "<span class=\"whole{size}\">{}</span>", escape(&together));
        } else if word.len() > LONG_WORD {
            html.push_str(&with_breaks(word));
        } else {
            let _ = write!(html, "{}", escape(word));
        }
    }
    html
}

/// Names, cut to `most` characters. In narrow columns, lines end after punctuation.
pub(crate) fn dotted(text: &str, most: usize) -> String {
    with_breaks(&cut_text(text, most))
}

/// Text from a history as HTML.
pub(crate) fn escaped(text: &str) -> String {
    escape(&visible(text))
}

/// Text without markup.
pub(super) fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => html.push_str("&#60;"),
            '>' => html.push_str("&#62;"),
            '&' => html.push_str("&#38;"),
            '"' => html.push_str("&#34;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
    html
}

fn with_breaks(text: &str) -> String {
    let mut html = String::with_capacity(text.len() * 2);
    for (place, part) in text.split_inclusive(['.', '_', '/', ':', '=']).enumerate() {
        let _ = write!(html, "{}{}", if place > 0 { "<wbr>" } else { "" }, escape(part));
    }
    html
}

/// "2018-05-17 11:06", without the seconds and the zone.
pub(crate) fn minute_text(at: Timestamp) -> String {
    let text = moment_text(at);
    let minute = text.strip_suffix(" UTC").and_then(|text| text.rsplit_once(':'));
    minute.map_or(text.clone(), |(text, _)| text.to_owned())
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

/// Replaces control characters by their pictures, and characters that hide or reorder text by their code points.
pub(crate) fn visible(text: &str) -> String {
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
        let html = with_whole_words("set -Xmx3g → -Xmx<8g, 25 % more - or --conf a=1 of 2 files");
        let whole = |text: &str| format!("<span class=\"whole\">{text}</span>");
        let expected = format!(
            "set {} → {} {} more - or {} of 2 files",
            whole("-Xmx3g"),
            whole("-Xmx&#60;8g,"),
            whole("25 %"),
            whole("--conf a=1")
        );
        assert_eq!(html, expected);
        let long = with_whole_words("--conf spark.sql.adaptive.enabled=true");
        assert_eq!(long, "<span class=\"whole flag\">--conf spark.sql.adaptive.enabled=true</span>");
        assert_eq!(with_whole_words("on node2.example.com"), "on node2.<wbr>example.<wbr>com");
        assert_eq!(with_whole_words("of a.b"), "of a.b");
    }

    #[test]
    fn text_in_backticks_is_code() {
        let text = |text: &str| in_prose(text);
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
        assert_eq!(with_breaks("root.default<b"), "root.<wbr>default&#60;b");
        assert_eq!(with_breaks("etl."), "etl.");
    }

    #[test]
    fn times_are_shown_to_the_second() {
        assert_eq!(moment_text(Timestamp::from_millis(1_526_555_218_123)), "2018-05-17 11:06:58 UTC");
        assert_eq!(moment_text(Timestamp::from_millis(i64::MAX)), "9223372036854775807 ms after 1970");
    }
}
