//! Messages for syntax errors, with what to write instead.

use super::super::mistake::Mistake;
use super::cursor::Cursor;
use super::token::TokenKind;
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

/// A missing value.
pub(super) fn no_value(cursor: &Cursor<'_>) -> Mistake {
    let Some((before, token)) = cursor.last().zip(cursor.text_of_last()) else {
        return unexpected(cursor, "a value");
    };
    let mistake = unexpected(cursor, &format!("a value after \"{token}\""));
    match (&before.kind, cursor.kind()) {
        (_, TokenKind::Unreadable(_)) => mistake,
        (TokenKind::Sign("%"), _) if cursor.is_after_number() => {
            at(&before.span, "expressions have no unit %").help("write 5% as 0.05")
        }
        (TokenKind::Sign("<"), TokenKind::Sign(">")) => mistake.help("write != for \"is not equal to\""),
        (TokenKind::Sign("!" | "-"), TokenKind::Sign("!" | "-")) => {
            mistake.help("write brackets between ! and -, such as !(-x)")
        }
        _ => mistake,
    }
}

/// An unexpected token after a value; `expected` is what may follow the value.
pub(super) fn no_operator(cursor: &Cursor<'_>, expected: &str) -> Mistake {
    let mistake = unexpected(cursor, expected);
    let (Some(before), TokenKind::Name(word)) = (cursor.last(), cursor.kind()) else {
        return match cursor.kind() {
            TokenKind::Sign("?") => mistake.help("put a choice within a choice into brackets"),
            _ => mistake,
        };
    };
    let is_number = matches!(before.kind, TokenKind::Int(_) | TokenKind::Uint(_) | TokenKind::Double(_));
    if is_number && before.span.end == cursor.span().start {
        return at(&cursor.span(), format!("a number cannot have the unit \"{word}\" here"))
            .help("write time(\"5min\") or size(\"64MB\")");
    }
    match word.to_ascii_lowercase().as_str() {
        "and" => mistake.help("write && for \"and\""),
        "or" => mistake.help("write || for \"or\""),
        "is" | "equals" => mistake.help("write == for \"is equal to\""),
        _ if before.kind == TokenKind::Name("not") => mistake.help("write ! for \"not\""),
        _ => mistake,
    }
}

/// An unexpected token.
pub(super) fn unexpected(cursor: &Cursor<'_>, expected: &str) -> Mistake {
    let span = cursor.span();
    let found = match cursor.kind() {
        TokenKind::Unreadable(mistake) => return mistake.clone(),
        TokenKind::End => "the end".to_owned(),
        TokenKind::Text(_) => "a text".to_owned(),
        TokenKind::Bytes => "bytes".to_owned(),
        _ => format!("\"{}\"", cursor.text_of(&span)),
    };
    at(&span, format!("expected {expected}, found {found}"))
}

fn at(span: &Span, message: impl Into<String>) -> Mistake {
    Mistake::new(span.start, span.len(), message)
}
