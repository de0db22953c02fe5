//! The catalogue of rules. A heuristic reads the task table and returns facts, which the templates next to its
//! [`Rule`](elephant_catalogue::Rule) word. It never formats tables, never prints, and does not know where its thresholds
//! come from.
//!
//! A rule is a row of [`BUILT_IN`]: its id, the YAML of its parameters (`rules/…/<id>.yaml`, the only place for
//! default numbers), its page (`rules/…/<id>.md`, the same text for `rules show`, the docs and every
//! report), and the type that checks it.

mod any;
#[cfg(test)]
mod built_in;
mod declare;
mod mapreduce;
mod shown;
mod spark;
mod tez;

use elephant_catalogue::Catalogue;

/// Every built-in rule, in the order of the documentation.
pub const BUILT_IN: Catalogue =
    Catalogue(&[mapreduce::RULES, tez::RULES, spark::RULES, spark::QUERY_RULES, any::RULES]);
