//! Reads the values, thresholds and severity of a rule.

use super::super::combination::Combination;
use super::super::compile::{Compiled, Env, Over};
use super::super::definition::{DefinedLimit, DefinedValue};
use super::super::limit::Limit;
use super::super::names::NAMESPACES;
use super::super::node::Node;
use super::super::syntax::is_word;
use super::super::unit::Type;
use super::Reader;
use super::layers::Layered;
use elephant_rule::params::words::nearest;
use elephant_rule::params::yaml::{self, Kind};

/// The maximum number of values of a rule.
const MAX_VALUES: usize = 100;

impl<'d> Reader<'d, '_> {
    pub(super) fn values(
        &mut self,
        layered: &Layered<'d>,
        over: Over,
    ) -> (Vec<DefinedValue>, Vec<(String, Type)>) {
        let (mut values, mut types): (Vec<DefinedValue>, Vec<(String, Type)>) = (Vec::new(), Vec::new());
        if let Some((_, entry)) = layered.values.get(MAX_VALUES) {
            self.error(*entry, format!("a rule has at most {MAX_VALUES} values"), None);
        }
        if layered.values.is_empty() {
            self.base_error(
                "the rule has no values".to_owned(),
                "add values: each with a name and an expression",
            );
        }
        let names: Vec<String> = layered.values.iter().map(|(name, _)| name.value.clone()).collect();
        for (place, (name, entry)) in layered.values.iter().take(MAX_VALUES).enumerate() {
            if !is_snake_case(&name.value)
                || is_word(&name.value)
                || name.value == "unknown"
                || NAMESPACES.contains(&name.value.as_str())
            {
                let message = format!("\"{}\" is not a valid name for a value", name.value);
                self.at(
                    entry.source,
                    &name.span,
                    message,
                    Some("names are in snake_case and must not be words of the language".to_owned()),
                );
            }
            let env = Env { over, values: &types, later: names.get(place..).unwrap_or_default() };
            let Compiled { node, kind } =
                self.expression(*entry, env).unwrap_or(Compiled { node: Node::Unknown, kind: Type::Any });
            types.push((name.value.clone(), kind));
            values.push(DefinedValue { name: name.value.clone(), node, kind, in_percent: false });
        }
        (values, types)
    }

    pub(super) fn limits(
        &mut self,
        layered: &Layered<'d>,
        types: &[(String, Type)],
    ) -> (Vec<DefinedLimit>, Vec<String>) {
        let (mut limits, mut names) = (Vec::new(), Vec::new());
        if layered.thresholds.is_empty() {
            self.base_error(
                "the rule has no thresholds".to_owned(),
                "add thresholds: each with the name of a value and its cut-offs",
            );
        }
        for (name, entries) in &layered.thresholds {
            names.push(name.value.clone());
            let Some(value) = types.iter().position(|(known, _)| *known == name.value) else {
                let near = nearest(&name.value, types.iter().map(|(known, _)| known.as_str()));
                let help = near.map_or_else(
                    || "a threshold has the name of the value it judges".to_owned(),
                    |near| format!("did you mean \"{near}\"?"),
                );
                let source = entries.first().map(|entry| entry.source).unwrap_or_default();
                self.at(source, &name.span, format!("there is no value \"{}\"", name.value), Some(help));
                continue;
            };
            let kind = types.get(value).map_or(Type::Any, |(_, kind)| *kind);
            if kind == Type::Any && self.failed {
                // Its unit is unknown, because its expression has a mistake that was reported.
                continue;
            }
            let Some(unit) = kind.unit() else {
                let source = entries.first().map(|entry| entry.source).unwrap_or_default();
                self.at(
                    source,
                    &name.span,
                    format!("{} is {}, which cannot have cut-offs", name.value, kind.name()),
                    None,
                );
                continue;
            };
            let mut limit: Option<Limit> = None;
            let mut origin = (0, 0..0);
            for (place, entry) in entries.iter().enumerate() {
                let later = entries.get(place + 1..).unwrap_or_default();
                match Limit::read(entry.node, unit, limit.as_ref()) {
                    // A later document may give the value another unit and matching cut-offs.
                    Err(_) if later.iter().any(|entry| has_cutoffs(entry.node)) => {}
                    Ok(read) => {
                        limit = Some(read);
                        origin = (entry.source, entry.node.span.clone());
                    }
                    Err(error) => {
                        let span = error.span.unwrap_or_else(|| entry.node.span.clone());
                        self.at(entry.source, &span, error.message, error.help);
                    }
                }
            }
            limits.extend(limit.map(|limit| DefinedLimit { name: name.value.clone(), value, limit, origin }));
        }
        (limits, names)
    }

    pub(super) fn severity(&mut self, layered: &Layered<'d>, names: &[String]) -> Option<Combination> {
        let Some(entry) = layered.entry("severity") else {
            if names.len() > 1 {
                let message = "the rule does not say how its thresholds determine the severity".to_owned();
                self.base_error(
                    message,
                    "add severity: min(a, b) if all must be passed, max(a, b) if one is enough",
                );
            }
            return Some(Combination::Threshold(0));
        };
        let text = self.text(Some(entry))?;
        match Combination::parse(text, names) {
            Ok(combination) => Some(combination),
            Err(mistakes) => {
                self.mistakes(entry, mistakes);
                None
            }
        }
    }
}

fn is_snake_case(name: &str) -> bool {
    name.len() <= 60
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Whether a threshold has cut-offs of its own, rather than only changes to earlier ones.
fn has_cutoffs(node: &yaml::Node) -> bool {
    match &node.kind {
        Kind::Map(entries) => {
            entries.iter().any(|(key, _)| matches!(key.value.as_str(), "rising" | "falling"))
        }
        Kind::Scalar { .. } | Kind::List(_) => true,
    }
}
