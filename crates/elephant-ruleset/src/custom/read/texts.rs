//! Reads the texts of a rule: message and advice.

use super::super::compile::Env;
use super::super::definition::Advice;
use super::super::template::Template;
use super::Reader;
use super::layers::{Entry, Layered};
use elephant_rule::params::yaml::Kind;

const A_SETTING: &str = "write set: {spark.executor.memory: \"{ceil(in_mb(peak))}m\"}";

/// Names of settings have dots, and neither blanks nor an equals sign: they become arguments.
fn is_setting(name: &str) -> bool {
    name.contains('.') && !name.contains(|c: char| c.is_whitespace() || c == '=' || c.is_control())
}

impl<'d> Reader<'d, '_> {
    pub(super) fn message(
        &mut self,
        layered: &Layered<'d>,
        env: Env<'_>,
        in_percent: &dyn Fn(usize) -> bool,
    ) -> Option<Template> {
        let Some(entry) = layered.entry("message") else {
            self.base_error("the rule has no message".to_owned(), "add message: one sentence with the measured values, such as \"map tasks spend {gc} in garbage collection\"");
            return None;
        };
        self.template(entry, env, in_percent)
    }

    pub(super) fn advice(
        &mut self,
        layered: &Layered<'d>,
        env: Env<'_>,
        in_percent: &dyn Fn(usize) -> bool,
    ) -> Vec<Advice> {
        let Some(entry) = layered.entry("advice") else { return Vec::new() };
        let items = match &entry.node.kind {
            Kind::List(items) => items.as_slice(),
            Kind::Scalar { .. } | Kind::Map(_) => std::slice::from_ref(entry.node),
        };
        let mut advice = Vec::with_capacity(items.len());
        for item in items {
            let of = |node| Entry { node, ..entry };
            let Kind::Map(parts) = &item.kind else {
                let text = self.template(of(item), env, in_percent);
                advice.extend(text.map(|text| Advice { when: None, text, set: Vec::new() }));
                continue;
            };
            let (mut when, mut text, mut set) = (None, None, Vec::new());
            for (key, node) in parts {
                match key.value.as_str() {
                    "when" => when = self.condition(of(node), env),
                    "text" => text = self.template(of(node), env, in_percent),
                    "set" => set = self.settings(of(node), env),
                    _ => self.at(
                        entry.source,
                        &key.span,
                        format!("advice has no \"{}\"", key.value),
                        Some("its keys are when, text and set".to_owned()),
                    ),
                }
            }
            match text {
                Some(text) => advice.push(Advice { when, text, set }),
                None if parts.iter().any(|(key, _)| key.value == "text") => {}
                None => self.error(of(item), "the advice has no text".to_owned(), None),
            }
        }
        advice
    }

    /// The settings that advice proposes: names, each with a value.
    fn settings(&mut self, entry: Entry<'d>, env: Env<'_>) -> Vec<(String, Template)> {
        let Kind::Map(settings) = &entry.node.kind else {
            let message = format!("expected settings with their values, got {}", entry.node.what());
            self.error(entry, message, Some(A_SETTING.to_owned()));
            return Vec::new();
        };
        let mut set = Vec::with_capacity(settings.len());
        for (name, node) in settings {
            if !is_setting(&name.value) {
                let message = format!("\"{}\" is not the name of a setting", name.value);
                self.at(entry.source, &name.span, message, Some(A_SETTING.to_owned()));
                continue;
            }
            let entry = Entry { node, ..entry };
            match self.text(Some(entry)).map(|text| Template::of_setting(text, env)) {
                Some(Ok(value)) => set.push((name.value.clone(), value)),
                Some(Err(mistakes)) => self.mistakes(entry, mistakes),
                None => {}
            }
        }
        set
    }

    pub(super) fn template(
        &mut self,
        entry: Entry<'d>,
        env: Env<'_>,
        in_percent: &dyn Fn(usize) -> bool,
    ) -> Option<Template> {
        let text = self.text(Some(entry))?;
        match Template::parse(text, env, in_percent) {
            Ok(template) => Some(template),
            Err(mistakes) => {
                self.mistakes(entry, mistakes);
                None
            }
        }
    }
}
