//! Messages for an unexpected token at the cursor.

use super::Cursor;
use crate::custom::mistake::Mistake;
use crate::custom::syntax::mistakes::at;
use crate::custom::syntax::token::TokenKind;

impl Cursor<'_> {
    /// A missing value.
    pub(in crate::custom::syntax) fn no_value(&self) -> Mistake {
        let Some((before, token)) = self.last().zip(self.text_of_last()) else {
            return self.unexpected("a value");
        };
        let mistake = self.unexpected(&format!("a value after \"{token}\""));
        match (&before.kind, self.kind()) {
            (_, TokenKind::Unreadable(_)) => mistake,
            (TokenKind::Sign("%"), _) if self.is_after_number() => {
                at(&before.span, "expressions have no unit %").help("write 5% as 0.05")
            }
            (TokenKind::Sign("(" | "," | "=="), TokenKind::Sign("/")) => {
                mistake.help("write a regular expression as a text in quotes, such as name.matches(\"^etl\")")
            }
            (TokenKind::Sign("<"), TokenKind::Sign(">")) => mistake.help("write != for \"is not equal to\""),
            (TokenKind::Sign("!" | "-"), TokenKind::Sign("!" | "-")) => {
                mistake.help("write brackets between ! and -, such as !(-x)")
            }
            _ => mistake,
        }
    }

    /// An unexpected token after a value; `expected` is what may follow the value.
    pub(in crate::custom::syntax) fn no_operator(&self, expected: &str) -> Mistake {
        let mistake = self.unexpected(expected);
        let (Some(before), TokenKind::Name(word)) = (self.last(), self.kind()) else {
            return match self.kind() {
                TokenKind::Sign("?") => mistake.help("put the inner condition ? one : other into brackets"),
                _ => mistake,
            };
        };
        let is_number = matches!(before.kind, TokenKind::Int(_) | TokenKind::Uint(_) | TokenKind::Double(_));
        if is_number && before.span.end == self.span().start {
            return at(&self.span(), format!("a number cannot have the unit \"{word}\" here"))
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
    pub(in crate::custom::syntax) fn unexpected(&self, expected: &str) -> Mistake {
        let span = self.span();
        let found = match self.kind() {
            TokenKind::Unreadable(mistake) => return mistake.clone(),
            TokenKind::End => "the end".to_owned(),
            TokenKind::Text(_) => "a text".to_owned(),
            TokenKind::Bytes => "bytes".to_owned(),
            _ => format!("\"{}\"", self.text_of(&span)),
        };
        at(&span, format!("expected {expected}, found {found}"))
    }
}
