//! The catalogue of rules. A heuristic reads the task table and returns facts, which the templates next to its
//! [`Rule`] word. It never formats tables, never prints, and does not know where its thresholds come from.
//!
//! A rule is a row of [`all`]: its id, the YAML of its parameters (`rules/…/<id>.yaml`, the only place for
//! default numbers), its page (`rules/…/<id>.md`, the same text for `rules show`, the docs and every
//! report), and the type that checks it.

pub(crate) mod any;
pub mod mapreduce;
pub mod max_concurrent;
mod root_cause;
pub mod shared;
pub mod spark;
pub mod split;
pub mod wording;

use elephant_model::model::Application;
use elephant_model::model::counters::CounterMask;
use elephant_model::model::spark::Facet;
use elephant_model::model::table::TaskKind;
use elephant_rule::finding::{
    Advice, ChartLimit, ComparedWith, Container, KeyMeasure, RuleFacts, TroubleKind, Verdict, Worse,
};
use elephant_rule::params::layers::{Layers, Parameter};
use elephant_rule::params::{Key, Params};

pub use shared::Shared;

/// Reason given when metrics were not computed.
pub const NOT_MEASURED: &str = "the costs of the application were not measured";

/// Judges an application.
pub trait Check: Send + Sync {
    /// The verdict on `app`.
    fn check(&self, app: &Application) -> Verdict;

    /// Like [`Check::check`], with data in `shared` that several rules use and that is computed once.
    fn check_among(&self, app: &Application, _shared: &Shared<'_>) -> Verdict {
        self.check(app)
    }

    /// The parts of a Spark application that the verdict depends on. If one of them is incomplete, findings
    /// say so, and "nothing found" becomes "not evaluated".
    fn rests_on(&self) -> &'static [Facet] {
        &[]
    }

    /// Whether more data could reverse a finding, such as executors that do less than others, or memory
    /// that is hardly used. If much is missing, the rule is not evaluated.
    fn needs_all(&self) -> bool {
        false
    }

    /// The rule's advice, independent of its findings. Used by rules on other symptoms of the same problem.
    fn remedy(&self, _app: &Application) -> Option<Remedy> {
        None
    }

    /// The task counters of this kind that the verdict depends on, as in [`Check::rests_on`].
    fn reads(&self, _kind: TaskKind) -> CounterMask {
        CounterMask::NONE
    }
}

/// The remedy for the problem that a rule finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Settings to change.
    Change(Vec<Advice>),
    /// Why no setting helps.
    NoSetting(String),
}

impl Remedy {
    /// The lines of advice.
    fn lines(self) -> Vec<Advice> {
        match self {
            Self::Change(lines) => lines,
            Self::NoSetting(why) => vec![why.into()],
        }
    }
}

/// A rule in the catalogue.
#[derive(Clone, Copy)]
pub struct Rule {
    /// Stable, kebab-case.
    pub id: &'static str,
    /// The display name.
    pub title: &'static str,
    /// The folder of its files below `rules/`.
    pub folder: &'static str,
    /// Facts for presets, the gate, charts and other rules.
    pub facts: RuleFacts,
    /// The built-in parameters.
    pub defaults: &'static str,
    /// The rule's page in Markdown.
    pub page: &'static str,
    /// Reads the rule's parameters from layers, the built-in one first; `None` if that one is incomplete.
    pub load: fn(&mut Layers<'_>) -> Option<Loaded>,
    /// The keys of its parameters.
    pub keys: fn() -> &'static [Key],
}

/// Facts that only some rules have.
impl Rule {
    /// The measure under `key` shows the gate how bad a finding is. See [`KeyMeasure`] for rules without one.
    const fn measured_by(mut self, key: &'static str, worse: Worse) -> Self {
        self.facts.key_measure = Some(KeyMeasure { key, worse });
        self
    }

    /// Charts show the cut-offs of `limits`.
    const fn charted(mut self, limits: &'static [ChartLimit]) -> Self {
        self.facts.chart_limits = limits;
        self
    }

    /// The rule's findings indicate troubles of this kind.
    const fn telling(mut self, kind: TroubleKind) -> Self {
        self.facts.tells = kind;
        self
    }

    /// Some findings indicate one of these kinds of trouble instead.
    const fn also_telling(mut self, kinds: &'static [TroubleKind]) -> Self {
        self.facts.also_tells = kinds;
        self
    }

    /// The rule's advice sets the memory of `container`.
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

/// Reads the parameters `P` and creates the check.
pub(crate) fn load<P: Params, C: Check + 'static>(
    layers: &mut Layers<'_>,
    make: fn(P) -> C,
) -> Option<Loaded> {
    let (params, parameters) = layers.params::<P>()?;
    Some(Loaded { check: Box::new(make(params)), params: parameters })
}

/// A rule with its YAML and page in `rules/<engine>/<id>`, and its
/// [`Provenance`](elephant_rule::finding::Provenance): `Own` or `DrElephant { version: "2.0.9" }`.
macro_rules! rule {
    ($engine:literal, $provenance:ident $({ $($version:tt)* })?, $id:literal, $title:literal, $params:ty, $load:expr) => {
        $crate::Rule {
            id: $id,
            title: $title,
            folder: $engine,
            facts: elephant_rule::finding::RuleFacts::of(elephant_rule::finding::Provenance::$provenance $({ $($version)* })?),
            defaults: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/", $engine, "/", $id, ".yaml")),
            page: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/", $engine, "/", $id, ".md")),
            load: $load,
            keys: <$params as elephant_rule::params::Params>::keys,
        }
    };
}
use rule;

/// Every rule, in the order of the documentation.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    mapreduce::RULES.iter().chain(spark::RULES).chain(any::RULES)
}
