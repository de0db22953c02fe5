//! The result of an expression, or why it is unknown.

use std::borrow::Cow;

use super::node::{Aggregate, Node};
use elephant_base::stats::split::TwoGroups;

/// The result of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value<'a> {
    /// A number, never NaN.
    Number(f64),
    /// A text.
    Text(Cow<'a, str>),
    /// True or false.
    Flag(bool),
    /// A split.
    Groups(TwoGroups),
}

/// Why a value is unknown.
#[derive(Debug, Clone, Copy)]
pub(super) enum Gap<'n> {
    /// The history does not contain it.
    Untold(&'n Node),
    /// No row has the value.
    NoRows(&'n Aggregate),
    /// Rows exist, but none fulfils the aggregate's condition.
    NoneFulfils(&'n Aggregate),
    /// A number is divided by 0, so there is no result.
    DividedByZero,
    /// `null`, the square root of a negative number, and other undefined results.
    Undefined,
    /// The rule took too many steps.
    TooExpensive,
}
