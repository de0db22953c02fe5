//! Splits text into tokens.

use nom::branch::alt;
use nom::bytes::complete::{tag, take_while, take_while1};
use nom::character::complete::{char, digit1, hex_digit1, one_of, satisfy};
use nom::combinator::{map, opt, recognize};
use nom::multi::fold_many0;
use nom::sequence::preceded;
use nom::{IResult, Parser};

use super::super::mistake::Mistake;
use super::token::{Token, TokenKind};
use super::{mistakes, text};

/// The tokens of an expression. Exactly the last one is [`TokenKind::End`] or [`TokenKind::Unreadable`].
pub(super) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = source;
    loop {
        rest = blank(rest);
        let start = source.len() - rest.len();
        let (left, kind) = match token(rest) {
            Ok((left, kind)) => (left, kind),
            Err(at) => (rest, TokenKind::Unreadable(Mistake { at: start + at.at, ..at })),
        };
        let last = matches!(kind, TokenKind::End | TokenKind::Unreadable(_));
        tokens.push(Token { kind, span: start..source.len() - left.len() });
        if last {
            return tokens;
        }
        rest = left;
    }
}

/// The input after spaces and comments.
fn blank(input: &str) -> &str {
    let spaces = take_while1(|c| matches!(c, ' ' | '\t' | '\r' | '\n' | '\x0c'));
    let comment = recognize((tag("//"), take_while(|c| c != '\n')));
    let skipped: IResult<&str, ()> = fold_many0(alt((spaces, comment)), || (), |(), _| ()).parse(input);
    skipped.map_or(input, |(rest, ())| rest)
}

/// One token and the rest of the input; the mistake's position counts from `input`.
fn token(input: &str) -> Result<(&str, TokenKind<'_>), Mistake> {
    if input.is_empty() {
        return Ok((input, TokenKind::End));
    }
    if let Some(read) = text::quoted(input) {
        return read;
    }
    alt((number, name, sign)).parse(input).map_err(|_| mistakes::no_token(input))
}

/// A number. The longest match wins: `1.5` is not `1` and `.5`.
fn number(input: &str) -> IResult<&str, TokenKind<'_>> {
    let whole = alt((recognize((tag("0x"), hex_digit1)), digit1));
    let whole = map((whole, opt(one_of("uU"))), |(digits, unsigned)| match unsigned {
        Some(_) => TokenKind::Uint(digits),
        None => TokenKind::Int(digits),
    });
    alt((map(double, TokenKind::Double), whole)).parse(input)
}

/// `1.5`, `.5`, `1e3` or `1.5e-3`.
fn double(input: &str) -> IResult<&str, &str> {
    fn exponent(input: &str) -> IResult<&str, &str> {
        recognize((one_of("eE"), opt(one_of("+-")), digit1)).parse(input)
    }
    let fraction = recognize((opt(digit1), char('.'), digit1, opt(exponent)));
    alt((fraction, recognize((digit1, exponent)))).parse(input)
}

fn name(input: &str) -> IResult<&str, TokenKind<'_>> {
    let first = satisfy(|c| c.is_ascii_alphabetic() || c == '_');
    let word = recognize(preceded(first, take_while(|c: char| c.is_ascii_alphanumeric() || c == '_')));
    let kind = |word| match word {
        "true" | "false" | "null" => TokenKind::Constant(word),
        "in" => TokenKind::Sign(word),
        _ => TokenKind::Name(word),
    };
    map(word, kind).parse(input)
}

fn sign(input: &str) -> IResult<&str, TokenKind<'_>> {
    let two = alt((tag("=="), tag("!="), tag("<="), tag(">="), tag("&&"), tag("||")));
    map(alt((two, recognize(one_of("<>!+-*/%?:.,()[]{}")))), TokenKind::Sign).parse(input)
}
