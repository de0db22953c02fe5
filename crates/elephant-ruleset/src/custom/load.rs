//! Loads the custom rules of a rule set.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::definition::CustomRule;
use super::read::Source;
use crate::active::{ANY_ENGINE, ActiveRule, RuleCheck, RuleInfo};
use crate::document::{Document, Target};
use crate::index::Indexed;
use crate::known::KnownIds;
use elephant_rule::finding::{Provenance, RuleFacts};
use elephant_rule::params::Problems;
use elephant_rule::params::layers::{Layer, Layers, Parameter};

/// Keys that occur only in documents that define a rule.
const DEFINING: [&str; 2] = ["values", "message"];

/// Marks the first document that defines each rule, and returns the ids of those rules. Rules in Rust have the ids in
/// `known`.
pub(crate) fn mark(documents: &mut [Document], known: &KnownIds<'_>) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    let mut defined: BTreeSet<String> = BTreeSet::new();
    for document in documents {
        let Target::Rule(id) = &document.target else { continue };
        let defines = document.layer.entries.iter().any(|(key, _)| DEFINING.contains(&key.value.as_str()));
        if defines && !known.contains(id) && defined.insert(id.clone()) {
            ids.push(id.clone());
            document.defines = true;
        }
    }
    ids
}

/// The custom rules of `documents`, in the order of their first documents.
pub(crate) fn load_all(documents: Indexed<'_, '_>, problems: &mut Problems) -> Vec<ActiveRule> {
    let about = |id| documents.about(id, Provenance::User).map(|(_, document)| document).collect::<Vec<_>>();
    let defining = documents.documents.iter().filter_map(|document| match &document.target {
        Target::Rule(id) if document.defines => Some((document, about(id))),
        _ => None,
    });
    defining.filter_map(|(base, about)| load(base, &about, problems)).collect()
}

/// Reports the problems of the custom rules in `documents`: without the documents for some applications,
/// and with each of those separately.
pub(crate) fn check_all(documents: Indexed<'_, '_>, problems: &mut Problems) {
    for base in documents.documents.iter().filter(|document| document.defines) {
        let Target::Rule(id) = &base.target else { continue };
        let is_scoped = |document: &Document| !document.defines && !document.scope.is_everything();
        let (scoped, everywhere): (Vec<_>, Vec<_>) =
            documents.about(id, Provenance::User).partition(|(_, document)| is_scoped(document));
        let with = |extra: Option<&(usize, _)>| {
            let mut documents = everywhere.clone();
            if let Some(extra) = extra {
                let place = everywhere.partition_point(|(place, _)| *place < extra.0);
                documents.insert(place, *extra);
            }
            documents.into_iter().map(|(_, document)| document).collect::<Vec<&Document>>()
        };
        if load(base, &with(None), problems).is_none() {
            continue;
        }
        for extra in &scoped {
            load(base, &with(Some(extra)), problems);
        }
    }
}

/// The rule with this base; `documents` are all about it.
fn load(base: &Document, documents: &[&Document], problems: &mut Problems) -> Option<ActiveRule> {
    let Target::Rule(id) = &base.target else { return None };
    let own = || documents.iter();
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
        folder: ANY_ENGINE,
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
