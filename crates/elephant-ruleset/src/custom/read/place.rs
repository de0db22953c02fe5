//! Converts a position in a scalar's text to a position in the file.

use elephant_rule::params::yaml::{Node, Span};

/// The part of the file for `len` bytes from byte `at` of a scalar. Quotes, line folds and block
/// indentation exist only in the file, so the position is found by counting all characters except white
/// space.
pub(super) fn within(file: &str, node: &Node, at: usize, len: usize) -> Span {
    let raw = file.get(node.span.clone()).unwrap_or_default();
    let text = node.as_text().unwrap_or_default();
    let start = match raw.find(text) {
        Some(offset) if !text.is_empty() => offset + at,
        _ => skip(raw, letters(text.get(..at).unwrap_or(text))),
    };
    let start = (node.span.start + start).min(node.span.end);
    start..(start + len).min(node.span.end)
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| !c.is_whitespace()).count()
}

/// The byte in `raw` after this many characters other than white space.
fn skip(raw: &str, letters: usize) -> usize {
    let head = match raw.chars().next() {
        // Skip the line with the style of the block, such as `|`.
        Some('|' | '>') => raw.find('\n').map_or(raw.len(), |newline| newline + 1),
        Some('"' | '\'') => 1,
        _ => 0,
    };
    let body = raw.get(head..).unwrap_or_default();
    let mut places = body.char_indices().filter(|(_, c)| !c.is_whitespace()).map(|(at, _)| at);
    places.nth(letters).map_or(raw.len(), |at| head + at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_rule::params::yaml::{Kind, documents};

    fn found<'y>(yaml: &'y str, word: &str) -> &'y str {
        let Kind::Map(entries) = documents(yaml).0.remove(0).kind else { unreachable!() };
        let node = &entries[0].1;
        let at = node.as_text().unwrap().find(word).unwrap();
        &yaml[within(yaml, node, at, word.len())]
    }

    #[test]
    fn positions_are_found_in_all_scalar_styles() {
        assert_eq!(found("a: gc / run_time", "run_time"), "run_time");
        assert_eq!(found("a: \"gc / run_time\"", "run_time"), "run_time");
        assert_eq!(found("a: 'it''s / run_time'", "it"), "it");
        assert_eq!(found("a: |\n  gc /\n  run_time\n", "run_time"), "run_time");
        assert_eq!(found("a: >\n  gc /\n  run_time\n", "run_time"), "run_time");
        assert_eq!(found("a: gc /\n   run_time\n", "run_time"), "run_time");
        assert_eq!(found("a: é / run_time", "run_time"), "run_time");
    }
}
