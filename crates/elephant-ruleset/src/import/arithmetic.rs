//! Numbers as Dr. Elephant's configuration writes them. Dr. Elephant evaluates them as JavaScript; users
//! write `1/8`.

use nom::branch::alt;
use nom::character::complete::{char, multispace0, one_of};
use nom::combinator::{all_consuming, map};
use nom::multi::fold_many0;
use nom::number::complete::double;
use nom::sequence::{delimited, pair};
use nom::{IResult, Parser};

/// Longer texts are not numbers, and nested brackets use the stack.
const MAX_LEN: usize = 200;

/// The value of `1/8`, `2*3` or `(1+2)/4`.
///
/// # Errors
/// If it is not a finite number of at least 0.
pub(super) fn evaluate(text: &str) -> Result<f64, String> {
    let no_number = || format!("not a number (\"{}\")", text.trim());
    if text.len() > MAX_LEN {
        return Err("too long for a number".to_owned());
    }
    let (_, value) = all_consuming(sum).parse(text).map_err(|_| no_number())?;
    if value.is_finite() && value >= 0.0 { Ok(value) } else { Err(no_number()) }
}

fn sum(input: &str) -> IResult<&str, f64> {
    let (input, first) = product(input)?;
    let more = pair(one_of("+-"), product);
    fold_many0(more, move || first, |sum, (sign, value)| if sign == '+' { sum + value } else { sum - value })
        .parse(input)
}

fn product(input: &str) -> IResult<&str, f64> {
    let (input, first) = factor(input)?;
    let more = pair(one_of("*/"), factor);
    let combine =
        |product, (sign, value): (char, f64)| if sign == '*' { product * value } else { product / value };
    fold_many0(more, move || first, combine).parse(input)
}

fn factor(input: &str) -> IResult<&str, f64> {
    let bracketed = delimited(char('('), sum, char(')'));
    delimited(multispace0, alt((bracketed, map(double, |number| number))), multispace0).parse(input)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_users_write_them() {
        for (text, value) in
            [("1/8", 0.125), (" 2 * 3 ", 6.0), ("(1+2)/4", 0.75), ("1e3", 1000.0), ("10-2-3", 5.0)]
        {
            assert_eq!(evaluate(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn other_texts_are_rejected() {
        for text in
            ["", "x", "1/0", "1,2", "1 2", "-1", "Math.pow(2, 3)", "NaN", "Infinity", "(1", &"(".repeat(150)]
        {
            assert!(evaluate(text).is_err(), "{text}");
        }
        assert!(evaluate(&"1+".repeat(10_000)).is_err());
    }
}
