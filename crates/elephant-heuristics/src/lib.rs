//! The catalogue of rules. A heuristic reads the task table and returns facts, which the templates next to its
//! [`Rule`] word. It never formats tables, never prints, and does not know where its thresholds come from.
//!
//! A rule is a row of [`BUILT_IN`]: its id, the YAML of its parameters (`rules/…/<id>.yaml`, the only place for
//! default numbers), its page (`rules/…/<id>.md`, the same text for `rules show`, the docs and every
//! report), and the type that checks it.

mod any;
mod declare;
mod mapreduce;
mod shown;
mod spark;

use elephant_catalogue::Catalogue;

/// Every built-in rule, in the order of the documentation.
pub const BUILT_IN: Catalogue = Catalogue(&[mapreduce::RULES, spark::RULES, any::RULES]);

#[cfg(test)]
mod built_in {
    //! The parameters of `rules/advice.yaml`, for tests.

    use std::sync::LazyLock;

    use elephant_catalogue::{AdviceParams, Advised};
    use elephant_model::model::Application;
    use elephant_ruleset::RuleSet;

    static ADVICE: LazyLock<AdviceParams> =
        LazyLock::new(|| RuleSet::new(crate::BUILT_IN).unwrap().advice().clone());

    /// The application with these parameters.
    pub(crate) fn advised(app: &Application) -> Advised<'_> {
        Advised { app, advice: &ADVICE }
    }
}
