//! Rules that tell the kind of exceptions in logs: the built-in list (`rules/exceptions.yaml`), and those of the user's files.

mod read;
mod schema;
#[cfg(test)]
mod tests;

pub(super) use schema::schema;

use std::sync::{Arc, LazyLock};

use elephant_base::severity::Severity;
use elephant_container_log::{Classifier, Fault, Kind, Origin, Part, Rule};
use elephant_model::diagnosis::FailureKind;
use elephant_rule::params::yaml::{Kind as NodeKind, Node, Span, Spanned, documents};
use elephant_rule::params::{Problems, RuleFile};
use regex::Regex;

/// The key of a document with such rules.
pub(super) const KEY: &str = "exceptions";

/// One rule with what its file says beside.
#[derive(Debug, Clone)]
pub(super) struct ExceptionRule {
    rule: Rule,
    file: Arc<RuleFile>,
    /// The position of its kind.
    span: Span,
    /// Lines that it must tell, with their positions.
    examples: Vec<(String, Span)>,
    /// Lines that it must not tell.
    others: Vec<(String, Span)>,
}

/// The built-in rules.
static BUILT_IN: LazyLock<Vec<ExceptionRule>> = LazyLock::new(|| {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/exceptions.yaml"));
    let file = Arc::new(RuleFile { name: "exceptions.yaml".to_owned(), text: text.to_owned() });
    let mut rules = Vec::new();
    let mut problems = Problems::default();
    for node in documents(&file.text).0 {
        if let NodeKind::Map(entries) = &node.kind {
            rules.extend(read::document(&file, entries, false, &mut problems));
        }
    }
    rules
});

/// The rules of a document of the user's.
pub(super) fn of_document(
    file: &Arc<RuleFile>,
    entries: &[(Spanned<String>, Node)],
    problems: &mut Problems,
) -> Vec<ExceptionRule> {
    read::document(file, entries, true, problems)
}

/// All rules in the order of evaluation.
pub(super) fn classifier(own: &[ExceptionRule]) -> Classifier {
    Classifier::new(own.iter().chain(BUILT_IN.iter()).map(|rule| rule.rule.clone()).collect())
}

/// Reports kinds that are told twice, and examples that their rules do not tell.
pub(super) fn check(own: &[ExceptionRule], problems: &mut Problems) {
    for (place, rule) in own.iter().enumerate() {
        let earlier = own.get(..place).unwrap_or_default();
        if let Some(first) = earlier.iter().find(|other| other.rule.kind.name == rule.rule.kind.name) {
            let line = first.file.text.get(..first.span.start).unwrap_or_default().matches('\n').count() + 1;
            let message = format!(
                "the kind \"{}\" is in {} already, in line {line}",
                rule.rule.kind.name, first.file.name
            );
            let help = "give this one another id, or join both expressions with |".to_owned();
            problems.error(&rule.file, &rule.span, message, Some(help));
        }
    }
    if own.is_empty() {
        return;
    }
    let classifier = classifier(own);
    for rule in own {
        rule.check_examples(&classifier, problems);
    }
}

impl ExceptionRule {
    fn check_examples(&self, classifier: &Classifier, problems: &mut Problems) {
        for (example, span) in &self.examples {
            if !self.rule.regex.is_match(example) {
                let help = "change the expression, or the example".to_owned();
                problems.error(&self.file, span, "the expression does not match this example", Some(help));
                continue;
            }
            let told = classifier.example(example);
            if let Some(told) = told.filter(|told| told.kind.name != self.rule.kind.name) {
                let message =
                    format!("the rule of the kind \"{}\" comes first and tells this example", told.kind.name);
                let help =
                    "give this one a smaller priority, or make that expression more specific".to_owned();
                problems.error(&self.file, span, message, Some(help));
            }
        }
        for (other, span) in &self.others {
            if self.rule.regex.is_match(other) {
                let help = "make the expression more specific".to_owned();
                problems.error(
                    &self.file,
                    span,
                    "the expression matches this text, which it must not",
                    Some(help),
                );
            }
        }
    }
}

/// The rule of a kind, as its keys say.
struct Told {
    name: String,
    priority: i64,
    origins: Vec<Origin>,
    regex: Regex,
    part: Part,
    fault: Fault,
    at_most: Option<(Severity, String)>,
    remedy: Option<String>,
}

impl Told {
    fn rule(self, is_custom: bool) -> Rule {
        let failure = FailureKind::ALL.iter().copied().find(|kind| kind.name() == self.name);
        let remedy = self.remedy.or_else(|| failure.map(|failure| failure.remedy().to_owned()));
        let kind =
            Kind { name: self.name, failure, fault: self.fault, at_most: self.at_most, remedy, is_custom };
        Rule { kind, priority: self.priority, origins: self.origins, regex: self.regex, part: self.part }
    }
}
