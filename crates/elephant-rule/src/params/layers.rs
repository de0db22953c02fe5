//! The parameters of one rule from all documents about it: each layer overrides those before it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::lines::Lines;
use super::problem::Problems;
use super::words::did_you_mean;
use super::yaml::{Node, Span, Spanned};
use super::{Key, ParamValue, Params, RuleFile};
use crate::finding::Name;
use elephant_base::severity::Severity;

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The rule's own file, which ships with the program.
    BuiltIn,
    /// A preset or a file of the user: `name:line`, and the applications it applies to, unless it applies
    /// to all.
    File {
        /// Name and line.
        place: String,
        /// The applications it applies to.
        scope: Option<String>,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built-in"),
            Self::File { place, scope: None } => f.write_str(place),
            Self::File { place, scope: Some(scope) } => write!(f, "{place}, for {scope}"),
        }
    }
}

/// A value and its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Its source.
    pub origin: Origin,
}

/// An effective parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its key in rule files.
    pub key: Name,
    /// Its value.
    pub value: ParamValue,
    /// Its source.
    pub origin: Origin,
}

/// The keys that every document about rules may have, in addition to parameters.
const HEAD_KEYS: [&str; 4] = ["rule", "for", "enabled", "max_severity"];

/// The settings of one document in a rule file.
#[derive(Debug, Clone)]
pub struct Layer {
    /// Its file.
    pub file: Arc<RuleFile>,
    /// The lines of its file.
    pub lines: Arc<Lines>,
    /// Whether it is the rule's own file, which ships with the program.
    pub built_in: bool,
    /// The position of the rule's id.
    pub span: Span,
    /// The applications it applies to, in words; `None` for all.
    pub scope: Option<String>,
    /// Whether the rule runs.
    pub enabled: Option<Spanned<bool>>,
    /// The highest severity of its findings.
    pub max_severity: Option<Spanned<Severity>>,
    /// All other keys: parameters of the rule.
    pub entries: Vec<(Spanned<String>, Node)>,
}

/// The layers of one rule, the built-in one first.
pub struct Layers<'a> {
    /// The rule's id.
    pub rule: &'a str,
    /// The layers.
    pub all: &'a [&'a Layer],
    /// Collects the problems.
    pub problems: &'a mut Problems,
}

impl Layers<'_> {
    /// Whether the rule runs.
    #[must_use]
    pub fn enabled(&self) -> Setting<bool> {
        let last = self.all.iter().rev().find_map(|layer| {
            let enabled = layer.enabled.as_ref()?;
            Some(Setting { value: enabled.value, origin: layer.origin_of(&enabled.span) })
        });
        last.unwrap_or(Setting { value: true, origin: Origin::BuiltIn })
    }

    /// The highest severity of its findings.
    #[must_use]
    pub fn max_severity(&self) -> Option<Setting<Severity>> {
        self.all.iter().rev().find_map(|layer| {
            let cap = layer.max_severity.as_ref()?;
            Some(Setting { value: cap.value, origin: layer.origin_of(&cap.span) })
        })
    }

    /// The parameters; `None` if the built-in layer is incomplete, which a test rules out.
    pub fn params<P: Params>(&mut self) -> Option<(P, Vec<Parameter>)> {
        let mut params: Option<P> = None;
        let mut origins: BTreeMap<&'static str, Origin> = BTreeMap::new();
        for layer in self.all {
            // Documents about many rules only switch them on or off; there may be thousands for each rule.
            if params.is_some() && layer.entries.is_empty() {
                continue;
            }
            let overlay = self.overlay::<P>(layer, &mut origins);
            match &mut params {
                Some(params) => params.apply(overlay),
                None => match P::complete(overlay) {
                    Ok(complete) => params = Some(complete),
                    Err(key) => {
                        let message = format!("{key} is missing");
                        self.problems.error(&layer.file, &layer.span, message, None);
                        return None;
                    }
                },
            }
        }
        let params = params?;
        let parameter = |(key, value): (&'static str, ParamValue)| {
            let origin = origins.get(key).cloned().unwrap_or(Origin::BuiltIn);
            Parameter { key: key.into(), value, origin }
        };
        let parameters = params.entries().into_iter().map(parameter).collect();
        Some((params, parameters))
    }

    /// Reports every parameter, for a rule that has none.
    pub fn without_params(&mut self) {
        for layer in self.all {
            for (written, _) in &layer.entries {
                self.unknown_key(layer, written, &[]);
            }
        }
    }

    fn overlay<P: Params>(
        &mut self,
        layer: &Layer,
        origins: &mut BTreeMap<&'static str, Origin>,
    ) -> P::Overlay {
        let mut overlay = P::Overlay::default();
        let keys = P::keys();
        for (written, node) in &layer.entries {
            let known = keys.iter().find(|key| key.name == written.value);
            let renamed = || keys.iter().find(|key| key.was == Some(&written.value));
            let Some(key) = known.or_else(renamed) else {
                self.unknown_key(layer, written, keys);
                continue;
            };
            if known.is_none() {
                let message = format!("{} is now called {}", written.value, key.name);
                let help = Some("the old name still works; write the new one".to_owned());
                self.problems.warning(&layer.file, &written.span, message, help);
            }
            match P::set(&mut overlay, key.name, node) {
                Ok(()) => {
                    origins.insert(key.name, layer.origin_of(&written.span));
                }
                Err(error) => self.problems.unreadable(&layer.file, &node.span, error),
            }
        }
        overlay
    }

    fn unknown_key(&mut self, layer: &Layer, written: &Spanned<String>, keys: &[Key]) {
        let Self { rule, problems, .. } = self;
        let all = || keys.iter().map(|key| key.name).chain(HEAD_KEYS);
        let message = format!("{rule} has no parameter \"{}\"", written.value);
        let names: Vec<&str> = keys.iter().map(|key| key.name).collect();
        let list = || {
            format!("it has {}", if names.is_empty() { "no parameters".to_owned() } else { names.join(", ") })
        };
        let help = did_you_mean(&written.value, all()).unwrap_or_else(list);
        problems.error(&layer.file, &written.span, message, Some(help));
    }
}

impl Layer {
    /// The source of a part of it.
    #[must_use]
    pub fn origin_of(&self, span: &Span) -> Origin {
        if self.built_in {
            return Origin::BuiltIn;
        }
        Origin::File { place: self.place_of(span), scope: self.scope.clone() }
    }

    /// The position of a part of it: "rules/etl.yaml:12".
    #[must_use]
    pub fn place_of(&self, span: &Span) -> String {
        format!("{}:{}", self.file.name, self.lines.line(span.start))
    }
}
