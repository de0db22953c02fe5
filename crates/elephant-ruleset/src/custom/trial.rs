//! Tries a rule on given values, for `elephant-rs rules test`.

use std::cell::Cell;

use super::definition::{CustomRule, DefinedValue};
use super::example::Given;
use super::scope::{Inner, Judged, Scope};
use super::template::{Style, show};
use super::value::{Gap, Value};
use elephant_analysis::metrics::Metrics;
use elephant_base::severity::Severity;
use elephant_model::model::{Application, Engine};

/// The result of a rule for given values.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// The severity, or why there is none.
    pub severity: Result<Severity, String>,
    /// Every value as text.
    pub values: Vec<(String, String)>,
}

impl CustomRule {
    /// The result of the rule for some given values. The other values are computed from them; everything else
    /// is unknown.
    #[must_use]
    pub fn try_values(&self, given: &[(usize, Option<Given>)]) -> Trial {
        let engine = self.over.engine().or(self.engine).unwrap_or(Engine::MapReduce);
        let (app, metrics, work) = (Application::new(engine), Metrics::default(), Cell::new(0));
        let judged = Judged::Application;
        let mut scope = Scope { app: &app, metrics: &metrics, judged, values: Vec::new(), work: &work };
        for (place, value) in self.values.iter().enumerate() {
            let own = given.iter().find(|(known, _)| *known == place).map(|(_, value)| value);
            let value = match own {
                Some(Some(given)) => Ok(given.value()),
                Some(None) => Err(Gap::Undefined),
                None => value.node.eval(&scope, Inner::default()),
            };
            scope.values.push(value);
        }
        let decided = self.severity.severity(&mut |place| self.limit(place, &scope));
        let shown = |(value, known): (&DefinedValue, &Result<Value<'_>, Gap<'_>>)| {
            let style = if value.in_percent { Style::Percent } else { Style::Unit };
            let known = known.as_ref().ok().filter(|known| !matches!(known, Value::Groups(_)));
            let text = known.map_or_else(|| "unknown".to_owned(), |known| show(known, value.kind, style));
            (value.name.clone(), text)
        };
        let values = self.values.iter().zip(&scope.values).map(shown).collect();
        Trial { severity: decided.map(|(severity, _)| severity), values }
    }
}
