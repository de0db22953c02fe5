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
