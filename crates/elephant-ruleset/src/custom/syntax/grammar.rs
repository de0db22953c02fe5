//! Operators and their precedence.

mod value;

use super::super::mistake::Mistake;
use super::cursor::Cursor;
use super::token::{Token, TokenKind};
use super::{Expr, Infix, Kind, MAX_NESTING, Prefix, Span, mistakes};

/// Binary operators except `||` and `&&`, from lowest to highest precedence.
const LEVELS: [&[(&str, Infix)]; 3] = [
    &[
        ("==", Infix::Equal),
        ("!=", Infix::NotEqual),
        ("<", Infix::Less),
        ("<=", Infix::AtMost),
        (">", Infix::Greater),
        (">=", Infix::AtLeast),
        ("in", Infix::In),
    ],
    &[("+", Infix::Plus), ("-", Infix::Minus)],
    &[("*", Infix::Times), ("/", Infix::Over), ("%", Infix::Remainder)],
];

/// Parses the tokens of `source`.
///
/// # Errors
/// The first mistake.
pub(super) fn parse(source: &str, tokens: &[Token<'_>]) -> Result<Expr, Mistake> {
    let mut cursor = Cursor::new(source, tokens);
    if *cursor.kind() == TokenKind::End {
        return Err(Mistake::new(0, 0, "the expression is empty"));
    }
    let expr = expression(&mut cursor)?;
    match cursor.kind() {
        TokenKind::End => Ok(expr),
        _ => Err(cursor.no_operator("an operator or the end")),
    }
}

/// Any expression: `condition ? one : other`, or one of higher precedence.
pub(super) fn expression(cursor: &mut Cursor<'_>) -> Result<Expr, Mistake> {
    cursor.nesting += 1;
    if cursor.nesting > MAX_NESTING {
        return Err(mistakes::too_deep(&cursor.span()));
    }
    let start = cursor.span().start;
    let condition = disjunction(cursor)?;
    let expr = if let Some(mark) = cursor.take("?") {
        let one = disjunction(cursor)?;
        cursor.expect(":", "an operator, or \":\" and the alternative")?;
        let other = expression(cursor)?;
        Expr::new(Kind::Choice([condition, one, other].into()), cursor.since(start), mark)?
    } else {
        condition
    };
    cursor.nesting -= 1;
    Ok(expr)
}

fn disjunction(cursor: &mut Cursor<'_>) -> Result<Expr, Mistake> {
    logic(cursor, "||", Infix::Or, conjunction)
}

fn conjunction(cursor: &mut Cursor<'_>) -> Result<Expr, Mistake> {
    logic(cursor, "&&", Infix::And, |cursor| chain(cursor, 0))
}

/// Operands joined by the same logical operator.
fn logic<'s>(
    cursor: &mut Cursor<'s>,
    sign: &str,
    infix: Infix,
    operand: impl Fn(&mut Cursor<'s>) -> Result<Expr, Mistake>,
) -> Result<Expr, Mistake> {
    let first = operand(cursor)?;
    let mut rest = Vec::new();
    while let Some(mark) = cursor.take(sign) {
        rest.push((mark, operand(cursor)?));
    }
    balanced(infix, first, rest)
}

/// Operands joined by the same logical operator, as a tree with as few levels as possible.
fn balanced(infix: Infix, first: Expr, mut rest: Vec<(Span, Expr)>) -> Result<Expr, Mistake> {
    let mut after = rest.split_off(rest.len() / 2).into_iter();
    let Some((mark, middle)) = after.next() else { return Ok(first) };
    let left = balanced(infix, first, rest)?;
    let right = balanced(infix, middle, after.collect())?;
    let span = left.span.start..right.span.end;
    Expr::new(Kind::Infix(infix, [left, right].into()), span, mark)
}

/// Operands joined by operators of `LEVELS[level]`, grouped from left to right.
fn chain(cursor: &mut Cursor<'_>, level: usize) -> Result<Expr, Mistake> {
    let Some(operators) = LEVELS.get(level) else { return prefixed(cursor) };
    let start = cursor.span().start;
    let mut left = chain(cursor, level + 1)?;
    while let Some((_, infix)) = operators.iter().find(|(sign, _)| cursor.is(sign)) {
        let mark = cursor.next();
        let right = chain(cursor, level + 1)?;
        left = Expr::new(Kind::Infix(*infix, [left, right].into()), cursor.since(start), mark)?;
    }
    Ok(left)
}

/// `!x` or `-x`. Two in a row cancel out. A single minus before a number belongs to the number.
fn prefixed(cursor: &mut Cursor<'_>) -> Result<Expr, Mistake> {
    let (sign, prefix) = match cursor.kind() {
        TokenKind::Sign("!") => ("!", Prefix::Not),
        TokenKind::Sign("-") if !value::is_negative_number(cursor) => ("-", Prefix::Minus),
        _ => return value::member(cursor),
    };
    let mark = cursor.span();
    let mut is_odd = false;
    while cursor.take(sign).is_some() {
        is_odd = !is_odd;
    }
    let of = value::member(cursor)?;
    if is_odd { Expr::new(Kind::Prefix(prefix, of.into()), cursor.since(mark.start), mark) } else { Ok(of) }
}
