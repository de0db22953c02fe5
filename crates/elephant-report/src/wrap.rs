//! Text for terminals: cleaned, measured in columns, wrapped.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// `text` without characters that could move the cursor, change colours or reorder a line, and without words that a
/// program which reads the line may take for a command.
#[must_use]
pub fn clean(text: &str) -> String {
    let shown = if is_plain(text) {
        text.to_owned()
    } else {
        text.chars().map(|c| if is_unsafe(c) { ' ' } else { c }).collect()
    };
    if shown.contains("::") || shown.contains("##") { without_commands(&shown) } else { shown }
}

/// Text in which runners of CI find no command: GitHub obeys `::error …` at the start of a line, after blanks, too, and
/// `##[error]…` anywhere; Azure obeys `##vso[…`, and `TeamCity` `##teamcity[…`. Lines are broken at blanks, so any word may
/// start one.
fn without_commands(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 8);
    let mut rest = text;
    let mut starts_word = true;
    while let Some(c) = rest.chars().next() {
        let is_command = match c {
            ':' => starts_word && rest.starts_with("::"),
            '#' => rest.strip_prefix("##").is_some_and(|name| {
                name.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).starts_with('[')
            }),
            _ => false,
        };
        safe.push(c);
        if is_command {
            safe.push(' ');
        }
        // After the blank, the second sign starts a word, and may be followed by more of them.
        starts_word = is_command || c.is_whitespace();
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    safe
}

/// Whether `c` is a control character, a line separator, a direction mark, or a character that is not seen: of no width,
/// or a tag.
pub(super) fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Whether `text` contains such characters.
pub(super) fn has_unsafe(text: &str) -> bool {
    !is_plain(text) && text.contains(is_unsafe)
}

/// The width of `text` in columns.
#[must_use]
pub fn width(text: &str) -> usize {
    if is_plain(text) { text.len() } else { UnicodeWidthStr::width(text) }
}

/// Whether `text` is printable ASCII, with one column per byte. Nearly all text is, and tables of widths are slow.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Cuts `text` to `columns`, with an ellipsis if it is longer.
pub(super) fn fit(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 0;
    for c in text.chars() {
        let next = used + c.width().unwrap_or(0);
        if next + 1 > columns {
            break;
        }
        used = next;
        kept.push(c);
    }
    kept.push('…');
    kept
}

/// Like [`fit`], but the beginning and the end are kept.
pub(super) fn fit_ends(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let mut end = Vec::new();
    let mut left = room.div_ceil(2);
    for c in text.chars().rev() {
        let Some(rest) = left.checked_sub(c.width().unwrap_or(0)) else { break };
        left = rest;
        end.push(c);
    }
    let begin = fit(text, room - room.div_ceil(2) + 1);
    begin.chars().chain(end.into_iter().rev()).collect()
}

/// Like [`fit`], but cut between words; empty if not even the first word fits.
pub(super) fn fit_words(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let first = lines(text, columns.saturating_sub(1)).into_iter().next().unwrap_or_default();
    let first = first.trim_end_matches([',', ';', ':', ' ']);
    if width(first) < columns { format!("{first}…") } else { String::new() }
}

/// Units that stay on the line of their number.
const UNITS: [&str; 12] =
    ["s", "ms", "%", "B", "KiB", "MiB", "GiB", "TiB", "GB·h", "core·h", "core-hours", "±"];

/// Whether no line may end between two words, as in "7.6 s ± 1.2 s" and "--conf spark.x=1".
pub(super) fn belong_together(word: &str, next: &str) -> bool {
    let number = |word: &str| word.ends_with(|c: char| c.is_ascii_digit());
    let unit = next.trim_end_matches([',', '.', ';', ':', ')']);
    let after_unit = next == "±" && UNITS.contains(&word);
    let flag = word == "--conf" || word == "-D";
    flag || number(word) && UNITS.contains(&unit)
        || after_unit
        || word == "±"
        || is_span(word) && is_span(unit)
}

/// Whether a word is a part of a time, as in "1h 2m".
fn is_span(word: &str) -> bool {
    let digits = word.strip_suffix(['d', 'h', 'm', 's']).unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Lines of at most `columns`, broken at blanks, but not before a unit. A single longer word stays whole, so that settings
/// and paths can be copied.
#[must_use]
pub fn lines(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let mut together = word.to_owned();
        let mut last = word;
        while let Some(next) = words.next_if(|next| belong_together(last, next)) {
            together.push(' ');
            together.push_str(next);
            last = next;
        }
        let needed = width(&together);
        if !line.is_empty() && used + 1 + needed > columns {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        if !line.is_empty() {
            line.push(' ');
            used += 1;
        }
        line.push_str(&together);
        used += needed;
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn control_characters_are_replaced() {
        assert_eq!(clean("a\u{1b}[31mb\r\nc\u{202e}d"), "a [31mb  c d");
    }

    #[test]
    fn characters_that_are_not_seen_are_replaced() {
        assert_eq!(clean("a\u{e0041}\u{e007f}b\u{ad}c"), "a  b c");
    }

    #[test]
    fn no_line_is_a_command() {
        assert_eq!(clean("::error file=a::b"), ": :error file=a::b");
        assert_eq!(
            clean("x :::: ##[error]y ##vso[task.x] ##teamcity[a]"),
            "x : : : : # #[error]y # #vso[task.x] # #teamcity[a]"
        );
        assert_eq!(clean("std::vector, a ## b, ##x, #[test]"), "std::vector, a ## b, ##x, #[test]");
    }

    proptest! {
        #[test]
        fn no_wrapped_line_is_a_command(text in "[:#\\[a ]{0,40}", columns in 1..12usize) {
            for line in lines(&clean(&text), columns) {
                prop_assert!(!line.trim_start().starts_with("::"), "{line}");
                prop_assert!(!line.contains("##["), "{line}");
            }
        }
    }

    #[test]
    fn cutting_counts_columns_not_bytes() {
        assert_eq!(fit("häuser", 4), "häu…");
        assert_eq!(fit("日本語", 4), "日…");
        assert_eq!(fit("abc", 3), "abc");
        assert_eq!(fit_ends("app-20261126120000-0001", 14), "app-20…00-0001");
        assert_eq!((fit_ends("日本語", 4).as_str(), fit_ends("ab", 1).as_str()), ("…語", "…"));
    }

    #[test]
    fn words_stay_whole() {
        assert_eq!(fit_words("use 8 GiB, or less", 15), "use 8 GiB, or…");
        assert_eq!(fit_words("use 8 GiB, or less", 12), "use 8 GiB…");
        assert_eq!(fit_words("use 8 GiB", 9), "use 8 GiB");
        assert_eq!(fit_words("--conf=spark.x", 9), "");
    }

    #[test]
    fn units_stay_with_their_numbers() {
        assert_eq!(
            lines("the remedies save 7.6 s ± 1.2 s, 3 %", 20),
            ["the remedies save", "7.6 s ± 1.2 s, 3 %"]
        );
        assert_eq!(lines("took 1h 2m, 40.6 % wasted", 15), ["took 1h 2m,", "40.6 % wasted"]);
        assert_eq!(lines("set --conf a=b", 12), ["set", "--conf a=b"]);
        assert_eq!(lines("save 48m 57s to 14h 21m, 3 %", 20), ["save 48m 57s to", "14h 21m, 3 %"]);
    }

    proptest! {
        #[test]
        fn no_word_is_lost_and_no_line_too_long(words in prop::collection::vec("[a-zäß日]{1,12}", 0..30)) {
            let text = words.join(" ");
            let wrapped = lines(&text, 30);
            prop_assert_eq!(wrapped.join(" "), text);
            prop_assert!(wrapped.iter().all(|line| width(line) <= 30));
        }
    }
}
