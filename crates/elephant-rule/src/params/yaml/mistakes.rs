//! Syntax errors in the words of someone who edits a rule file: where they come from, and what to write instead.

use super::syntax_error::{SyntaxError, in_quotes, line_start};
use super::{Span, unquoted};

pub(super) const NESTED: &str = "lists and mappings are nested too deeply";
const TAB: &str = "a tab is used for indentation";
const NO_TAB: &str = "indent with spaces; YAML allows no tabs there";
const BARE: &str = "the regular expression is not in quotes, so YAML reads a part of it as its own syntax";
const ESCAPE: &str = "between double quotes, YAML reads a backslash as the start of an escape sequence";
const AFTER_COLON: &str = "a tab is used after the colon";
const NO_END: &str = "the text in quotes has no end";
const SINGLE: &str = "use single quotes: between them, a backslash is only a backslash";

/// The error that the parser describes as `info` and locates at byte `at` of `text`.
pub(super) fn explain(text: &str, at: usize, info: &str) -> SyntaxError {
    if info.contains("recursion limit") {
        return SyntaxError { span: at..at, message: NESTED.to_owned(), help: None };
    }
    let told = |span, message: &str, help: String| SyntaxError {
        span,
        message: message.to_owned(),
        help: Some(help),
    };
    // A tab is detected only at the end of the value before it.
    if info.contains("tab")
        && let Some(tab) = first_tab(text, at)
    {
        return told(tab..tab + 1, TAB, NO_TAB.to_owned());
    }
    if let Some(expression) = bare_expression(text, at) {
        let quoted = in_quotes(text.get(expression.clone()).unwrap_or_default());
        return told(expression, BARE, quoted);
    }
    if info.contains("unknown escape") {
        return told(at..at, ESCAPE, SINGLE.to_owned());
    }
    if let Some(tab) = tab_after_colon(text, at) {
        return told(tab..tab + 1, AFTER_COLON, "write a space instead".to_owned());
    }
    if info.contains("quoted scalar") && info.contains("end of stream") {
        return told(at..at, NO_END, "write the same quote at its end".to_owned());
    }
    unquoted::explain(text, at).unwrap_or_else(|| SyntaxError {
        span: at..at,
        message: format!("this is not valid YAML: {info}"),
        help: None,
    })
}

/// The tab between a colon and the value, at which the parser stops.
fn tab_after_colon(text: &str, at: usize) -> Option<usize> {
    let tab = if text.get(at..)?.starts_with('\t') { at } else { at.checked_sub(1)? };
    let (before, rest) = (text.get(..tab)?, text.get(tab..)?);
    (rest.starts_with('\t') && before.ends_with(':')).then_some(tab)
}

/// A regular expression that YAML ends too early without an error: at a comma, or where a comment starts. `word` is
/// what it read at `place`.
pub(super) fn cut_off_expression(text: &str, word: &str, place: &Span) -> Option<SyntaxError> {
    let inside = word.strip_prefix('/').filter(|rest| !rest.contains('/'))?;
    let rest = text.get(place.end..)?.lines().next()?;
    let is_cut = match rest.trim_start().chars().next()? {
        '#' => rest.trim_end().trim_end_matches([']', '}']).ends_with('/'),
        ',' => {
            let slash = rest.find('/')?;
            // A slash after a comma starts the next expression of a list.
            !rest.get(..slash)?.trim_end().ends_with(',')
        }
        _ => false,
    };
    let end = place.end + rest.rfind('/')? + 1;
    (is_cut && !inside.is_empty()).then(|| SyntaxError {
        span: place.start..end,
        message: BARE.to_owned(),
        help: text.get(place.start..end).map(in_quotes),
    })
}

/// The first tab in the indentation of a line of this document, from the line with byte `at` on.
fn first_tab(text: &str, at: usize) -> Option<usize> {
    let mut start = line_start(text, at)?;
    for line in text.get(start..)?.split_inclusive('\n') {
        let indentation = line.len() - line.trim_start_matches([' ', '\t']).len();
        if let Some(tab) = line.get(..indentation)?.find('\t') {
            return Some(start + tab);
        }
        if start > at && line.starts_with("---") {
            return None;
        }
        start += line.len();
    }
    None
}

/// The unquoted text between slashes, at the start of a value, in which the error at byte `at` is.
fn bare_expression(text: &str, at: usize) -> Option<Span> {
    let start = line_start(text, at)?;
    let line = text.get(start..)?.lines().next()?;
    let mut from = 0;
    // A list may have several expressions.
    while let Some(expression) = next_expression(line, from) {
        if start + expression.start < at && start + expression.end > at {
            return Some(start + expression.start..start + expression.end);
        }
        from = expression.end;
    }
    None
}

/// The next text between slashes at the start of a value of this line. Inside, slashes do not stand before the end of the
/// value.
fn next_expression(line: &str, from: usize) -> Option<Span> {
    let slashes = || line.match_indices('/').map(|(place, _)| place).filter(|place| *place >= from);
    let first = slashes().find(|place| {
        let ahead = line.get(..*place).unwrap_or_default();
        let starts_value = ahead.ends_with(' ') && ahead.trim_end().ends_with([':', '-', ',', '[', '{']);
        starts_value || ahead.ends_with(['[', '{', ','])
    })?;
    let ends_value = |place: &usize| {
        let rest = line.get(*place + 1..).unwrap_or_default().trim_start();
        rest.is_empty() || rest.starts_with([',', ']', '}', '#'])
    };
    let last = slashes().filter(|place| *place > first).find(ends_value);
    let last = last.or_else(|| slashes().rfind(|place| *place > first))?;
    Some(first..last + 1)
}

#[cfg(test)]
mod tests {
    use crate::params::yaml::{documents, first_error};

    #[test]
    fn expressions_without_quotes_are_found_whole() {
        for (text, expression) in [
            ("for: {name: /^etl-[a-z]{2,3}$/}", "/^etl-[a-z]{2,3}$/"),
            ("for:\n  name: /a: b/\n", "/a: b/"),
            ("for:\n  name: /a #b/\n", "/a #b/"),
            ("for: {name: /a,b/}", "/a,b/"),
            ("for: {name: [x, /a,b/]}", "/a,b/"),
            ("rule: /a{1,2}: 'x'/", "/a{1,2}: 'x'/"),
            ("for: {name: [/a{1,2}/, /b/]}", "/a{1,2}/"),
            ("for: {name: [/a/, /b{1,2}/]}", "/b{1,2}/"),
            ("for: {name: [ /a/ , \"/b{2}/\",/c{2}d/ ]}", "/c{2}d/"),
        ] {
            let (place, _, help) = first_error(text).unwrap();
            assert_eq!(place, expression, "{text}");
            assert_eq!(help, format!("write '{}'", expression.replace('\'', "''")));
        }
        for text in [
            "for: {name: [/a, /b]}",
            "for: {name: '/a,b/'}",
            "for: {name: [/a/, /b/]}",
            "name: /user/etl # see /docs/",
            "name: /a # /user",
            "x: 1 / 2 # a/b/",
            "name: /^etl-\\d+$/",
        ] {
            assert_eq!(first_error(text), None, "{text}");
        }
    }

    #[test]
    fn tabs_are_shown_where_they_are() {
        for text in [
            "a:\n\tb: 1\n",
            "a:\n  b: 1\n\tc: 2\n",
            "a: x\n\tb: 1\n",
            "a: >\n\tx\n",
            "a:\n  - b\n  \t- c: d\n",
        ] {
            let (place, message, _) = first_error(text).unwrap_or_default();
            assert_eq!((place.as_str(), message.as_str()), ("\t", super::TAB), "{text:?}");
        }
        let (place, message, _) = first_error("a:\n  b:\tc\n").unwrap();
        assert_eq!((place.as_str(), message.as_str()), ("\t", super::AFTER_COLON));
        let text = "a: [\n---\nb:\n\tc: 1\n";
        let errors = documents(text).1;
        assert!(errors[0].message.starts_with("this is not valid YAML"), "{errors:?}");
        assert_eq!(errors[1].message, super::TAB);
    }

    #[test]
    fn other_errors_keep_the_words_of_the_parser() {
        let (place, message, _) = first_error("a: [b").unwrap();
        assert!(place.is_empty() && message.starts_with("this is not valid YAML: "), "{message}");
        assert_eq!(first_error("a: 'b").unwrap().1, super::NO_END);
        assert_eq!(first_error("a: \"\\d\"").unwrap().2, super::SINGLE);
    }
}
