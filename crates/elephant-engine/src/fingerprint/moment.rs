//! Dates and times of day in names.

use nom::branch::alt;
use nom::bytes::complete::{tag, tag_no_case, take_while_m_n, take_while1};
use nom::character::complete::{char, digit1, one_of, satisfy};
use nom::combinator::{eof, not, opt, peek, recognize, verify};
use nom::multi::many0;
use nom::sequence::{preceded, terminated};
use nom::{IResult, Parser};

/// The names of months; their first three letters are enough.
const MONTHS: [&str; 13] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "sept",
    "september",
    "october",
    "november",
    "december",
];

/// The names of the days of the week; their first three letters are enough.
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// A date with a year, and an optional time of day.
pub(super) fn moment(input: &str) -> IResult<&str, &str> {
    timed(date, input)
}

/// The same with the name of a month or a day of the week: `20 Nov 2026`, `Fri 2026-11-20`.
pub(super) fn named_moment(input: &str) -> IResult<&str, &str> {
    let with_weekday = |input| recognize((weekday, gap, alt((named_date, date)))).parse(input);
    timed(named_date, input).or_else(|_| timed(with_weekday, input))
}

/// The date that `date` reads, and an optional time of day.
fn timed<'a>(
    date: impl Fn(&'a str) -> IResult<&'a str, &'a str>,
    input: &'a str,
) -> IResult<&'a str, &'a str> {
    let with_clock = (
        &date,
        separator,
        alt((hour, single_hour)),
        opt_separator,
        minute,
        opt((opt_separator, second)),
        opt(fraction),
        opt(alt((zone, half_of_day))),
    );
    let with_letter = (&date, one_of("T_-./ "), alt((hour, within(1, 0, 9))), char('h'), end_of_word);
    let with_hour = (&date, one_of("T_-./"), hour, opt(char('h')));
    alt((
        bounded(recognize(with_clock)),
        recognize(with_letter),
        bounded(recognize(with_hour)),
        bounded(&date),
    ))
    .parse(input)
}

/// `2026-11-20`, `2026-11-5`, `20261120`, `20/11/2026`, `2026-11`, `2026-W47`.
fn date(input: &str) -> IResult<&str, &str> {
    let day_first = |sign: &'static str| {
        alt((
            recognize((loose_day, tag(sign), loose_month, tag(sign), year)),
            recognize((loose_month, tag(sign), loose_day, tag(sign), year)),
        ))
    };
    let same = |sign: &'static str| {
        alt((recognize((year, tag(sign), loose_month, tag(sign), loose_day)), day_first(sign)))
    };
    // `2026.1.5` is more often a version than a date.
    let dotted = alt((recognize((year, char('.'), month, char('.'), day)), day_first(".")));
    let compact = recognize((year, month, day));
    let year_and_month = bounded(recognize((year, one_of("-/_."), month)));
    alt((same("-"), same("/"), same("_"), dotted, iso_week, compact, year_and_month)).parse(input)
}

/// `2026-W47`, `2026W47-5`.
fn iso_week(input: &str) -> IResult<&str, &str> {
    let week = alt((within(2, 1, 53), bounded(within(1, 1, 9))));
    let of_week = opt(bounded(recognize((char('-'), one_of("1234567")))));
    recognize((year, opt(one_of("-_")), one_of("Ww"), week, of_week)).parse(input)
}

/// `20 Nov 2026`, `20-Nov-26`, `November 20th, 2026`, `Nov 20 09:05:33 UTC 2026`, `2026-Nov-20`, `Nov 2026`.
fn named_date(input: &str) -> IResult<&str, &str> {
    let ordinal = || {
        let ending = alt((tag_no_case("st"), tag_no_case("nd"), tag_no_case("rd"), tag_no_case("th")));
        (loose_day, opt(ending))
    };
    // `apr_20261120` is a word and a date in digits, not a month with a year and a time.
    let last_year = || bounded(year);
    let zone_name = take_while1(|c: char| c.is_ascii_uppercase());
    let by_date_command = (
        month_name,
        char(' '),
        loose_day,
        char(' '),
        clock,
        opt((char(' '), zone_name)),
        char(' '),
        last_year(),
    );
    let short_year = take_while_m_n(2, 2, is_digit);
    alt((
        recognize(by_date_command),
        recognize((ordinal(), opt_gap, month_name, opt_gap, last_year())),
        recognize((loose_day, char('-'), month_name, char('-'), bounded(short_year))),
        recognize((month_name, opt_gap, ordinal(), gap, last_year())),
        recognize((year, opt_gap, month_name, opt_gap, loose_day)),
        recognize((month_name, opt_gap, last_year())),
        recognize((year, opt_gap, month_name, end_of_word)),
    ))
    .parse(input)
}

/// `11-20`, without a year.
pub(super) fn month_and_day(input: &str) -> IResult<&str, &str> {
    let follows = (one_of("-./:"), satisfy(is_digit));
    terminated(bounded(recognize((month, char('-'), day))), not(follows)).parse(input)
}

/// `12:30`, `9:05`, `12:30:45.123`, `9:05 PM`.
pub(super) fn clock(input: &str) -> IResult<&str, &str> {
    let seconds = (char(':'), second, opt(fraction));
    let hour = alt((hour, single_hour));
    let time = recognize((hour, char(':'), minute, opt(seconds), opt(half_of_day)));
    terminated(bounded(time), not(char(':'))).parse(input)
}

/// `14h`, `9h05`. A single digit, and 24, are durations: `last 6h`, `last 24h`.
pub(super) fn hour_with_letter(input: &str) -> IResult<&str, &str> {
    let full = recognize((within(2, 0, 23), char('h'), opt(minute)));
    let single = recognize((within(1, 0, 9), char('h'), minute));
    terminated(alt((full, single)), end_of_word).parse(input)
}

/// Text that `parser` accepts and that no digit follows.
pub(super) fn bounded<'a>(
    parser: impl Parser<&'a str, Output = &'a str, Error = nom::error::Error<&'a str>>,
) -> impl Parser<&'a str, Output = &'a str, Error = nom::error::Error<&'a str>> {
    terminated(parser, not(satisfy(is_digit)))
}

pub(super) fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// A number with this many digits and in this range.
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

/// A month with or without a leading zero.
fn loose_month(input: &str) -> IResult<&str, &str> {
    alt((month, bounded(within(1, 1, 9)))).parse(input)
}

/// A day of a month with or without a leading zero.
fn loose_day(input: &str) -> IResult<&str, &str> {
    alt((day, bounded(within(1, 1, 9)))).parse(input)
}

fn month_name(input: &str) -> IResult<&str, &str> {
    word_of(&MONTHS, input)
}

fn weekday(input: &str) -> IResult<&str, &str> {
    word_of(&WEEKDAYS, input)
}

/// One of these words, in full or its first three letters.
fn word_of<'a>(words: &[&str], input: &'a str) -> IResult<&'a str, &'a str> {
    let is_one = |found: &str| {
        let named = |word: &&str| {
            word.eq_ignore_ascii_case(found)
                || word.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(found))
        };
        words.iter().any(named)
    };
    verify(take_while1(|c: char| c.is_ascii_alphabetic()), is_one).parse(input)
}

fn hour(input: &str) -> IResult<&str, &str> {
    within(2, 0, 24)(input)
}

/// An hour without a leading zero, in a time with minutes.
fn single_hour(input: &str) -> IResult<&str, &str> {
    terminated(within(1, 0, 9), peek(char(':'))).parse(input)
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

/// The separator in a date with the name of a month.
fn gap(input: &str) -> IResult<&str, &str> {
    recognize((one_of(" -_/.,"), opt(char(' ')))).parse(input)
}

fn opt_gap(input: &str) -> IResult<&str, &str> {
    recognize(opt(gap)).parse(input)
}

fn fraction(input: &str) -> IResult<&str, &str> {
    preceded(one_of(".,"), digit1).parse(input)
}

fn zone(input: &str) -> IResult<&str, &str> {
    let offset = recognize((one_of("+-"), hour, opt(char(':')), minute));
    alt((tag("Z"), offset)).parse(input)
}

/// `AM` and `PM`.
fn half_of_day(input: &str) -> IResult<&str, &str> {
    recognize((opt(char(' ')), one_of("aApP"), one_of("mM"), end_of_word)).parse(input)
}

pub(super) fn end_of_word(input: &str) -> IResult<&str, &str> {
    alt((eof, peek(recognize(satisfy(|c| !c.is_ascii_alphanumeric()))))).parse(input)
}
