//! Reads documents of rule files into a [`CustomRule`]. Every mistake is reported with its position in the
//! file.

mod examples;
mod judging;
mod layers;
mod page;
mod place;
mod texts;

#[cfg(test)]
pub(super) use self::layers::KEYS;
use self::layers::{Entry, Layered};
use super::compile::{Compiled, Env, Over, compile};
use super::definition::{CustomRule, DefinedLimit, DefinedValue};
use super::mistake::Mistake;
use super::node::Node;
use super::unit::Type;
use crate::Scope;
use elephant_model::model::Engine;
use elephant_model::model::counters::CounterMask;
use elephant_rule::params::words::{nearest, unknown_word};
use elephant_rule::params::yaml::{self, Span, Spanned};

/// A document about the rule.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'d> {
    /// The text of its file.
    pub(super) text: &'d str,
    /// The file's name.
    pub(super) file: &'d str,
    /// The position of the rule's id.
    pub(super) span: &'d Span,
    /// The keys about the rule, except `rule`, `for`, `enabled` and `max_severity`.
    pub(super) entries: &'d [(Spanned<String>, yaml::Node)],
}

/// Receives a mistake: the source, the position in it, the problem, and how to fix it.
pub(super) type Tell<'t> = dyn FnMut(usize, Span, String, Option<String>) + 't;

struct Reader<'d, 't> {
    sources: &'d [Source<'d>],
    tell: &'t mut Tell<'t>,
    failed: bool,
}

impl CustomRule {
    /// Reads the rule `id` from its documents; later ones override earlier ones. `None` after a mistake.
    pub(super) fn read<'d, 't>(id: &str, sources: &'d [Source<'d>], tell: &'t mut Tell<'t>) -> Option<Self> {
        let mut reader = Reader { sources, tell, failed: false };
        let rule = reader.rule(id);
        rule.filter(|_| !reader.failed)
    }
}

impl<'d> Reader<'d, '_> {
    fn rule(&mut self, id: &str) -> Option<CustomRule> {
        let layered = Layered::of(self);
        if !is_kebab_case(id) {
            self.base_error(
                format!("\"{id}\" is not a valid rule id"),
                "ids are in kebab-case, such as etl-small-files",
            );
        }
        let (engine, over) = self.subject(&layered);
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
        let page = page::page(&title, self.text(layered.entry("description")), &layered);
        let mut rule = CustomRule {
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
            reads: CounterMask::NONE,
            names_counters: false,
        };
        rule.rests_on = rule.find_facets();
        rule.reads = rule.find_counters();
        rule.names_counters = rule.find_named_counters();
        Some(rule)
    }

    /// The engine whose applications the rule judges, and the subjects in them.
    fn subject(&mut self, layered: &Layered<'d>) -> (Option<Engine>, Over) {
        let engine = self
            .word(
                layered.entry("engine"),
                &[
                    ("any", None),
                    ("mapreduce", Some(Engine::MapReduce)),
                    ("spark", Some(Engine::Spark)),
                    ("tez", Some(Engine::Tez)),
                ],
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
                ("job", Over::Job),
                ("query", Over::Query),
                ("operator", Over::Operator),
            ],
        );
        let over = over.unwrap_or_default();
        if let (Some(own), Some(engine), Some(entry)) = (over.engine(), engine, layered.entry("over"))
            && own != engine
        {
            self.error(entry, format!("{} has no such tasks", engine.name()), None);
        }
        (engine, over)
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
            self.error(entry, format!("expected a condition, but this is {}", kind.name()), None);
        }
        Some(node)
    }

    fn number(&mut self, entry: Entry<'d>, env: Env<'_>) -> Option<Node> {
        let Compiled { node, kind } = self.expression(entry, env)?;
        if !kind.unit().is_some_and(|unit| unit.fits(super::unit::Unit::NUMBER)) {
            self.error(entry, format!("expected a number of tasks, but this is {}", kind.name()), None);
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
            self.error(entry, unknown_word("value", text, &all), help);
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

    /// A mistake of the whole rule, reported at the start of its first document.
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
