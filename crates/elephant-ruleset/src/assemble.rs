//! From documents to rules with parameters.

use std::sync::{Arc, OnceLock};

use super::active::{ActiveRule, RuleCheck, RuleInfo};
use super::added::AddedRule;
use super::document::{Content, Document};
use super::index::{Index, Indexed};
use super::{RuleFile, custom, in_force, settings};
use elephant_catalogue::{AdviceParams, Catalogue, Loaded, Rule};
use elephant_rule::finding::Provenance;
use elephant_rule::params::Problems;
use elephant_rule::params::layers::{Layer, Layers};

/// The rules' own files, which ship with the program.
pub(super) fn built_in_documents(catalogue: Catalogue, problems: &mut Problems) -> Vec<Document> {
    let settings = settings::ALL.iter().map(|settings| (settings.id, settings.defaults));
    let files = catalogue.rules().map(|rule| (rule.id, rule.defaults)).chain(settings);
    let mut documents = Vec::new();
    for (id, defaults) in files {
        let file = RuleFile { name: format!("built-in {id}"), text: defaults.to_owned() };
        let content = Content::read(&Arc::new(file), problems);
        documents.extend(content.documents.into_iter().map(|mut document| {
            document.layer.built_in = true;
            document
        }));
    }
    documents
}

pub(super) fn layers_of<'d>(documents: Indexed<'_, 'd>, id: &str, provenance: Provenance) -> Vec<&'d Layer> {
    documents.about(id, provenance).map(|(_, document)| &document.layer).collect()
}

/// Every rule with its parameters from `documents`; `None` if a built-in file is incomplete.
pub(super) fn load_all(
    catalogue: Catalogue,
    documents: &[&Document],
    added: &[AddedRule],
    problems: &mut Problems,
) -> Option<Vec<ActiveRule>> {
    let index = Index::of(documents.iter().copied());
    let documents = Indexed { documents, index: &index };
    let mut rules = built_in_rules(catalogue, documents, problems)?;
    rules.extend(added_rules(added, documents, problems));
    rules.extend(custom::load_all(documents, problems));
    Some(rules)
}

pub(super) fn added_rules(
    added: &[AddedRule],
    documents: Indexed<'_, '_>,
    problems: &mut Problems,
) -> Vec<ActiveRule> {
    let active = |rule: &AddedRule| {
        let layers = layers_of(documents, rule.id(), Provenance::User);
        rule.active(Layers { rule: rule.id(), all: &layers, problems })
    };
    added.iter().map(active).collect()
}

pub(super) fn built_in_rules(
    catalogue: Catalogue,
    documents: Indexed<'_, '_>,
    problems: &mut Problems,
) -> Option<Vec<ActiveRule>> {
    let advice = Arc::new(in_force::advice(documents)?);
    catalogue.rules().map(|rule| built_in_rule(rule, &advice, documents, problems)).collect()
}

pub(super) fn built_in_rule(
    rule: &'static Rule,
    advice: &Arc<AdviceParams>,
    documents: Indexed<'_, '_>,
    problems: &mut Problems,
) -> Option<ActiveRule> {
    let layers = layers_of(documents, rule.id, rule.facts.provenance);
    let mut layers = Layers { rule: rule.id, all: &layers, problems };
    let (enabled, max_severity) = (layers.enabled(), layers.max_severity());
    let Loaded { check, params } = (rule.load)(&mut layers, advice)?;
    Some(ActiveRule {
        info: RuleInfo { id: rule.id.into(), title: rule.title.into(), page: rule.page.into() },
        folder: rule.folder,
        facts: &rule.facts,
        enabled,
        max_severity,
        check: RuleCheck::Native(check.into()),
        params,
        thresholds: OnceLock::new(),
    })
}
