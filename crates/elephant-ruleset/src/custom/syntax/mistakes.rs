//! Messages for syntax errors, with what to write instead.

use super::super::mistake::Mistake;
use super::{MAX_LENGTH, Span};

/// The help for an expression that is too large.
pub(super) const SPLIT: &str = "define a part of it as a separate value";

pub(super) fn too_long(bytes: usize) -> Mistake {
    Mistake::new(0, 0, format!("the expression has {bytes} bytes; the limit is {MAX_LENGTH}")).help(SPLIT)
}

pub(super) fn too_deep(span: &Span) -> Mistake {
    at(span, "the expression is nested too deeply or has too many operators").help(SPLIT)
}

pub(super) fn too_large(span: &Span) -> Mistake {
    at(span, "this number is too large")
        .help(format!("whole numbers go up to {}; write larger numbers like 1e20", i64::MAX))
}

pub(super) fn reserved(word: &str, span: &Span) -> Mistake {
    at(span, format!("\"{word}\" is a reserved word")).help("choose another name")
}

/// A text without its closing quote before the end of the line or expression; `opening` is the length of
/// its start.
pub(super) fn unclosed(opening: usize, quote: &str) -> Mistake {
    let mistake = Mistake::new(0, opening, format!("the text that starts here has no closing {quote}"));
    if quote.len() == 1 { mistake.help("it must close on the same line") } else { mistake }
}

/// A backslash that starts no escape sequence; `after` is the text after it.
pub(super) fn no_escape(start: usize, after: &str) -> Mistake {
    let next = after.chars().next().filter(|c| !c.is_control());
    let written = next.map_or_else(|| "\\".to_owned(), |next| format!("\\{next}"));
    let digits = match next {
        Some('x' | 'X') => Some("two hexadecimal digits"),
        Some('u') => Some("four hexadecimal digits of a character, and only in texts"),
        Some('U') => Some("eight hexadecimal digits of a character, and only in texts"),
        Some('0'..='3') => Some("three octal digits"),
        _ => None,
    };
    let mistake = match digits {
        Some(digits) => format!("{written} needs {digits}"),
        None => format!("{written} is not an escape sequence"),
    };
    Mistake::new(start, written.len(), mistake)
        .help("write \\\\ for a backslash, or r\"…\" for a text without escape sequences")
}

/// A character that starts no token.
pub(super) fn no_token(input: &str) -> Mistake {
    let c = input.chars().next().unwrap_or_default();
    let here = |message: String| Mistake::new(0, c.len_utf8(), message);
    match c {
        '=' => here("\"=\" is not a comparison".to_owned()).help("write =="),
        '&' | '|' => here(format!("\"{c}\" alone is not an operator")).help(format!("write {c}{c}")),
        '“' | '”' | '„' | '‘' | '’' | '«' | '»' => {
            here(format!("{c} is not a quotation mark for texts")).help("write \" or '")
        }
        _ if c.is_alphabetic() => here(format!("{c:?} cannot be part of a name"))
            .help("names may contain letters from a to z, digits and _"),
        _ => here(format!("{c:?} has no meaning in an expression")),
    }
}

/// A mistake at a position.
pub(super) fn at(span: &Span, message: impl Into<String>) -> Mistake {
    Mistake::new(span.start, span.len(), message)
}
