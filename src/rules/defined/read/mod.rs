//! Documents of rule files into a [`DefinedRule`]: every mistake is told, with its place in the file.

mod examples;
mod layers;
mod place;

use std::fmt::Write;

#[cfg(test)]
pub(super) use self::layers::KEYS;
use self::layers::{Entry, Layered};
use super::combination::Combination;
use super::compile::{Compiled, Env, Over, compile};
use super::definition::{Advice, DefinedLimit, DefinedRule, DefinedValue};
use super::limit::Limit;
use super::node::Node;
use super::parse::Mistake;
use super::template::Template;
use super::unit::Type;
use crate::model::Engine;
use crate::rules::Scope;
use crate::rules::words::nearest;
use crate::rules::yaml::{self, Kind, Span, Spanned};

/// A rule has no more values.
const MAX_VALUES: usize = 100;

/// Words of the expression language that name nothing.
const RESERVED: [&str; 22] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
    "unknown",
];

/// A document about the rule.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'d> {
    /// The whole text of its file.
    pub(super) text: &'d str,
    /// The file's name.
    pub(super) file: &'d str,
    /// Where the rule's id stands.
    pub(super) span: &'d Span,
    /// What it says about the rule, without `rule`, `for`, `enabled` and `max_severity`.
    pub(super) entries: &'d [(Spanned<String>, yaml::Node)],
}

/// Takes note of a mistake: which source, where in it, what is wrong, what to do about it.
pub(super) type Tell<'t> = dyn FnMut(usize, Span, String, Option<String>) + 't;

struct Reader<'d, 't> {
    sources: &'d [Source<'d>],
    tell: &'t mut Tell<'t>,
    failed: bool,
}

impl DefinedRule {
    /// Reads the rule `id` from the documents about it, each over those before it; `None` after a mistake.
    pub(super) fn read<'d, 't>(id: &str, sources: &'d [Source<'d>], tell: &'t mut Tell<'t>) -> Option<Self> {
        let mut reader = Reader { sources, tell, failed: false };
        let rule = reader.rule(id);
        rule.filter(|_| !reader.failed)
    }
}

impl<'d> Reader<'d, '_> {
    fn rule(&mut self, id: &str) -> Option<DefinedRule> {
        let layered = Layered::of(self);
        if !is_kebab_case(id) {
            self.base_error(
                format!("\"{id}\" is no id for a rule"),
                "ids are in kebab-case, such as etl-small-files",
            );
        }
        let engine = self
            .word(
                layered.entry("engine"),
                &[("any", None), ("mapreduce", Some(Engine::MapReduce)), ("spark", Some(Engine::Spark))],
            )
            .flatten();
        let over = self.word(
            layered.entry("over"),
            &[
                ("application", Over::Application),
                ("map", Over::Map),
                ("reduce", Over::Reduce),
                ("stage", Over::Stage),
                ("executor", Over::Executor),
            ],
        );
        let over = over.unwrap_or_default();
        if let (Some(own), Some(engine), Some(entry)) = (over.engine(), engine, layered.entry("over"))
            && own != engine
        {
            self.error(entry, format!("{} has no such tasks", engine.name()), None);
        }
        let bare = Env { over, values: &[], later: &[] };
        let when = layered.entry("when").and_then(|entry| self.condition(entry, bare));
        let (values, types) = self.values(&layered, over);
        let env = Env { over, values: &types, later: &[] };
        let (limits, names) = self.limits(&layered, &types);
        let severity = self.severity(&layered, &names);
        let mut values = values;
        for DefinedLimit { value, limit, .. } in &limits {
            if let Some(value) = values.get_mut(*value) {
                value.in_percent |= limit.in_percent;
            }
        }
        let in_percent =
            |place: usize| values.get(place).is_some_and(|value: &DefinedValue| value.in_percent);
        let message = self.message(&layered, env, &in_percent);
        let advice = self.advice(&layered, env, &in_percent);
        let score_tasks = layered.entry("score_tasks").and_then(|entry| self.number(entry, env));
        let examples = self.examples(&layered, &types);
        let title = self.text(layered.entry("title")).unwrap_or(id).to_owned();
        let page = page(&title, self.text(layered.entry("description")), &layered);
        let mut rule = DefinedRule {
            title,
            page,
            engine,
            over,
            when,
            values,
            limits,
            severity: severity?,
            score_tasks,
            message: message?,
            advice,
            examples,
            only_for: Scope::default(),
            rests_on: Vec::new(),
        };
        rule.rests_on = rule.find_facets();
        Some(rule)
    }

    fn values(&mut self, layered: &Layered<'d>, over: Over) -> (Vec<DefinedValue>, Vec<(String, Type)>) {
        let (mut values, mut types): (Vec<DefinedValue>, Vec<(String, Type)>) = (Vec::new(), Vec::new());
        if let Some((_, entry)) = layered.values.get(MAX_VALUES) {
            self.error(*entry, format!("a rule has {MAX_VALUES} values at most"), None);
        }
        if layered.values.is_empty() {
            self.base_error(
                "the rule computes nothing".to_owned(),
                "add values: a name and an expression for each",
            );
        }
        let names: Vec<String> = layered.values.iter().map(|(name, _)| name.value.clone()).collect();
        for (place, (name, entry)) in layered.values.iter().take(MAX_VALUES).enumerate() {
            if !is_snake_case(&name.value)
                || RESERVED.contains(&name.value.as_str())
                || super::names::NAMESPACES.contains(&name.value.as_str())
            {
                let message = format!("\"{}\" is no name for a value", name.value);
                self.at(
                    entry.source,
                    &name.span,
                    message,
                    Some("names are in snake_case, and not one of the language's own words".to_owned()),
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

    fn limits(
        &mut self,
        layered: &Layered<'d>,
        types: &[(String, Type)],
    ) -> (Vec<DefinedLimit>, Vec<String>) {
        let (mut limits, mut names) = (Vec::new(), Vec::new());
        if layered.thresholds.is_empty() {
            self.base_error(
                "the rule has no thresholds".to_owned(),
                "add thresholds: the name of a value and its cut-offs for each",
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
                // Its unit is not known, as its expression is wrong: that is told already.
                continue;
            }
            let Some(unit) = kind.unit() else {
                let source = entries.first().map(|entry| entry.source).unwrap_or_default();
                self.at(
                    source,
                    &name.span,
                    format!("{} is {}, which has no cut-offs", name.value, kind.name()),
                    None,
                );
                continue;
            };
            let mut limit: Option<Limit> = None;
            let mut origin = (0, 0..0);
            for entry in entries {
                match Limit::read(entry.node, unit, limit.as_ref()) {
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

    fn severity(&mut self, layered: &Layered<'d>, names: &[String]) -> Option<Combination> {
        let Some(entry) = layered.entry("severity") else {
            if names.len() > 1 {
                let message = "the rule does not say how its thresholds make the severity".to_owned();
                self.base_error(
                    message,
                    "add severity: min(a, b) where all have to be passed, max(a, b) where one is enough",
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

    fn message(
        &mut self,
        layered: &Layered<'d>,
        env: Env<'_>,
        in_percent: &dyn Fn(usize) -> bool,
    ) -> Option<Template> {
        let Some(entry) = layered.entry("message") else {
            self.base_error("the rule has no message".to_owned(), "add message: one sentence with the measured values, such as \"maps spend {gc} in garbage collection\"");
            return None;
        };
        self.template(entry, env, in_percent)
    }

    fn advice(
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
                        Some("it has when and text".to_owned()),
                    ),
                }
            }
            match text {
                Some(text) => advice.push(Advice { when, text }),
                None if parts.iter().any(|(key, _)| key.value == "text") => {}
                None => self.error(of(item), "this advice has no text".to_owned(), None),
            }
        }
        advice
    }

    fn template(
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

    fn expression(&mut self, entry: Entry<'d>, env: Env<'_>) -> Option<Compiled> {
        let text = self.text(Some(entry))?;
        match compile(text, env) {
            Ok(compiled) => Some(compiled),
            Err(mistakes) => {
                self.mistakes(entry, mistakes);
                None
            }
        }
    }

    fn condition(&mut self, entry: Entry<'d>, env: Env<'_>) -> Option<Node> {
        let Compiled { node, kind } = self.expression(entry, env)?;
        if !matches!(kind, Type::Flag | Type::Any) {
            self.error(entry, format!("expected a condition, this is {}", kind.name()), None);
        }
        Some(node)
    }

    fn number(&mut self, entry: Entry<'d>, env: Env<'_>) -> Option<Node> {
        let Compiled { node, kind } = self.expression(entry, env)?;
        if !kind.unit().is_some_and(|unit| unit.fits(super::unit::Unit::NUMBER)) {
            self.error(entry, format!("expected a number of tasks, this is {}", kind.name()), None);
        }
        Some(node)
    }

    /// The text of a scalar.
    fn text(&mut self, entry: Option<Entry<'d>>) -> Option<&'d str> {
        let entry = entry?;
        let text = entry.node.as_text();
        if text.is_none() {
            self.error(entry, format!("expected a text, got {}", entry.node.what()), None);
        }
        text
    }

    fn word<T: Copy>(&mut self, entry: Option<Entry<'d>>, words: &[(&str, T)]) -> Option<T> {
        let (entry, text) = (entry?, self.text(entry)?);
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if found.is_none() {
            let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let help = nearest(text, all.iter().copied()).map(|near| format!("did you mean \"{near}\"?"));
            self.error(entry, format!("\"{text}\" is none of {}", all.join(", ")), help);
        }
        found
    }

    fn mistakes(&mut self, entry: Entry<'d>, mistakes: Vec<Mistake>) {
        for Mistake { at, len, message, help } in mistakes {
            let text = self.sources.get(entry.source).map_or("", |source| source.text);
            self.at(entry.source, &place::within(text, entry.node, at, len), message, help);
        }
    }

    fn error(&mut self, entry: Entry<'d>, message: String, help: Option<String>) {
        self.at(entry.source, &entry.node.span, message, help);
    }

    /// A mistake of the whole rule, told where its first document starts.
    fn base_error(&mut self, message: String, help: &str) {
        if let Some(source) = self.sources.first() {
            self.at(0, source.span, message, Some(help.to_owned()));
        }
    }

    fn at(&mut self, source: usize, span: &Span, message: String, help: Option<String>) {
        self.failed = true;
        (self.tell)(source, span.clone(), message, help);
    }
}

fn is_kebab_case(id: &str) -> bool {
    id.len() <= 100
        && id.starts_with(|c: char| c.is_ascii_lowercase())
        && id.split('-').all(|part| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        })
}

fn is_snake_case(name: &str) -> bool {
    name.len() <= 60
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// The rule's page: what its author says, and how it computes.
fn page(title: &str, description: Option<&str>, layered: &Layered<'_>) -> String {
    let mut page =
        format!("# {}\n\n{}\n\n## How it judges\n\n", title.trim(), description.unwrap_or_default().trim());
    for (name, entry) in &layered.values {
        let expression =
            entry.node.as_text().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        // Writing to a string does not fail.
        let _ = writeln!(page, "    {} = {expression}", name.value);
    }
    if let Some(severity) = layered.entry("severity").and_then(|entry| entry.node.as_text()) {
        let _ = writeln!(page, "\nThe severity is `{}`.", severity.trim());
    }
    page
}
