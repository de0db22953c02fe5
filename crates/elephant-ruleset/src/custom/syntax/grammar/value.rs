//! Values: literals, names, calls, lists, and access to their parts.

use super::expression;
use crate::custom::mistake::Mistake;
use crate::custom::syntax::cursor::Cursor;
use crate::custom::syntax::token::TokenKind;
use crate::custom::syntax::{Expr, Kind, Literal, RESERVED, mistakes};

/// A value with `.name`, `.name(args)` and `[index]` after it.
pub(super) fn member(cursor: &mut Cursor<'_>) -> Result<Expr, Mistake> {
    let start = cursor.span().start;
    let mut expr = primary(cursor)?;
    loop {
        if cursor.take(".").is_some() {
            let TokenKind::Name(name) = cursor.kind() else {
                return Err(cursor.unexpected("a name after \".\""));
            };
            let (name, mark) = ((*name).to_owned(), cursor.next());
            expr = if cursor.take("(").is_some() {
                let args = arguments(cursor)?;
                Expr::new(Kind::Method { of: expr.into(), name, args }, cursor.since(start), mark)?
            } else {
                let span = cursor.since(start);
                Expr::new(Kind::Field { of: expr.into(), name }, span.clone(), span)?
            };
        } else if let Some(mark) = cursor.take("[") {
            let index = expression(cursor)?;
            cursor.expect("]", "an operator or \"]\"")?;
            expr = Expr::new(Kind::Index([expr, index].into()), cursor.since(start), mark)?;
        } else {
            return Ok(expr);
        }
    }
}

fn primary(cursor: &mut Cursor<'_>) -> Result<Expr, Mistake> {
    let start = cursor.span().start;
    let kind = match cursor.kind() {
        TokenKind::Name(_) => return named(cursor),
        TokenKind::Sign(".") if matches!(cursor.kind_after(1), TokenKind::Name(_)) => return named(cursor),
        TokenKind::Sign("(") => {
            cursor.next();
            let expr = expression(cursor)?;
            cursor.expect(")", "an operator or \")\"")?;
            return Ok(expr);
        }
        TokenKind::Sign("[") => {
            cursor.next();
            Kind::List(listed(cursor, "]", expression)?)
        }
        TokenKind::Sign("{") => {
            cursor.next();
            Kind::Map(listed(cursor, "}", entry)?)
        }
        _ => Kind::Literal(literal(cursor)?),
    };
    let span = cursor.since(start);
    Expr::new(kind, span.clone(), span)
}

/// Whether a minus and a number come next.
pub(super) fn is_negative_number(cursor: &Cursor<'_>) -> bool {
    cursor.is("-") && matches!(cursor.kind_after(1), TokenKind::Int(_) | TokenKind::Double(_))
}

fn literal(cursor: &mut Cursor<'_>) -> Result<Literal, Mistake> {
    let start = cursor.span().start;
    let sign = if is_negative_number(cursor) {
        cursor.next();
        "-"
    } else {
        ""
    };
    let literal = match cursor.kind() {
        TokenKind::Int(digits) => int(sign, digits).map(Literal::Int),
        TokenKind::Uint(digits) => uint(digits).map(Literal::Uint),
        TokenKind::Double(digits) => double(sign, digits).map(Literal::Double),
        TokenKind::Text(text) => Some(Literal::Text(text.clone())),
        TokenKind::Bytes => Some(Literal::Bytes),
        TokenKind::Constant("null") => Some(Literal::Null),
        TokenKind::Constant(word) => Some(Literal::Flag(*word == "true")),
        _ => return Err(cursor.no_value()),
    };
    cursor.next();
    literal.ok_or_else(|| mistakes::too_large(&cursor.since(start)))
}

fn int(sign: &str, digits: &str) -> Option<i64> {
    let (digits, radix) = split_radix(digits);
    i64::from_str_radix(&format!("{sign}{digits}"), radix).ok()
}

fn uint(digits: &str) -> Option<u64> {
    let (digits, radix) = split_radix(digits);
    u64::from_str_radix(digits, radix).ok()
}

fn split_radix(digits: &str) -> (&str, u32) {
    digits.strip_prefix("0x").map_or((digits, 10), |digits| (digits, 16))
}

fn double(sign: &str, digits: &str) -> Option<f64> {
    format!("{sign}{digits}").parse().ok().filter(|number: &f64| number.is_finite())
}

/// A name, a call or a message, with an optional leading dot.
fn named(cursor: &mut Cursor<'_>) -> Result<Expr, Mistake> {
    if let Some(length) = message_name(cursor) {
        return message(cursor, length);
    }
    let start = cursor.span().start;
    let length = if cursor.take(".").is_some() { 2 } else { 1 };
    if let TokenKind::Name(word) = cursor.kind()
        && RESERVED.contains(word)
    {
        return Err(mistakes::reserved(word, &cursor.span()));
    }
    cursor.next();
    let (name, mark) = (cursor.joined(length), cursor.since(start));
    if cursor.take("(").is_some() {
        let args = arguments(cursor)?;
        return Expr::new(Kind::Call { name, args }, cursor.since(start), mark);
    }
    Expr::new(Kind::Name(name), mark.clone(), mark)
}

/// The number of tokens in the name of the message that starts here; `None` if none starts here.
fn message_name(cursor: &Cursor<'_>) -> Option<usize> {
    let mut length = usize::from(cursor.is("."));
    while let TokenKind::Name(_) = cursor.kind_after(length) {
        length += 1;
        match cursor.kind_after(length) {
            TokenKind::Sign("{") => return Some(length),
            TokenKind::Sign(".") => length += 1,
            _ => return None,
        }
    }
    None
}

/// A message whose name has this many tokens.
fn message(cursor: &mut Cursor<'_>, length: usize) -> Result<Expr, Mistake> {
    let start = cursor.span().start;
    cursor.skip(length);
    let name = cursor.joined(length);
    cursor.expect("{", "\"{\"")?;
    let fields = listed(cursor, "}", field)?;
    let span = cursor.since(start);
    Expr::new(Kind::Message { name, fields }, span.clone(), span)
}

fn field(cursor: &mut Cursor<'_>) -> Result<(String, Expr), Mistake> {
    let TokenKind::Name(name) = cursor.kind() else {
        return Err(cursor.unexpected("the name of a field"));
    };
    cursor.next();
    cursor.expect(":", "\":\" and a value")?;
    Ok(((*name).to_owned(), expression(cursor)?))
}

fn entry(cursor: &mut Cursor<'_>) -> Result<[Expr; 2], Mistake> {
    let key = expression(cursor)?;
    cursor.expect(":", "an operator, or \":\" and a value")?;
    Ok([key, expression(cursor)?])
}

/// The arguments of a call and its closing bracket.
fn arguments(cursor: &mut Cursor<'_>) -> Result<Vec<Expr>, Mistake> {
    let mut args = Vec::new();
    if cursor.take(")").is_some() {
        return Ok(args);
    }
    loop {
        args.push(expression(cursor)?);
        if cursor.take(",").is_none() {
            cursor.expect(")", "an operator, \",\" or \")\"")?;
            return Ok(args);
        }
    }
}

/// Elements and their closing bracket. A trailing comma is allowed, even without elements.
fn listed<'s, T>(
    cursor: &mut Cursor<'s>,
    close: &str,
    element: impl Fn(&mut Cursor<'s>) -> Result<T, Mistake>,
) -> Result<Vec<T>, Mistake> {
    let mut elements = Vec::new();
    if cursor.take(",").is_none() {
        while !cursor.is(close) {
            elements.push(element(cursor)?);
            if cursor.take(",").is_none() {
                break;
            }
        }
    }
    let expected = if elements.is_empty() {
        format!("\"{close}\"")
    } else {
        format!("an operator, \",\" or \"{close}\"")
    };
    cursor.expect(close, &expected)?;
    Ok(elements)
}
