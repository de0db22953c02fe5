//! The catalogue of rules. A heuristic reads the task table and returns facts, which the templates next to its
//! [`Rule`] word. It never formats tables, never prints, and does not know where its thresholds come from.
//!
//! A rule is a row of [`BUILT_IN`]: its id, the YAML of its parameters (`rules/…/<id>.yaml`, the only place for
//! default numbers), its page (`rules/…/<id>.md`, the same text for `rules show`, the docs and every
//! report), and the type that checks it.

mod any;
mod mapreduce;
mod spark;

use elephant_analysis::root_cause;
use elephant_base::stats::{max_concurrent, split};
use elephant_catalogue::{
    Catalogue, Check, NOT_MEASURED, Remedy, Rule, Shared, Stragglers, chart_limit, load,
};
use elephant_rule::wording;

/// A rule with its YAML and page in `rules/<engine>/<id>`: its
/// [`Provenance`](elephant_rule::finding::Provenance) (`Own` or `DrElephant { version: "2.0.9" }`), id, title, the
/// [`TroubleKind`](elephant_rule::finding::TroubleKind) that its findings tell, its parameters, and how they make the check.
macro_rules! rule {
    ($engine:literal, $provenance:ident $({ $($version:tt)* })?, $id:literal, $title:literal, tells $kind:ident, $params:ty, $load:expr) => {
        $crate::Rule {
            id: $id,
            title: $title,
            folder: $engine,
            place: (file!(), line!()),
            facts: elephant_rule::finding::RuleFacts::of(
                elephant_rule::finding::Provenance::$provenance $({ $($version)* })?,
                elephant_rule::finding::TroubleKind::$kind,
            ),
            defaults: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/", $engine, "/", $id, ".yaml")),
            page: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/", $engine, "/", $id, ".md")),
            load: $load,
            keys: <$params as elephant_rule::params::Params>::keys,
        }
    };
}
use rule;

/// Every built-in rule, in the order of the documentation.
pub const BUILT_IN: Catalogue = Catalogue(&[mapreduce::RULES, spark::RULES, spark::QUERY_RULES, any::RULES]);
