//! The declaration of a rule: one macro for each folder of `rules`.

/// A rule with its YAML and page in `rules/<engine>/<id>`: its
/// [`Provenance`](elephant_rule::finding::Provenance) (`Own` or `DrElephant { version: "2.0.9" }`), id, title, the
/// [`TroubleKind`](elephant_rule::finding::TroubleKind) that its findings tell, its parameters, and how they make the check.
macro_rules! rule {
    ($engine:literal, $provenance:ident $({ $($version:tt)* })?, $id:literal, $title:literal, tells $kind:ident, $params:ty, $load:expr) => {
        elephant_catalogue::Rule {
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
pub(crate) use rule;

/// A rule in `rules/mapreduce`.
macro_rules! mapreduce {
    ($($fact:tt)+) => {
        $crate::declare::rule!("mapreduce", $($fact)+)
    };
}
pub(crate) use mapreduce;

/// A rule in `rules/spark`.
macro_rules! spark {
    ($($fact:tt)+) => {
        $crate::declare::rule!("spark", $($fact)+)
    };
}
pub(crate) use spark;

/// A rule in `rules/tez`.
macro_rules! tez {
    ($($fact:tt)+) => {
        $crate::declare::rule!("tez", $($fact)+)
    };
}
pub(crate) use tez;

/// A rule in `rules/any`.
macro_rules! any {
    ($($fact:tt)+) => {
        $crate::declare::rule!("any", $($fact)+)
    };
}
pub(crate) use any;
