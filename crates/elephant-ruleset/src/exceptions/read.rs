//! Reads a document of exceptions. Every problem has its position, and reading goes on after it.

use std::sync::Arc;

use elephant_base::severity::Severity;
use elephant_container_log::{Fault, Origin, Part};
use elephant_rule::params::words::did_you_mean;
use elephant_rule::params::yaml::{Kind as NodeKind, Node, Span, Spanned};
use elephant_rule::params::{Problems, RuleFile};
use regex::{Regex, RegexBuilder};

use super::{ExceptionRule, KEY, Told};

/// The keys of a rule.
pub(in crate::exceptions) const KEYS: [&str; 10] =
    ["kind", "priority", "source", "regex", "match", "fault", "severity", "remedy", "example", "not"];

/// A compiled expression takes no more memory.
const MAX_REGEX: usize = 256 << 10;
/// An expression has no more bytes.
const MAX_LEN: usize = 2000;
/// A file has no more rules.
const MAX_RULES: usize = 500;
/// The priority of a rule that states none.
const PRIORITY: i64 = 50;

type Entries = [(Spanned<String>, Node)];

/// The rules of a document `exceptions: […]`.
pub(in crate::exceptions) fn document(
    file: &Arc<RuleFile>,
    entries: &Entries,
    is_custom: bool,
    problems: &mut Problems,
) -> Vec<ExceptionRule> {
    let mut rules = Vec::new();
    for (key, node) in entries {
        if key.value != KEY {
            let message = format!("a document with {KEY} has no key \"{}\"", key.value);
            let help = "write it in a document of its own, after a line ---".to_owned();
            problems.error(file, &key.span, message, Some(help));
            continue;
        }
        let NodeKind::List(items) = &node.kind else {
            let message = format!("expected a list of rules, got {}", node.what());
            problems.error(file, &node.span, message, Some("begin each with \"- kind: <id>\"".to_owned()));
            continue;
        };
        if items.len() > MAX_RULES {
            problems.error(file, &node.span, format!("the list has more than {MAX_RULES} rules"), None);
        }
        rules.extend(items.iter().take(MAX_RULES).filter_map(|item| rule(file, item, is_custom, problems)));
    }
    rules
}

/// Reads values of a rule.
struct Reader<'r> {
    file: &'r Arc<RuleFile>,
    entries: &'r Entries,
    /// The position for keys that are missing.
    whole: Span,
    problems: &'r mut Problems,
}

fn rule(
    file: &Arc<RuleFile>,
    item: &Node,
    is_custom: bool,
    problems: &mut Problems,
) -> Option<ExceptionRule> {
    let NodeKind::Map(entries) = &item.kind else {
        let message = format!("expected a rule with its keys, got {}", item.what());
        problems.error(file, &item.span, message, Some(format!("its keys are {}", KEYS.join(", "))));
        return None;
    };
    let whole = entries.first().map_or_else(|| item.span.clone(), |(key, _)| key.span.clone());
    let mut reader = Reader { file, entries, whole, problems };
    reader.check_keys();
    let name = reader.name();
    let regex = reader.regex();
    let told = Told {
        priority: reader.value("priority").unwrap_or(PRIORITY),
        origins: reader.origins(),
        part: reader.word("match", &Part::ALL, Part::name).unwrap_or(Part::Cause),
        fault: reader.word("fault", &Fault::ALL, Fault::name).unwrap_or(Fault::User),
        at_most: reader.at_most(),
        remedy: reader
            .value::<String>("remedy")
            .map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")),
        name: name.clone()?,
        regex: regex?,
    };
    reader.check_remedy(&told);
    let (examples, others) = (reader.texts("example"), reader.texts("not"));
    if examples.is_empty() {
        let message = format!("the rule of the kind \"{}\" has no example", told.name);
        reader.missing(message, "add example: a line of a log that it tells");
    }
    let span = reader.node("kind").map_or_else(|| item.span.clone(), |node| node.span.clone());
    Some(ExceptionRule { rule: told.rule(is_custom), file: Arc::clone(file), span, examples, others })
}

impl<'r> Reader<'r> {
    fn node(&self, key: &str) -> Option<&'r Node> {
        self.entries.iter().find(|(known, _)| known.value == key).map(|(_, node)| node)
    }

    fn missing(&mut self, message: String, help: &str) {
        let whole = self.whole.clone();
        self.problems.error(self.file, &whole, message, Some(help.to_owned()));
    }

    fn check_keys(&mut self) {
        for (key, _) in self.entries.iter().filter(|(key, _)| !KEYS.contains(&key.value.as_str())) {
            let message = format!(
                "a rule of exceptions has no key \"{}\"; its keys are {}",
                key.value,
                KEYS.join(", ")
            );
            self.problems.error(self.file, &key.span, message, did_you_mean(&key.value, KEYS.into_iter()));
        }
    }

    fn value<T: serde::de::DeserializeOwned>(&mut self, key: &str) -> Option<T> {
        let node = self.node(key)?;
        node.read().map_err(|error| self.problems.unreadable(self.file, &node.span, error)).ok()
    }

    /// The highest severity, and its place in the file.
    fn at_most(&mut self) -> Option<(Severity, String)> {
        let start = self.node("severity")?.span.start;
        let severity = self.value("severity")?;
        let line = self.file.text.get(..start).unwrap_or_default().matches('\n').count() + 1;
        Some((severity, format!("{}:{line}", self.file.name)))
    }

    /// The id of the kind.
    fn name(&mut self) -> Option<String> {
        let Some(node) = self.node("kind") else {
            self.missing("the rule has no kind".to_owned(), "add kind: a stable id, such as hive-lock");
            return None;
        };
        let name: String = self.value("kind")?;
        let is_id = !name.is_empty()
            && name.len() <= 60
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if !is_id {
            let help = "write lower-case letters, digits and hyphens, such as hive-lock".to_owned();
            self.problems.error(self.file, &node.span, format!("\"{name}\" is no id of a kind"), Some(help));
        }
        is_id.then_some(name)
    }

    fn regex(&mut self) -> Option<Regex> {
        let Some(node) = self.node("regex") else {
            self.missing("the rule has no regex".to_owned(), "add regex: what a line must contain");
            return None;
        };
        let text: String = self.value("regex")?;
        if text.is_empty() || text.len() > MAX_LEN {
            let message = format!("the expression must have between 1 and {MAX_LEN} bytes");
            self.problems.error(self.file, &node.span, message, None);
            return None;
        }
        let built = RegexBuilder::new(&text).size_limit(MAX_REGEX).build();
        built
            .map_err(|error| {
                let message = match error {
                    regex::Error::CompiledTooBig(_) => "the expression is too large".to_owned(),
                    error => {
                        let text = error.to_string();
                        format!("the expression is wrong: {}", text.lines().last().unwrap_or_default())
                    }
                };
                let help =
                    "look-around and back-references do not exist: they may take exponential time".to_owned();
                self.problems.error(self.file, &node.span, message, Some(help));
            })
            .ok()
    }

    /// One of some words.
    fn word<T: Copy>(&mut self, key: &str, all: &[T], name: fn(T) -> &'static str) -> Option<T> {
        let node = self.node(key)?;
        let written: String = self.value(key)?;
        let found = all.iter().copied().find(|one| name(*one) == written);
        if found.is_none() {
            let words: Vec<&str> = all.iter().map(|one| name(*one)).collect();
            let message = format!("unknown {key} \"{written}\"; expected {}", words.join(", "));
            self.problems.error(self.file, &node.span, message, did_you_mean(&written, words.into_iter()));
        }
        found
    }

    fn origins(&mut self) -> Vec<Origin> {
        let Some(node) = self.node("source") else { return Vec::new() };
        let written: Vec<String> = match &node.kind {
            NodeKind::List(_) => self.value("source").unwrap_or_default(),
            _ => self.value("source").into_iter().collect(),
        };
        let mut origins = Vec::new();
        for word in written {
            if let Some(origin) = Origin::ALL.into_iter().find(|origin| origin.name() == word) {
                origins.push(origin);
            } else {
                let words = Origin::ALL.map(Origin::name);
                let message = format!("unknown source \"{word}\"; expected {}", words.join(", "));
                self.problems.error(self.file, &node.span, message, did_you_mean(&word, words.into_iter()));
            }
        }
        origins
    }

    /// One text or several.
    fn texts(&mut self, key: &str) -> Vec<(String, Span)> {
        let Some(node) = self.node(key) else { return Vec::new() };
        let nodes = match &node.kind {
            NodeKind::List(nodes) => nodes.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let mut texts = Vec::new();
        for node in nodes {
            match node.read::<String>() {
                Ok(text) => texts.push((text, node.span.clone())),
                Err(error) => self.problems.unreadable(self.file, &node.span, error),
            }
        }
        texts
    }

    /// Each name in braces must be a group of the expression.
    fn check_remedy(&mut self, told: &Told) {
        let (Some(remedy), Some(node)) = (&told.remedy, self.node("remedy")) else { return };
        let names: Vec<&str> = told.regex.capture_names().flatten().collect();
        for part in remedy.split('{').skip(1) {
            let name = part.split('}').next().unwrap_or_default();
            if !names.contains(&name) {
                let message = format!("the expression has no group \"{name}\"");
                let help = did_you_mean(name, names.iter().copied())
                    .unwrap_or_else(|| format!("name it in the expression: (?P<{name}>\\d+)"));
                self.problems.error(self.file, &node.span, message, Some(help));
            }
        }
    }
}
