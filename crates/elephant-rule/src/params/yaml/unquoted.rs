//! Values of one line that need quotes, because YAML reads a part of them as its own syntax.

use super::Span;
use super::syntax_error::{SyntaxError, in_quotes, line_start};

/// Characters that begin an anchor, an alias, a tag or a directive, or are reserved.
const MARKS: [char; 6] = ['*', '&', '!', '%', '@', '`'];
const INDENTED: &str = "this line is indented further than the line before it, which already has a value";
const ALIGNED: &str = "indent the keys of one mapping by the same number of spaces";

/// The error at byte `at`, if quotes around the value of its line, or another indentation, would remove it.
pub(super) fn explain(text: &str, at: usize) -> Option<SyntaxError> {
    let start = line_start(text, at)?;
    let line = text.get(start..)?.lines().next()?;
    let at = at - start;
    let (place, message) = needs_quotes(line, at)
        .or_else(|| marked_item(line, at))
        .map(|(place, why)| (place, format!("{why} needs quotes")))
        .or_else(|| Some((indented_key(line, at)?, INDENTED.to_owned())))?;
    let help = if message == INDENTED { ALIGNED.to_owned() } else { in_quotes(line.get(place.clone())?) };
    Some(SyntaxError { span: start + place.start..start + place.end, message, help: Some(help) })
}

/// The value at byte `at` that YAML takes for a tag, such as `!app.complete`.
pub(super) fn tagged(text: &str, at: usize) -> Option<SyntaxError> {
    let start = line_start(text, at)?;
    let line = text.get(start..)?.lines().next()?;
    let value = value_of(line)?;
    let word = line.get(value.clone())?;
    (word.starts_with('!') && !word.starts_with("!!") && start + value.start <= at).then(|| SyntaxError {
        span: start + value.start..start + value.end,
        message: "a value that begins with ! needs quotes".to_owned(),
        help: Some(in_quotes(word)),
    })
}

/// The value of a line, after list marks and the key.
fn value_of(line: &str) -> Option<Span> {
    let end = line.trim_end().len();
    let mut from = line.len() - line.trim_start().len();
    let mut is_value = false;
    while let Some(rest) = line.get(from..end)?.strip_prefix("- ") {
        from = end - rest.trim_start().len();
        is_value = true;
    }
    let rest = line.get(from..end)?;
    if let Some((key, value)) = rest.split_once(": ")
        && !key.contains(['{', '[', '"', '\''])
    {
        from = end - value.trim_start().len();
        is_value = true;
    }
    (is_value && from < end).then_some(from..end)
}

/// The value of the line in which the error is, and what is special about it.
fn needs_quotes(line: &str, at: usize) -> Option<(Span, String)> {
    let value = value_of(line)?;
    let word = line.get(value.clone())?;
    let first = word.chars().next()?;
    if at < value.start || matches!(first, '"' | '\'' | '|' | '>') {
        return None;
    }
    let why = if MARKS.contains(&first) {
        format!("a value that begins with {first}")
    } else if matches!(first, '{' | '[') {
        let inside = bracketed(word)?;
        let has_more = word.get(inside..)?.trim_start().starts_with(|next: char| next != '#');
        has_more.then(|| format!("a text that begins with {first}"))?
    } else {
        word.contains(": ").then(|| "a text with a colon and a space".to_owned())?
    };
    Some((value, why))
}

/// The end of the brackets with which a text begins.
fn bracketed(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (place, letter) in text.char_indices() {
        match letter {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(place + letter.len_utf8());
        }
    }
    None
}

/// An item between brackets that begins with a mark, such as `*` in `{queue: *}`.
fn marked_item(line: &str, at: usize) -> Option<(Span, String)> {
    // The parser stops at the mark or after it.
    let marks = || line.char_indices().filter(|(_, letter)| MARKS.contains(letter));
    let (from, mark) = marks().rfind(|(place, _)| *place <= at && at <= place + 1)?;
    if !line.get(..from)?.ends_with([' ', ',', '[', '{']) {
        return None;
    }
    let rest = line.get(from..)?;
    let word = rest.get(..rest.find([',', ']', '}']).unwrap_or(rest.len()))?.trim_end();
    Some((from..from + word.len(), format!("a value that begins with {mark}")))
}

/// The key at which the error is, if its line has no other mistake.
fn indented_key(line: &str, at: usize) -> Option<Span> {
    let from = line.len() - line.trim_start().len();
    let is_key = from > 0 && from < at && line.get(at..)?.starts_with(':');
    is_key.then_some(from..at)
}

#[cfg(test)]
mod tests {
    use crate::params::yaml::{documents, first_error};

    #[test]
    fn values_that_need_quotes_are_shown_in_quotes() {
        for (text, value) in [
            ("message: {a} tasks: many\n", "{a} tasks: many"),
            ("message: {a} tasks\n", "{a} tasks"),
            ("advice:\n  - [x] y\n", "[x] y"),
            ("message: tasks: many\n", "tasks: many"),
            ("message: %d tasks\n", "%d tasks"),
            ("message: @x\n", "@x"),
            ("for: {queue: *}\n", "*"),
            ("for: {queue: *etl}\n", "*etl"),
            ("for:\n  queue: *etl\n", "*etl"),
            ("when: !app.complete\n", "!app.complete"),
            ("when: !is_set(\"x\") && a\n", "!is_set(\"x\") && a"),
        ] {
            let (place, message, help) = first_error(text).unwrap_or_default();
            assert_eq!(place, value, "{text}: {message}");
            assert!(message.ends_with(" needs quotes"), "{text}: {message}");
            assert_eq!(help, format!("write '{value}'"), "{text}");
        }
    }

    #[test]
    fn a_text_that_looks_like_a_tag_is_one_error() {
        let (read, errors) = documents("when: !app.complete\nseverity: a\n---\nrule: b\n");
        assert_eq!((read.len(), errors.len()), (1, 1), "{errors:?}");
    }

    #[test]
    fn values_that_are_yaml_are_left_alone() {
        for text in ["a: !!str 5\n", "a: &x 1\nb: *x\n", "a: {b: 1} # c\n", "a: '{b} c'\n", "a: >\n  b: c\n"]
        {
            assert_eq!(first_error(text), None, "{text}");
        }
    }

    #[test]
    fn keys_with_another_indentation_are_found() {
        let (place, message, help) = first_error("rule: mapper-skew\n deviation: 3\n").unwrap();
        assert_eq!(
            (place.as_str(), message.as_str(), help.as_str()),
            ("deviation", super::INDENTED, super::ALIGNED)
        );
    }
}
