//! The catalogue of rules. A heuristic reads the task table and gives facts; it never formats tables,
//! never prints and never knows where its thresholds come from.
//!
//! A rule is a row of [`all`]: its id, its parameters' YAML (`rules/…/<id>.yaml`, the only place where
//! default numbers stand), its page (`rules/…/<id>.md`, the same text for `rules show`, the docs and every
//! report), and the type that checks it.

pub mod any;
pub mod mapreduce;
pub mod spark;
pub(crate) mod split;
pub(crate) mod wording;

use serde::de::Error as _;

use crate::finding::Verdict;
use crate::model::Application;
use crate::model::spark::Facet;
use crate::rules::layer::{Layer, LayerError};
use crate::rules::params::{ParamValue, Params};

/// Judges an application.
pub trait Check: Send + Sync {
    /// The verdict on `app`.
    fn check(&self, app: &Application) -> Verdict;

    /// The parts of a Spark application that the verdict rests on. Where one of them is partial, a finding says
    /// so, and that nothing was found counts as not evaluated.
    fn rests_on(&self) -> &'static [Facet] {
        &[]
    }
}

/// A rule as the catalogue knows it.
#[derive(Clone, Copy)]
pub struct Rule {
    /// Stable, kebab-case.
    pub id: &'static str,
    /// For people.
    pub title: &'static str,
    /// The built-in parameters.
    pub defaults: &'static str,
    /// The rule's page in Markdown.
    pub page: &'static str,
    /// Reads the rule's parameters from layers, the built-in one first.
    pub load: fn(&[Layer<'_>]) -> Result<Loaded, LayerError>,
}

/// A rule with its parameters.
pub struct Loaded {
    /// Whether it runs.
    pub enabled: bool,
    /// The check with its parameters.
    pub check: Box<dyn Check>,
    /// The parameters for reports.
    pub params: Vec<(&'static str, ParamValue)>,
}

/// Reads the parameters `P` and makes the check from them.
pub(crate) fn load<P: Params, C: Check + 'static>(
    layers: &[Layer<'_>],
    make: fn(P) -> C,
) -> Result<Loaded, LayerError> {
    let (params, enabled) = load_params::<P>(layers)?;
    Ok(Loaded { enabled, params: params.entries(), check: Box::new(make(params)) })
}

/// Reads the parameters `P` from layers, later ones over earlier ones.
pub(crate) fn load_params<P: Params>(layers: &[Layer<'_>]) -> Result<(P, bool), LayerError> {
    let mut params: Option<P> = None;
    let mut enabled = true;
    for layer in layers {
        let overlay: P::Overlay = layer.read()?;
        enabled = P::enabled(&overlay).unwrap_or(enabled);
        if let Some(params) = &mut params {
            params.apply(overlay);
        } else {
            let complete = P::complete(overlay);
            params = Some(complete.map_err(|key| layer.error(&serde_yaml::Error::missing_field(key)))?);
        }
    }
    let params = params.ok_or_else(LayerError::no_layers)?;
    Ok((params, enabled))
}

/// A rule whose YAML and page stand under `rules/<engine>/<id>`.
macro_rules! rule {
    ($engine:literal, $id:literal, $title:literal, $load:expr) => {
        $crate::heuristics::Rule {
            id: $id,
            title: $title,
            defaults: include_str!(concat!("../../../rules/", $engine, "/", $id, ".yaml")),
            page: include_str!(concat!("../../../rules/", $engine, "/", $id, ".md")),
            load: $load,
        }
    };
}
use rule;

/// Every rule, in the order of the documentation.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    mapreduce::RULES.iter().chain(spark::RULES).chain(any::RULES)
}
