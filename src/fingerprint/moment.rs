//! Dates and times of day as names spell them.

use nom::branch::alt;
use nom::bytes::complete::{tag, take_while_m_n};
use nom::character::complete::{char, digit1, one_of, satisfy};
use nom::combinator::{not, opt, recognize, verify};
use nom::multi::many0;
use nom::sequence::{preceded, terminated};
use nom::{IResult, Parser};

/// A date with its year, and the time of day that follows.
pub(super) fn moment(input: &str) -> IResult<&str, &str> {
    let with_clock = (
        date,
        separator,
        hour,
        opt_separator,
        minute,
        opt((opt_separator, second)),
        opt(fraction),
        opt(zone),
    );
    let with_hour = (date, one_of("T_-./"), hour, opt(char('h')));
    alt((bounded(recognize(with_clock)), bounded(recognize(with_hour)), bounded(date))).parse(input)
}

/// `2026-11-20`, `20261120`, `20/11/2026`, `2026-11`.
fn date(input: &str) -> IResult<&str, &str> {
    let same = |sign: &'static str| {
        alt((
            recognize((year, tag(sign), month, tag(sign), day)),
            recognize((day, tag(sign), month, tag(sign), year)),
            recognize((month, tag(sign), day, tag(sign), year)),
        ))
    };
    let compact = recognize((year, month, day));
    let year_and_month = bounded(recognize((year, one_of("-/_."), month)));
    alt((same("-"), same("/"), same("_"), same("."), compact, year_and_month)).parse(input)
}

/// `11-20`, without a year.
pub(super) fn month_and_day(input: &str) -> IResult<&str, &str> {
    let follows = (one_of("-./:"), satisfy(is_digit));
    terminated(bounded(recognize((month, char('-'), day))), not(follows)).parse(input)
}

/// `12:30`, `12:30:45.123`.
pub(super) fn clock(input: &str) -> IResult<&str, &str> {
    let seconds = (char(':'), second, opt(fraction));
    terminated(bounded(recognize((hour, char(':'), minute, opt(seconds)))), not(char(':'))).parse(input)
}

/// What no digit follows.
pub(super) fn bounded<'a>(
    parser: impl Parser<&'a str, Output = &'a str, Error = nom::error::Error<&'a str>>,
) -> impl Parser<&'a str, Output = &'a str, Error = nom::error::Error<&'a str>> {
    terminated(parser, not(satisfy(is_digit)))
}

pub(super) fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// So many digits that make a number of this range.
fn within(length: usize, low: u32, high: u32) -> impl Fn(&str) -> IResult<&str, &str> {
    move |input| {
        let fits = |digits: &str| digits.parse().is_ok_and(|number: u32| (low..=high).contains(&number));
        verify(take_while_m_n(length, length, is_digit), fits).parse(input)
    }
}

fn year(input: &str) -> IResult<&str, &str> {
    within(4, 1990, 2099)(input)
}

fn month(input: &str) -> IResult<&str, &str> {
    within(2, 1, 12)(input)
}

fn day(input: &str) -> IResult<&str, &str> {
    within(2, 1, 31)(input)
}

fn hour(input: &str) -> IResult<&str, &str> {
    within(2, 0, 24)(input)
}

fn minute(input: &str) -> IResult<&str, &str> {
    within(2, 0, 59)(input)
}

fn second(input: &str) -> IResult<&str, &str> {
    within(2, 0, 60)(input)
}

fn separator(input: &str) -> IResult<&str, &str> {
    recognize(many0(one_of("T _-./:"))).parse(input)
}

fn opt_separator(input: &str) -> IResult<&str, &str> {
    recognize(opt(one_of("_-.:"))).parse(input)
}

fn fraction(input: &str) -> IResult<&str, &str> {
    preceded(one_of(".,"), digit1).parse(input)
}

fn zone(input: &str) -> IResult<&str, &str> {
    let offset = recognize((one_of("+-"), hour, opt(char(':')), minute));
    alt((tag("Z"), offset)).parse(input)
}
