//! A custom rule, checked and ready to run.

use super::combination::Combination;
use super::compile::Over;
use super::example::Example;
use super::limit::Limit;
use super::node::Node;
use super::template::Template;
use super::unit::Type;
use crate::Scope;
use elephant_model::model::Engine;
use elephant_model::model::counters::CounterMask;
use elephant_model::model::spark::Facet;
use elephant_rule::params::yaml::Span;

/// A rule that users define.
#[derive(Debug)]
pub struct CustomRule {
    /// Its display name.
    pub title: String,
    /// Its page in Markdown.
    pub page: String,
    /// The engine whose applications it judges; `None` for any.
    pub engine: Option<Engine>,
    /// Its subjects.
    pub over: Over,
    pub(super) when: Option<Node>,
    pub(super) values: Vec<DefinedValue>,
    pub(super) limits: Vec<DefinedLimit>,
    pub(super) severity: Combination,
    pub(super) score_tasks: Option<Node>,
    pub(super) message: Template,
    pub(super) advice: Vec<Advice>,
    /// Its examples, with the expected results.
    pub examples: Vec<Example>,
    /// The applications it applies to, by the scope of the defining document.
    pub only_for: Scope,
    pub(super) rests_on: Vec<Facet>,
    pub(super) reads: CounterMask,
    /// Whether it reads counters of tasks by group and name.
    pub(super) names_counters: bool,
}

/// A value with its name.
#[derive(Debug)]
pub(super) struct DefinedValue {
    pub(super) name: String,
    pub(super) node: Node,
    pub(super) kind: Type,
    /// Whether it is a share that is shown in percent.
    pub(super) in_percent: bool,
}

/// A threshold on the value of the same name.
#[derive(Debug)]
pub(super) struct DefinedLimit {
    pub(super) name: String,
    /// The index of the value.
    pub(super) value: usize,
    pub(super) limit: Limit,
    /// The document that defines it last, and the position in it.
    pub(super) origin: (usize, Span),
}

/// One line of advice, and its condition.
#[derive(Debug)]
pub(super) struct Advice {
    pub(super) when: Option<Node>,
    pub(super) text: Template,
    /// Settings by name, with the values that the advice proposes.
    pub(super) set: Vec<(String, Template)>,
}

impl CustomRule {
    /// Every expression of the rule.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &Node> {
        let values = self.values.iter().map(|value| &value.node);
        let advice = self.advice.iter().flat_map(|advice| {
            advice.text.nodes().chain(advice.set.iter().flat_map(|(_, value)| value.nodes()))
        });
        let texts = self.message.nodes().chain(advice);
        let conditions = self.advice.iter().filter_map(|advice| advice.when.as_ref());
        values.chain(&self.when).chain(&self.score_tasks).chain(texts).chain(conditions)
    }
}
