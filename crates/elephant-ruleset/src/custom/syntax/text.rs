//! Quoted texts.

use nom::branch::alt;
use nom::bytes::complete::{tag, take_while_m_n};
use nom::character::complete::{anychar, char, one_of};
use nom::combinator::{map_opt, opt, recognize};
use nom::sequence::preceded;
use nom::{IResult, Parser};

use super::super::mistake::Mistake;
use super::mistakes;
use super::token::TokenKind;

/// The start of a text.
#[derive(Clone, Copy)]
struct Opening<'s> {
    /// `b`: bytes.
    bytes: bool,
    /// `r`: backslashes are literal.
    raw: bool,
    /// One quote, or three. The text ends with the same quotes.
    quote: &'s str,
}

/// A text or bytes and the rest of the input; `None` if the input starts with no quote. The mistake's
/// position counts from `input`.
pub(super) fn quoted(input: &str) -> Option<Result<(&str, TokenKind<'_>), Mistake>> {
    let (body, opening) = opening(input).ok()?;
    Some(decode(input, body, opening))
}

fn opening(input: &str) -> IResult<&str, Opening<'_>> {
    let quote = alt((tag("\"\"\""), tag("'''"), tag("\""), tag("'")));
    let (rest, (bytes, raw, quote)) = (opt(one_of("bB")), opt(one_of("rR")), quote).parse(input)?;
    Ok((rest, Opening { bytes: bytes.is_some(), raw: raw.is_some(), quote }))
}

fn decode<'s>(
    input: &'s str,
    body: &'s str,
    opening: Opening<'_>,
) -> Result<(&'s str, TokenKind<'s>), Mistake> {
    let unclosed = || mistakes::unclosed(input.len() - body.len(), opening.quote);
    let several_lines = opening.quote.len() == 3;
    let mut text = String::new();
    let mut rest = body;
    loop {
        if let Some(after) = rest.strip_prefix(opening.quote) {
            let kind = if opening.bytes { TokenKind::Bytes } else { TokenKind::Text(text) };
            return Ok((after, kind));
        }
        let c = rest.chars().next().ok_or_else(unclosed)?;
        let mut after = rest.get(c.len_utf8()..).unwrap_or_default();
        match c {
            '\\' if !opening.raw => {
                let Ok((left, character)) = escape(rest, opening.bytes) else {
                    return Err(mistakes::no_escape(input.len() - rest.len(), after));
                };
                text.push(character);
                after = left;
            }
            '\n' | '\r' if !several_lines => return Err(unclosed()),
            // Any line ending becomes a single character.
            '\r' => {
                text.push('\n');
                after = after.strip_prefix('\n').unwrap_or(after);
            }
            _ => text.push(c),
        }
        rest = after;
    }
}

/// `\n`, `\x41`, `\u0041`, `\U00000041` or `\101`; bytes have no `\u` and no `\U`.
fn escape(input: &str, bytes: bool) -> IResult<&str, char> {
    let letter = map_opt(anychar, |c| {
        Some(match c {
            'a' => '\x07',
            'b' => '\x08',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            '\\' | '\'' | '"' | '`' | '?' => c,
            _ => return None,
        })
    });
    let octal = recognize((one_of("0123"), one_of("01234567"), one_of("01234567")));
    let octal = map_opt(octal, |digits| character(digits, 8));
    let hex = preceded(one_of("xX"), hexadecimal(2));
    if bytes {
        return preceded(char('\\'), alt((letter, hex, octal))).parse(input);
    }
    let short = preceded(char('u'), hexadecimal(4));
    let long = preceded(char('U'), hexadecimal(8));
    preceded(char('\\'), alt((letter, hex, octal, short, long))).parse(input)
}

/// A character with this many hexadecimal digits.
fn hexadecimal<'s>(digits: usize) -> impl Parser<&'s str, Output = char, Error = nom::error::Error<&'s str>> {
    map_opt(take_while_m_n(digits, digits, |c: char| c.is_ascii_hexdigit()), |text| character(text, 16))
}

fn character(digits: &str, radix: u32) -> Option<char> {
    u32::from_str_radix(digits, radix).ok().and_then(char::from_u32)
}
