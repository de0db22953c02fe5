//! What a rule is to the rest of the program: a [`Check`] that judges one application, the [`RuleFacts`] that presets, the
//! gate, charts and other rules read, its built-in parameters and its page. A [`Catalogue`] lists rules; which of them apply,
//! and with which limits, is the rule set's to say.

mod advice;
mod check;
mod shared;

use std::sync::Arc;

use elephant_rule::finding::{
    ChartLimit, ComparedWith, Container, KeyMeasure, RuleFacts, TroubleKind, Worse,
};
use elephant_rule::params::layers::{Layers, Parameter};
use elephant_rule::params::{Key, Params};

pub use advice::{AdviceParams, AdviceParamsLayer, Advised};
pub use check::{Check, NOT_MEASURED, Remedy};
pub use shared::{Shared, Stragglers};

/// A rule in the catalogue.
#[derive(Clone, Copy)]
pub struct Rule {
    /// Stable, kebab-case.
    pub id: &'static str,
    /// The display name.
    pub title: &'static str,
    /// The folder of its files below `rules/`.
    pub folder: &'static str,
    /// The file and line of its declaration, for messages to contributors.
    pub place: (&'static str, u32),
    /// Facts for presets, the gate, charts and other rules.
    pub facts: RuleFacts,
    /// The built-in parameters.
    pub defaults: &'static str,
    /// The rule's page in Markdown.
    pub page: &'static str,
    /// Reads the rule's parameters from layers, the built-in one first; `None` if that one is incomplete. The other ones are
    /// those of advice.
    pub load: fn(&mut Layers<'_>, &Arc<AdviceParams>) -> Option<Loaded>,
    /// The keys of its parameters.
    pub keys: fn() -> &'static [Key],
}

/// Facts that only some rules have.
impl Rule {
    /// The measure under `key` shows the gate how bad a finding is. See [`KeyMeasure`] for rules without one.
    #[must_use]
    pub const fn measured_by(mut self, key: &'static str, worse: Worse) -> Self {
        self.facts.key_measure = Some(KeyMeasure { key, worse });
        self
    }

    /// Charts show the cut-offs of `limits`.
    #[must_use]
    pub const fn charted(mut self, limits: &'static [ChartLimit]) -> Self {
        self.facts.chart_limits = limits;
        self
    }

    /// Some findings indicate one of these kinds of trouble instead.
    #[must_use]
    pub const fn also_telling(mut self, kinds: &'static [TroubleKind]) -> Self {
        self.facts.also_tells = kinds;
        self
    }

    /// The rule's advice sets the memory of `container`.
    #[must_use]
    pub const fn sizing(mut self, container: Container) -> Self {
        self.facts.sizes = Some(container);
        self
    }
}

/// A threshold for [`Rule::charted`].
#[must_use]
pub const fn chart_limit(key: &'static str, compared_with: ComparedWith) -> ChartLimit {
    ChartLimit { key, compared_with }
}

/// The rules of a program, by engine, in the order of the documentation.
#[derive(Clone, Copy)]
pub struct Catalogue(pub &'static [&'static [Rule]]);

#[doc(hidden)]
impl Catalogue {
    /// Every rule.
    pub fn rules(self) -> impl Iterator<Item = &'static Rule> {
        self.0.iter().copied().flatten()
    }

    /// The rule of this id.
    #[must_use]
    pub fn rule(self, id: &str) -> Option<&'static Rule> {
        self.rules().find(|rule| rule.id == id)
    }
}

/// A rule with its parameters.
pub struct Loaded {
    /// The check with its parameters.
    pub check: Box<dyn Check>,
    /// The parameters for reports.
    pub params: Vec<Parameter>,
}

/// Reads the parameters `P` and creates the check.
#[must_use]
pub fn load<P: Params, C: Check + 'static>(layers: &mut Layers<'_>, make: fn(P) -> C) -> Option<Loaded> {
    let (params, parameters) = layers.params::<P>()?;
    Some(Loaded { check: Box::new(make(params)), params: parameters })
}

/// Reads the parameters `P` and creates a check that also uses the parameters of advice.
#[must_use]
pub fn load_advised<P: Params, C: Check + 'static>(
    layers: &mut Layers<'_>,
    advice: &Arc<AdviceParams>,
    make: fn(P, Arc<AdviceParams>) -> C,
) -> Option<Loaded> {
    let (params, parameters) = layers.params::<P>()?;
    Some(Loaded { check: Box::new(make(params, Arc::clone(advice))), params: parameters })
}
