//! What an expression gives, or why it gives nothing.

use std::borrow::Cow;

use super::node::{Aggregate, Node};
use crate::heuristics::split::TwoGroups;

/// What an expression gives.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value<'a> {
    /// A number, never NaN.
    Number(f64),
    /// A text.
    Text(Cow<'a, str>),
    /// Yes or no.
    Flag(bool),
    /// A split.
    Groups(TwoGroups),
}

/// Why a value is not known.
#[derive(Debug, Clone, Copy)]
pub(super) enum Gap<'n> {
    /// The history does not tell it.
    Untold(&'n Node),
    /// No row tells what it takes.
    NoRows(&'n Aggregate),
    /// There are rows, and none fulfils the aggregate's condition.
    NoneFulfils(&'n Aggregate),
    /// 0 / 0 and the like.
    Undefined,
    /// The rule took too many steps.
    TooExpensive,
}
