//! Typed values, which each format writes in its own way.

use std::borrow::Cow;

use elephant_base::severity::Severity;
use elephant_base::units::Millis;
use elephant_base::units::Timestamp;

/// A value of a report.
pub(crate) enum Value<'a> {
    /// There is nothing to say.
    Nothing,
    /// The value is not known.
    Unknown,
    /// A name from a history, which may be hostile.
    Name(Cow<'a, str>),
    /// Own words.
    Own(&'static str),
    /// A sentence, which may contain names.
    Words(Cow<'a, str>),
    /// A setting or a command.
    Code(Cow<'a, str>),
    /// Words with a number that rows are sorted by.
    Sorted(String, Option<f64>),
    Flag(bool),
    Count(u64),
    /// A number without a unit, in full.
    Number(f64),
    /// A number with three digits, and its unit if the title does not name it.
    #[cfg(feature = "store")]
    Amount(f64, &'a str),
    /// A percentage with this many decimals.
    Percent(f64, usize),
    /// A number with two decimals.
    Decimal(f64),
    /// Two such numbers.
    Range(f64, f64),
    Duration(Millis),
    Time(Timestamp),
    Drawing(Drawing),
}

/// A drawing on the axis of its column.
pub(crate) enum Drawing {
    /// A range with a mean.
    Interval { class: &'static str, range: (f64, f64), mean: Option<f64> },
    /// A box plot.
    Box { quartiles: (f64, f64), median: f64, whiskers: (f64, f64), outliers: Vec<f64> },
    /// Shares of a whole with their colours, one after another.
    Shares(Vec<(&'static str, f64)>),
    /// Times of two sides, in milliseconds.
    Sides([Option<f64>; 2]),
    /// Columns of the axis with their colours and texts, and a description of all.
    Days(Vec<(usize, &'static str, String)>, String),
    /// Bars over time on a scale of their own.
    #[cfg(feature = "store")]
    Bars(super::Chart),
}

/// A value in a table.
pub(crate) struct Cell<'a> {
    pub(super) value: Value<'a>,
    /// What belongs to the value, in formats with room for it.
    pub(super) remarks: Vec<Value<'a>>,
    pub(super) badge: Option<(Severity, &'static str)>,
    /// Whether the value is better or worse than another.
    pub(super) is_better: Option<bool>,
    /// What has more.
    pub(super) link: Option<Link>,
}

/// Where a link leads.
pub(crate) enum Link {
    /// To the part of the page with this id.
    Part(String),
    /// To the page of the server at this address.
    #[cfg(feature = "store")]
    Page(String),
}

impl<'a> Cell<'a> {
    pub(crate) fn remark(mut self, remark: impl Into<Option<Value<'a>>>) -> Self {
        self.remarks.extend(remark.into());
        self
    }

    /// A word in the colour of a severity, before the value.
    pub(crate) fn badge(self, severity: Severity, word: &'static str) -> Self {
        Self { badge: Some((severity, word)), ..self }
    }

    pub(crate) fn link(self, id: &str) -> Self {
        Self { link: Some(Link::Part(id.to_owned())), ..self }
    }

    /// A link to a page of the server, if there is one.
    #[cfg(feature = "store")]
    pub(crate) fn page(self, address: Option<String>) -> Self {
        Self { link: address.map(Link::Page), ..self }
    }

    pub(crate) fn better(self, is_better: bool) -> Self {
        Self { is_better: Some(is_better), ..self }
    }
}

impl<'a, T: Into<Value<'a>>> From<T> for Cell<'a> {
    fn from(value: T) -> Self {
        Self { value: value.into(), remarks: Vec::new(), badge: None, is_better: None, link: None }
    }
}

impl<'a> Value<'a> {
    pub(crate) fn words(words: impl Into<Cow<'a, str>>) -> Self {
        Self::Words(words.into())
    }

    /// The value with `make`, or unknown.
    pub(crate) fn known<T>(value: Option<T>, make: impl FnOnce(T) -> Self) -> Self {
        value.map_or(Self::Unknown, make)
    }

    /// The number that rows are sorted by; `None` for words, which are sorted by themselves.
    pub(super) fn key(&self) -> Option<String> {
        Some(match self {
            Self::Count(count) => count.to_string(),
            Self::Number(number)
            | Self::Percent(number, _)
            | Self::Decimal(number)
            | Self::Range(number, _)
            | Self::Sorted(_, Some(number)) => format!("{number:.6}"),
            #[cfg(feature = "store")]
            Self::Amount(number, _) => format!("{number:.6}"),
            Self::Duration(time) => time.get().to_string(),
            Self::Sorted(_, None) | Self::Nothing | Self::Unknown => String::new(),
            _ => return None,
        })
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(name: &'a str) -> Self {
        Self::Name(name.into())
    }
}

impl From<String> for Value<'_> {
    fn from(name: String) -> Self {
        Self::Name(name.into())
    }
}

impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<u64> for Value<'_> {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<u32> for Value<'_> {
    fn from(count: u32) -> Self {
        Self::Count(count.into())
    }
}

impl From<usize> for Value<'_> {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<Millis> for Value<'_> {
    fn from(time: Millis) -> Self {
        Self::Duration(time)
    }
}

impl From<Timestamp> for Value<'_> {
    fn from(at: Timestamp) -> Self {
        Self::Time(at)
    }
}

impl<T: Into<Self>> From<Option<T>> for Value<'_> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Unknown, Into::into)
    }
}
