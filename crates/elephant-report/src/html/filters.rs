//! Template filters that turn values into text. Askama escapes their results.

// Needed for the code that askama generates from filters, and for the signatures that it expects.
#![allow(unreachable_pub, clippy::inline_always, clippy::unused_self, clippy::unnecessary_wraps)]

use std::borrow::Cow;
use std::fmt::Display;

use askama::filters::Safe;
use askama::{Result, Values};

use crate::document::html::escape::{self, visible};
pub(crate) use crate::document::html::escape::{cut_text, grouped, minute_text, moment_text};
use elephant_base::units::{MbMillis, Timestamp, show_gb_hours, three_digits};

/// A value through any number of references, as templates pass it.
pub(crate) trait Is<T> {
    fn get(&self) -> T;
}

impl<T, R: Is<T>> Is<T> for &R {
    fn get(&self) -> T {
        (**self).get()
    }
}

macro_rules! is {
    ($($type:ty),+) => {
        $(impl Is<$type> for $type {
            fn get(&self) -> $type {
                *self
            }
        })+
    };
}
is!(u64, f64, MbMillis, Timestamp);

/// Text from a history. Characters that could hide or reorder text are made visible.
#[askama::filter_fn]
pub(crate) fn shown<T: Display>(text: T, _: &dyn Values) -> Result<String> {
    Ok(visible(&text.to_string()))
}

/// Like [`shown`], cut to `most` characters, with an ellipsis if it was longer.
#[askama::filter_fn]
pub(crate) fn cut<T: Display>(text: T, _: &dyn Values, most: usize) -> Result<String> {
    Ok(cut_text(&text.to_string(), most))
}

/// Sentences, cut to `most` characters. No line ends inside of a flag, or between a number and its unit. In tables, long
/// words such as paths are broken after punctuation. Text in backticks is code.
#[askama::filter_fn]
pub(crate) fn prose<T: Display>(text: T, _: &dyn Values, most: usize) -> Result<Safe<String>> {
    Ok(Safe(escape::prose(&text.to_string(), most)))
}

/// Names, cut to `most` characters. In narrow columns, lines end after punctuation.
#[askama::filter_fn]
pub(crate) fn dotted<T: Display>(text: T, _: &dyn Values, most: usize) -> Result<Safe<String>> {
    Ok(Safe(escape::dotted(&text.to_string(), most)))
}

/// Gigabyte-hours.
#[askama::filter_fn]
pub(crate) fn gb_hours<T: Is<MbMillis>>(amount: T, _: &dyn Values) -> Result<String> {
    Ok(format!("{} GB·h", show_gb_hours(amount.get())))
}

/// Gigabyte-hours without the unit.
#[askama::filter_fn]
pub(crate) fn hours<T: Is<MbMillis>>(amount: T, _: &dyn Values) -> Result<String> {
    Ok(show_gb_hours(amount.get()))
}

/// A time, to the second.
#[askama::filter_fn]
pub(crate) fn moment<T: Is<Timestamp>>(at: T, _: &dyn Values) -> Result<String> {
    Ok(moment_text(at.get()))
}

/// A time, to the minute, for tables.
#[askama::filter_fn]
pub(crate) fn minute<T: Is<Timestamp>>(at: T, _: &dyn Values) -> Result<String> {
    Ok(minute_text(at.get()))
}

/// A number with three digits.
#[askama::filter_fn]
pub(crate) fn digits<T: Is<f64>>(value: T, _: &dyn Values) -> Result<String> {
    Ok(three_digits(value.get()))
}

/// A coordinate in a drawing.
#[askama::filter_fn]
pub(crate) fn px<T: Is<f64>>(value: T, _: &dyn Values) -> Result<String> {
    Ok(format!("{:.1}", value.get()))
}

/// A percentage in a drawing.
#[askama::filter_fn]
pub(super) fn share<T: Is<f64>>(value: T, _: &dyn Values) -> Result<String> {
    Ok(format!("{:.2}", value.get()))
}

/// A count with thousands separators.
#[askama::filter_fn]
pub(crate) fn count<T: Is<u64>>(value: T, _: &dyn Values) -> Result<String> {
    Ok(grouped(value.get()))
}

/// "1 more run is", "1,200 more runs are".
#[askama::filter_fn]
pub(crate) fn more<T: Is<u64>>(value: T, _: &dyn Values, one: &str, several: &str) -> Result<String> {
    let count = value.get();
    Ok(format!("{} more {}", grouped(count), if count == 1 { one } else { several }))
}

/// "1 task", "1,200 tasks".
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// Visible text, for text of several lines. Borrowed if nothing changes.
pub(crate) fn visible_lines(text: &str) -> Cow<'_, str> {
    let lines: Vec<String> = text.split('\n').map(visible).collect();
    let shown = lines.join("\n");
    if shown == text { Cow::Borrowed(text) } else { Cow::Owned(shown) }
}
