//! The catalogue of rules. A heuristic reads the task table and gives facts; it never formats tables,
//! never prints and never knows where its thresholds come from.
//!
//! A rule is a row of [`all`]: its id, its parameters' YAML (`rules/…/<id>.yaml`, the only place where
//! default numbers stand), its page (`rules/…/<id>.md`, the same text for `rules show`, the docs and every
//! report), and the type that checks it.

pub mod any;
pub mod mapreduce;
mod max_concurrent;
mod shared;
pub mod spark;
pub(crate) mod split;
pub(crate) mod wording;

use crate::finding::{ChartLimit, ComparedWith, Container, KeyMeasure, RuleFacts, Verdict, Worse};
use crate::model::Application;
use crate::model::counters::CounterMask;
use crate::model::spark::Facet;
use crate::model::table::TaskKind;
use crate::params::layers::{Layers, Parameter};
use crate::params::{Key, Params};

pub use shared::Shared;

/// Why a rule cannot be evaluated where nobody has asked what the application cost.
pub(crate) const NOT_MEASURED: &str = "what the application cost was not measured";

/// Judges an application.
pub trait Check: Send + Sync {
    /// The verdict on `app`.
    fn check(&self, app: &Application) -> Verdict;

    /// The same among other rules that judge `app`: what several of them rest on is computed once.
    fn check_among(&self, app: &Application, _shared: &Shared<'_>) -> Verdict {
        self.check(app)
    }

    /// The parts of a Spark application that the verdict rests on. Where one of them is partial, a finding says
    /// so, and that nothing was found counts as not evaluated.
    fn rests_on(&self) -> &'static [Facet] {
        &[]
    }

    /// Whether more of the history could turn what was found into its opposite: executors that do less than others, or
    /// memory of which little is used. Where much is missing (see [`Application::lacks_much`]) it is not evaluated.
    fn needs_all(&self) -> bool {
        false
    }

    /// What the rule would advise, whatever it finds, for rules on other traces of the same trouble.
    fn remedy(&self, _app: &Application) -> Option<Remedy> {
        None
    }

    /// The counters of tasks of this kind that the verdict rests on, with the same meaning.
    fn reads(&self, _kind: TaskKind) -> CounterMask {
        CounterMask::NONE
    }
}

/// What is to be done about what a rule looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Settings to change.
    Change(Vec<String>),
    /// Why no setting helps.
    NoSetting(String),
}

impl Remedy {
    /// What advice says.
    fn lines(self) -> Vec<String> {
        match self {
            Self::Change(lines) => lines,
            Self::NoSetting(why) => vec![why],
        }
    }
}

/// A rule as the catalogue knows it.
#[derive(Clone, Copy)]
pub struct Rule {
    /// Stable, kebab-case.
    pub id: &'static str,
    /// For people.
    pub title: &'static str,
    /// The folder of its files below `rules/`.
    pub folder: &'static str,
    /// What presets, the gate, charts and other rules ask for.
    pub facts: RuleFacts,
    /// The built-in parameters.
    pub defaults: &'static str,
    /// The rule's page in Markdown.
    pub page: &'static str,
    /// Reads the rule's parameters from layers, the built-in one first; `None` where that one is not complete.
    pub load: fn(&mut Layers<'_>) -> Option<Loaded>,
    /// The keys of its parameters.
    pub keys: fn() -> &'static [Key],
}

/// Facts that only some rules have.
impl Rule {
    /// How bad a finding is tells the measure under `key`, for the gate: [`KeyMeasure`] says which rules have one.
    const fn measured_by(mut self, key: &'static str, worse: Worse) -> Self {
        self.facts.key_measure = Some(KeyMeasure { key, worse });
        self
    }

    /// Charts show the cut-offs of these thresholds.
    const fn charted(mut self, limits: &'static [ChartLimit]) -> Self {
        self.facts.chart_limits = limits;
        self
    }

    /// What it advises sets the memory of `container`.
    const fn sizing(mut self, container: Container) -> Self {
        self.facts.sizes = Some(container);
        self
    }
}

/// A threshold for [`Rule::charted`].
const fn chart_limit(key: &'static str, compared_with: ComparedWith) -> ChartLimit {
    ChartLimit { key, compared_with }
}

/// A rule with its parameters.
pub struct Loaded {
    /// The check with its parameters.
    pub check: Box<dyn Check>,
    /// The parameters for reports.
    pub params: Vec<Parameter>,
}

/// Reads the parameters `P` and makes the check from them.
pub(crate) fn load<P: Params, C: Check + 'static>(
    layers: &mut Layers<'_>,
    make: fn(P) -> C,
) -> Option<Loaded> {
    let (params, parameters) = layers.params::<P>()?;
    Some(Loaded { check: Box::new(make(params)), params: parameters })
}

/// A rule whose YAML and page stand under `rules/<engine>/<id>`, with its [`Provenance`](crate::finding::Provenance): `Own`
/// or `DrElephant { version: "2.0.9" }`.
macro_rules! rule {
    ($engine:literal, $provenance:ident $({ $($version:tt)* })?, $id:literal, $title:literal, $params:ty, $load:expr) => {
        $crate::heuristics::Rule {
            id: $id,
            title: $title,
            folder: $engine,
            facts: $crate::finding::RuleFacts::of($crate::finding::Provenance::$provenance $({ $($version)* })?),
            defaults: include_str!(concat!("../../../rules/", $engine, "/", $id, ".yaml")),
            page: include_str!(concat!("../../../rules/", $engine, "/", $id, ".md")),
            load: $load,
            keys: <$params as $crate::params::Params>::keys,
        }
    };
}
use rule;

/// Every rule, in the order of the documentation.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    mapreduce::RULES.iter().chain(spark::RULES).chain(any::RULES)
}
