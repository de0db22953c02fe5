//! Loads the custom rules of a rule set.

use std::sync::OnceLock;

use super::definition::CustomRule;
use super::read::Source;
use crate::finding::{Provenance, RuleFacts};
use crate::params::Problems;
use crate::params::layers::{Layer, Layers, Parameter};
use crate::rules::active::{ActiveRule, RuleCheck, RuleInfo};
use crate::rules::document::{Document, Target};

/// Keys that occur only in documents that define a rule.
const DEFINING: [&str; 2] = ["values", "message"];

/// Marks the first document that defines each rule, and returns the ids of those rules. Rules in Rust have the ids in
/// `known`.
pub(in crate::rules) fn mark(documents: &mut [Document], known: &[&str]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for document in documents {
        let Target::Rule(id) = &document.target else { continue };
        let defines = document.layer.entries.iter().any(|(key, _)| DEFINING.contains(&key.value.as_str()));
        if defines && !known.contains(&id.as_str()) && !ids.contains(id) {
            ids.push(id.clone());
            document.defines = true;
        }
    }
    ids
}

/// The custom rules of `documents`, in the order of their first documents.
pub(in crate::rules) fn load_all(documents: &[&Document], problems: &mut Problems) -> Vec<ActiveRule> {
    let defining = documents.iter().filter(|document| document.defines);
    defining.filter_map(|base| load(base, documents, problems)).collect()
}

/// Reports the problems of the custom rules in `documents`: without the documents for some applications,
/// and with each of those separately.
pub(in crate::rules) fn check_all(documents: &[&Document], problems: &mut Problems) {
    for base in documents.iter().filter(|document| document.defines) {
        let Target::Rule(id) = &base.target else { continue };
        let scoped = |document: &Document| !document.defines && !document.scope.is_everything();
        let with = |extra: Option<usize>| -> Vec<&Document> {
            let kept = documents.iter().enumerate().filter(|(place, document)| {
                is_about(document, id) && (!scoped(document) || Some(*place) == extra)
            });
            kept.map(|(_, document)| *document).collect()
        };
        if load(base, &with(None), problems).is_none() {
            continue;
        }
        let own = documents.iter().enumerate().filter(|(_, d)| is_about(d, id) && scoped(d));
        for (place, _) in own {
            load(base, &with(Some(place)), problems);
        }
    }
}

fn is_about(document: &Document, id: &str) -> bool {
    document.target.includes(id, Provenance::User)
}

fn load(base: &Document, documents: &[&Document], problems: &mut Problems) -> Option<ActiveRule> {
    let Target::Rule(id) = &base.target else { return None };
    let own = || documents.iter().filter(|document| is_about(document, id));
    let about = own().filter(|document| !document.defines && matches!(document.target, Target::Rule(_)));
    let layers: Vec<&Layer> =
        std::iter::once(base).chain(about.copied()).map(|document| &document.layer).collect();
    let sources: Vec<Source<'_>> = layers
        .iter()
        .map(|layer| Source {
            text: &layer.file.text,
            file: &layer.file.name,
            span: &layer.span,
            entries: &layer.entries,
        })
        .collect();
    let rule = CustomRule::read(id, &sources, &mut |place, span, message, help| {
        if let Some(layer) = layers.get(place) {
            problems.error(&layer.file, &span, message, help);
        }
    });
    let rule = CustomRule { only_for: base.scope.clone(), ..rule? };
    let params = rule.limits.iter().filter_map(|limit| {
        let (place, span) = &limit.origin;
        Some(Parameter {
            key: limit.name.clone().into(),
            value: limit.limit.judge.value(),
            origin: layers.get(*place)?.origin_of(span),
        })
    });
    let params = params.collect();
    let own: Vec<&Layer> = own().map(|document| &document.layer).collect();
    let head = Layers { rule: id, all: &own, problems };
    Some(ActiveRule {
        info: RuleInfo {
            id: id.clone().into(),
            title: rule.title.clone().into(),
            page: rule.page.clone().into(),
        },
        facts: RuleFacts::USER,
        enabled: head.enabled(),
        max_severity: head.max_severity(),
        check: RuleCheck::Defined(Box::new(rule)),
        params,
        thresholds: OnceLock::new(),
    })
}
