//! What the figures of built-in rules are computed from. A figure without a row is computed by its rule.

mod mapreduce;
mod spark;

use super::basis::Basis;

/// Rules, the key of a figure in their evidence, and what it is computed from.
pub(super) type Row = (&'static [&'static str], &'static str, Basis);

pub(super) const ALL: [&[Row]; 2] = [mapreduce::TABLE, spark::TABLE];
