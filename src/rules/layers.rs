//! The documents about one rule, one over the other, and the parameters that come out of them.

use std::collections::BTreeMap;
use std::fmt;

use super::document::{Document, HEAD_KEYS};
use super::params::{Key, ParamValue, Params};
use super::problem::Problems;
use super::words::did_you_mean;
use super::yaml::{Span, Spanned};
use crate::finding::Name;
use crate::severity::Severity;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The rule's own file, which comes with the program.
    BuiltIn,
    /// A preset or a file of the user: `name:line`, and the applications it is for, where not for all.
    File {
        /// Name and line.
        place: String,
        /// For which applications.
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

/// A value and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub origin: Origin,
}

/// A parameter in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its key in rule files.
    pub key: Name,
    /// Its value.
    pub value: ParamValue,
    /// Where it comes from.
    pub origin: Origin,
}

/// The documents about one rule, the built-in one first, each over those before it.
pub struct Layers<'a> {
    /// The rule's id.
    pub rule: &'a str,
    /// The documents.
    pub documents: &'a [&'a Document],
    /// Where problems go.
    pub problems: &'a mut Problems,
}

impl Layers<'_> {
    /// Whether the rule runs.
    #[must_use]
    pub fn enabled(&self) -> Setting<bool> {
        let last = self.documents.iter().rev().find_map(|document| {
            let enabled = document.enabled.as_ref()?;
            Some(Setting { value: enabled.value, origin: document.origin_of(&enabled.span) })
        });
        last.unwrap_or(Setting { value: true, origin: Origin::BuiltIn })
    }

    /// The highest severity of its findings.
    #[must_use]
    pub fn max_severity(&self) -> Option<Setting<Severity>> {
        self.documents.iter().rev().find_map(|document| {
            let cap = document.max_severity.as_ref()?;
            Some(Setting { value: cap.value, origin: document.origin_of(&cap.span) })
        })
    }

    /// The parameters; `None` where the built-in document lacks some, which a test rules out.
    pub(crate) fn params<P: Params>(&mut self) -> Option<(P, Vec<Parameter>)> {
        let mut params: Option<P> = None;
        let mut origins: BTreeMap<&'static str, Origin> = BTreeMap::new();
        for document in self.documents {
            let overlay = self.overlay::<P>(document, &mut origins);
            match &mut params {
                Some(params) => params.apply(overlay),
                None => match P::complete(overlay) {
                    Ok(complete) => params = Some(complete),
                    Err(key) => {
                        let message = format!("{key} is missing");
                        self.problems.error(&document.file, &document.span, message, None);
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

    fn overlay<P: Params>(
        &mut self,
        document: &Document,
        origins: &mut BTreeMap<&'static str, Origin>,
    ) -> P::Overlay {
        let mut overlay = P::Overlay::default();
        let keys = P::keys();
        for (written, node) in &document.entries {
            let known = keys.iter().find(|key| key.name == written.value);
            let renamed = || keys.iter().find(|key| key.was == Some(&written.value));
            let Some(key) = known.or_else(renamed) else {
                self.unknown_key(document, written, keys);
                continue;
            };
            if known.is_none() {
                let message = format!("{} is now called {}", written.value, key.name);
                let help = Some("the old name still works; write the new one".to_owned());
                self.problems.warning(&document.file, &written.span, message, help);
            }
            match P::set(&mut overlay, key.name, node) {
                Ok(()) => {
                    origins.insert(key.name, document.origin_of(&written.span));
                }
                Err(error) => self.problems.unreadable(&document.file, &node.span, error),
            }
        }
        overlay
    }

    fn unknown_key(&mut self, document: &Document, written: &Spanned<String>, keys: &[Key]) {
        let Self { rule, problems, .. } = self;
        let all = || keys.iter().map(|key| key.name).chain(HEAD_KEYS);
        let message = format!("{rule} has no parameter \"{}\"", written.value);
        let list = || format!("it has {}", keys.iter().map(|key| key.name).collect::<Vec<_>>().join(", "));
        let help = did_you_mean(&written.value, all()).unwrap_or_else(list);
        problems.error(&document.file, &written.span, message, Some(help));
    }
}

impl Document {
    /// The origin of a part of it.
    #[must_use]
    pub fn origin_of(&self, span: &Span) -> Origin {
        if self.built_in {
            return Origin::BuiltIn;
        }
        let scope = (!self.scope.is_everything()).then(|| self.scope.to_string());
        Origin::File { place: self.origin(span), scope }
    }
}
