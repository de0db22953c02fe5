//! The examples of a rule.

use super::super::example::{Example, Expected, Given, Input};
use super::super::unit::Type;
use super::Reader;
use super::layers::{Entry, Layered};
use elephant_rule::params::words::{nearest, unknown_word};
use elephant_rule::params::yaml::{Kind, Spanned};

const KEYS: [&str; 6] = ["name", "values", "history", "subject", "application", "severity"];

impl<'d> Reader<'d, '_> {
    pub(super) fn examples(&mut self, layered: &Layered<'d>, types: &[(String, Type)]) -> Vec<Example> {
        let mut examples = Vec::new();
        for list in &layered.examples {
            let Kind::List(items) = &list.node.kind else {
                self.error(*list, format!("expected a list of examples, got {}", list.node.what()), None);
                continue;
            };
            for node in items {
                examples.extend(self.example(Entry { node, ..*list }, types));
            }
        }
        examples
    }

    fn example(&mut self, entry: Entry<'d>, types: &[(String, Type)]) -> Option<Example> {
        let Kind::Map(parts) = &entry.node.kind else {
            self.error(entry, format!("expected an example, got {}", entry.node.what()), None);
            return None;
        };
        for (key, _) in parts.iter().filter(|(key, _)| !KEYS.contains(&key.value.as_str())) {
            let near = nearest(&key.value, KEYS.into_iter());
            let help = near.map_or_else(
                || format!("its keys are {}", KEYS.join(", ")),
                |near| format!("did you mean \"{near}\"?"),
            );
            self.at(entry.source, &key.span, format!("an example has no \"{}\"", key.value), Some(help));
        }
        let part = |wanted: &str| {
            parts.iter().find(|(key, _)| key.value == wanted).map(|(_, node)| Entry { node, ..entry })
        };
        let expected = self.expected(entry, part("severity"));
        let input = match (part("values"), part("history")) {
            (Some(values), None) => Input::Values(self.given(values, types)),
            (None, Some(history)) => Input::History {
                path: self.text(Some(history))?.to_owned(),
                subject: self.text(part("subject")).map(str::to_owned),
                application: self.text(part("application")).map(str::to_owned),
            },
            _ => {
                self.error(entry, "an example needs either values or a history".to_owned(), None);
                return None;
            }
        };
        Some(Example {
            name: self.text(part("name")).unwrap_or_default().to_owned(),
            file: self.sources.get(entry.source).map_or("", |source| source.file).to_owned(),
            line: self.line(entry),
            input,
            expected: expected?,
        })
    }

    fn expected(&mut self, example: Entry<'d>, entry: Option<Entry<'d>>) -> Option<Expected> {
        let Some(entry) = entry else {
            self.error(
                example,
                "the example has no expected severity".to_owned(),
                Some(
                    "add severity: none, low, moderate, severe, critical, not-evaluated or not-applicable"
                        .to_owned(),
                ),
            );
            return None;
        };
        let word = self.text(Some(entry))?;
        let expected = Expected::parse(word);
        if expected.is_none() {
            let words = ["none", "low", "moderate", "severe", "critical", "not-evaluated", "not-applicable"];
            let help = nearest(word, words.into_iter()).map(|near| format!("did you mean \"{near}\"?"));
            self.error(entry, unknown_word("severity", word, &words), help);
        }
        expected
    }

    fn given(&mut self, entry: Entry<'d>, types: &[(String, Type)]) -> Vec<(usize, Option<Given>)> {
        let Kind::Map(values) = &entry.node.kind else {
            self.error(entry, format!("expected values by name, got {}", entry.node.what()), None);
            return Vec::new();
        };
        values
            .iter()
            .filter_map(|(name, node)| self.given_value(Entry { node, ..entry }, name, types))
            .collect()
    }

    fn given_value(
        &mut self,
        entry: Entry<'d>,
        name: &Spanned<String>,
        types: &[(String, Type)],
    ) -> Option<(usize, Option<Given>)> {
        let Some(place) = types.iter().position(|(known, _)| *known == name.value) else {
            let near = nearest(&name.value, types.iter().map(|(known, _)| known.as_str()));
            let help = near.map(|near| format!("did you mean \"{near}\"?"));
            self.at(entry.source, &name.span, format!("there is no value \"{}\"", name.value), help);
            return None;
        };
        let kind = types.get(place).map_or(Type::Any, |(_, kind)| *kind);
        if kind == Type::Any && self.failed {
            return None;
        }
        match Given::parse(self.text(Some(entry))?, kind) {
            Ok(given) => Some((place, given)),
            Err(message) => {
                self.error(entry, message, None);
                None
            }
        }
    }

    fn line(&self, entry: Entry<'_>) -> usize {
        let before =
            self.sources.get(entry.source).and_then(|source| source.text.get(..entry.node.span.start));
        before.map_or(0, |before| before.matches('\n').count()) + 1
    }
}
