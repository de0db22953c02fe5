//! Reads the texts of a rule: message and advice.

use super::super::compile::Env;
use super::super::definition::Advice;
use super::super::template::Template;
use super::Reader;
use super::layers::{Entry, Layered};
use crate::params::yaml::Kind;

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
                advice.extend(text.map(|text| Advice { when: None, text }));
                continue;
            };
            let (mut when, mut text) = (None, None);
            for (key, node) in parts {
                match key.value.as_str() {
                    "when" => when = self.condition(of(node), env),
                    "text" => text = self.template(of(node), env, in_percent),
                    _ => self.at(
                        entry.source,
                        &key.span,
                        format!("advice has no \"{}\"", key.value),
                        Some("its keys are when and text".to_owned()),
                    ),
                }
            }
            match text {
                Some(text) => advice.push(Advice { when, text }),
                None if parts.iter().any(|(key, _)| key.value == "text") => {}
                None => self.error(of(item), "the advice has no text".to_owned(), None),
            }
        }
        advice
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
