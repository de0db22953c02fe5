//! One document of a rule file: its rule, the applications it applies to, and its settings.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::exceptions::{self, ExceptionRule};
use super::identity::{Compile, Identifying};
use super::known::KnownIds;
use super::scope::{Pattern, Scope, Specificity};
use super::suppression::Suppression;
use elephant_rule::finding::Provenance;
use elephant_rule::params::layers::Layer;
use elephant_rule::params::lines::Lines;
use elephant_rule::params::words::did_you_mean;
use elephant_rule::params::yaml::{Kind, Node, Spanned, documents};
use elephant_rule::params::{Problems, RuleFile, work};

/// The rules that a document applies to.
#[derive(Debug, Clone)]
pub enum Target {
    /// One rule, by its id.
    Rule(String),
    /// All matching rules. Such a document may only switch them on or off and cap their severity.
    Every(Selection),
}

/// Several rules.
#[derive(Debug, Clone)]
pub struct Selection {
    /// The pattern of their ids.
    pub ids: Pattern,
    /// Only rules of this origin, in the words of [`Provenance::word`].
    pub origin: Option<&'static str>,
}

impl Target {
    /// Whether it includes the rule with this id and provenance.
    #[must_use]
    pub(crate) fn includes(&self, id: &str, provenance: Provenance) -> bool {
        work::count(1);
        match self {
            Self::Rule(own) => own == id,
            Self::Every(Selection { ids, origin }) => {
                ids.matches(id) && (origin.is_none() || *origin == provenance.word())
            }
        }
    }
}

/// A document about one or several rules.
#[derive(Debug, Clone)]
pub struct Document {
    /// Its settings.
    pub layer: Layer,
    /// Whether it is the first of the documents that define a custom rule.
    pub defines: bool,
    /// The rules.
    pub target: Target,
    /// The applications.
    pub scope: Scope,
}

/// The content of a file.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) documents: Vec<Document>,
    pub(super) suppressions: Vec<Suppression>,
    pub(super) identifying: Vec<Identifying>,
    pub(super) exceptions: Vec<ExceptionRule>,
}

impl Content {
    /// Reads a file; problems are added to `problems`.
    pub(super) fn read(file: &Arc<RuleFile>, problems: &mut Problems) -> Self {
        let (nodes, errors) = documents(&file.text);
        for error in errors {
            problems.syntax(file, error);
        }
        let lines = Arc::new(Lines::of(&file.text));
        let mut content = Self::default();
        let mut expressions = 0;
        for node in nodes {
            expressions += expressions_in(&node);
            if expressions > MAX_EXPRESSIONS {
                let message = format!("the file has more than {MAX_EXPRESSIONS} regular expressions");
                problems.error(file, &node.span, message, Some(FEWER_EXPRESSIONS.to_owned()));
                break;
            }
            let Kind::Map(entries) = node.kind else {
                let message = format!("expected a document about one rule, got {}", node.what());
                problems.error(file, &node.span, message, Some(WHICH_RULE.to_owned()));
                continue;
            };
            let has = |wanted: &str| entries.iter().any(|(key, _)| key.value == wanted);
            if has("suppress") {
                content.suppressions.extend(Suppression::read(file, &lines, &entries, problems));
            } else if has("identify") {
                content.identifying.extend(Identifying::read(file, &entries, Compile::Now, problems));
            } else if has(exceptions::KEY) {
                content.exceptions.extend(exceptions::of_document(file, &entries, problems));
            } else if has("rule") {
                content.documents.extend(Document::read(file, &lines, entries, problems));
            } else {
                let (first, help) = entries.first().map_or((node.span, None), |(key, _)| {
                    (key.span.clone(), did_you_mean(&key.value, KINDS.into_iter()))
                });
                let message = "the document has no rule";
                problems.error(file, &first, message, help.or_else(|| Some(WHICH_RULE.to_owned())));
            }
        }
        content.check_repetitions(file, problems);
        content
    }

    /// Reports rules with two documents for the same applications in this file: mostly a copy whose id was not changed.
    fn check_repetitions(&self, file: &Arc<RuleFile>, problems: &mut Problems) {
        let mut known: BTreeMap<(&str, String), usize> = BTreeMap::new();
        for document in &self.documents {
            let Target::Rule(id) = &document.target else { continue };
            let line = document.layer.lines.line(document.layer.span.start);
            match known.entry((id, document.scope.to_string())) {
                Entry::Vacant(new) => {
                    new.insert(line);
                }
                Entry::Occupied(first) => {
                    let message =
                        format!("the rule \"{id}\" is in this file already, in line {}", first.get());
                    problems.error(file, &document.layer.span, message, Some(REPEATED.to_owned()));
                }
            }
        }
    }
}

/// The keys by which a document is recognised.
const KINDS: [&str; 4] = ["rule", "suppress", "identify", exceptions::KEY];

/// A compiled regular expression takes up to half a megabyte, whatever its length.
const MAX_EXPRESSIONS: usize = 1000;

const FEWER_EXPRESSIONS: &str = "write words and globs such as etl-*, which take no more space than their text, or one expression for several names";

/// The number of texts such as `/^etl-/` below a node, which are compiled if the key takes patterns.
fn expressions_in(node: &Node) -> usize {
    match &node.kind {
        Kind::Scalar { text, .. } => usize::from(text.len() > 2 && text.contains('/') && text.ends_with('/')),
        Kind::List(nodes) => nodes.iter().map(expressions_in).sum(),
        Kind::Map(entries) => entries.iter().map(|(_, value)| expressions_in(value)).sum(),
    }
}

const REPEATED: &str = "merge the two documents, give this one another id, or restrict it to some applications with the key \"for\"";

/// The key that selects only rules of one origin.
pub(super) const ORIGIN: &str = "origin";

const WHICH_RULE: &str = "start with \"rule: <id>\"; `elephant-rs rules list` lists all ids";

impl Document {
    fn read(
        file: &Arc<RuleFile>,
        lines: &Arc<Lines>,
        entries: Vec<(Spanned<String>, Node)>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let mut document = Self {
            layer: Layer {
                file: Arc::clone(file),
                lines: Arc::clone(lines),
                built_in: false,
                span: 0..0,
                scope: None,
                enabled: None,
                max_severity: None,
                entries: Vec::new(),
            },
            defines: false,
            target: Target::Rule(String::new()),
            scope: Scope::default(),
        };
        let mut target = None;
        for (key, node) in entries {
            let span = node.span.clone();
            match key.value.as_str() {
                "rule" => {
                    document.layer.span = span;
                    target = read_target(file, &node, problems);
                }
                "for" => document.scope = Scope::read(file, &node, problems),
                "enabled" => match node.read() {
                    Ok(value) => document.layer.enabled = Some(Spanned { value, span }),
                    Err(error) => problems.unreadable(file, &span, error),
                },
                "max_severity" => match node.read() {
                    Ok(value) => document.layer.max_severity = Some(Spanned { value, span }),
                    Err(error) => problems.unreadable(file, &span, error),
                },
                _ => document.layer.entries.push((key, node)),
            }
        }
        document.layer.scope = (!document.scope.is_everything()).then(|| document.scope.to_string());
        document.target = target?;
        if let Target::Every(several) = &mut document.target
            && let Some(place) = document.layer.entries.iter().position(|(key, _)| key.value == ORIGIN)
        {
            let (_, node) = document.layer.entries.remove(place);
            several.origin = Some(read_origin(file, &node, problems)?);
        }
        if let (Target::Every(_), Some((key, _))) = (&document.target, document.layer.entries.first()) {
            let message = format!("\"{}\" is not allowed in a document about several rules", key.value);
            let help = "such a document may have for, origin, enabled and max_severity".to_owned();
            problems.error(file, &key.span, message, Some(help));
            document.layer.entries.clear();
        }
        Some(document)
    }

    /// The sort key of the layers: built-in documents first, the most specific last.
    #[must_use]
    pub(super) fn precedence(&self) -> (bool, Specificity, bool) {
        (!self.layer.built_in, self.scope.specificity(), matches!(self.target, Target::Rule(_)))
    }
}

fn read_target(file: &Arc<RuleFile>, node: &Node, problems: &mut Problems) -> Option<Target> {
    if !matches!(node.kind, Kind::Scalar { .. }) {
        let message = format!("expected the id of one rule, or a pattern for several, got {}", node.what());
        problems.error(file, &node.span, message, Some(ONE_PATTERN.to_owned()));
        return None;
    }
    let id: String = match node.read() {
        Ok(id) => id,
        Err(error) => {
            problems.unreadable(file, &node.span, error);
            return None;
        }
    };
    if !id.contains(['*', '?', '/']) {
        return Some(Target::Rule(id));
    }
    match Pattern::parse(&id) {
        Ok(ids) => Some(Target::Every(Selection { ids, origin: None })),
        Err(message) => {
            problems.error(file, &node.span, message, None);
            None
        }
    }
}

const ONE_PATTERN: &str =
    "write one pattern, such as mapper-* or '/^(mapper|reducer)-skew$/', or a document for each rule";

/// Reads the origin of rules.
fn read_origin(file: &Arc<RuleFile>, node: &Node, problems: &mut Problems) -> Option<&'static str> {
    let written: String = match node.read() {
        Ok(written) => written,
        Err(error) => {
            problems.unreadable(file, &node.span, error);
            return None;
        }
    };
    let known = Provenance::WORDS.into_iter().find(|word| *word == written);
    if known.is_none() {
        let words = Provenance::WORDS;
        let message = format!("unknown origin \"{written}\"; expected {}", words.join(" or "));
        problems.error(file, &node.span, message, did_you_mean(&written, words.into_iter()));
    }
    known
}

/// Whether a rule with this id exists; `known` are the ids of all rules.
pub(super) fn check_target(document: &Document, known: &mut KnownIds<'_>, problems: &mut Problems) -> bool {
    let (is_known, written) = match &document.target {
        Target::Rule(id) => (known.contains(id), id.as_str()),
        Target::Every(several) => (known.all().any(|known| several.ids.matches(known)), ""),
    };
    if !is_known {
        let message = match &document.target {
            Target::Rule(id) => format!("there is no rule \"{id}\""),
            Target::Every(several) => format!("no rule id matches \"{}\"", several.ids),
        };
        let all = "`elephant-rs rules list` lists all ids".to_owned();
        problems.error(
            &document.layer.file,
            &document.layer.span,
            message,
            known.suggestion(written).or(Some(all)),
        );
    }
    is_known
}

/// Whether a file with scoped documents contains the word by which rules read counters. A file may hold thousands of
/// documents, and is searched once.
pub(super) fn names_counters(documents: &[Arc<Document>]) -> bool {
    let scoped = documents.iter().filter(|document| !document.scope.is_everything());
    let mut searched = BTreeSet::new();
    let mut files = scoped.map(|it| &it.layer.file).filter(|&file| searched.insert(Arc::as_ptr(file)));
    files.any(|file| {
        work::count(file.text.len());
        file.text.contains("counter")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems_of(expressions: usize) -> String {
        let document =
            |n: usize| format!("---\nrule: mapper-skew\nfor: {{name: '/^etl-{n}$/'}}\nenabled: true\n");
        let text = (0..expressions).map(document).collect();
        let file = Arc::new(RuleFile { name: "many.yaml".to_owned(), text });
        let mut problems = Problems::default();
        Content::read(&file, &mut problems);
        problems.into_vec(&[]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn regular_expressions_are_bounded() {
        assert_eq!(problems_of(MAX_EXPRESSIONS), "");
        let beyond = problems_of(MAX_EXPRESSIONS + 1);
        assert!(beyond.contains("more than 1000 regular expressions"), "{beyond}");
        assert_eq!(problems_of(3 * MAX_EXPRESSIONS).matches("more than").count(), 1);
    }
}
