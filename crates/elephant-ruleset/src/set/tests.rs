//! Presets of Dr. Elephant and the rules that it does not have.

use super::*;
use crate::assemble::built_in_rule;
use crate::{PRESETS, Target};
use elephant_catalogue::Rule;
use elephant_rule::finding::{Provenance, RuleFacts, TroubleKind};
use elephant_rule::params::layers::Origin;
use elephant_rule::params::work::steps_of;

fn dr_elephant() -> impl Iterator<Item = RuleFile> {
    let presets = PRESETS.iter().filter(|(name, _)| name.starts_with("dr-elephant"));
    presets.map(|(name, text)| RuleFile { name: format!("preset {name}"), text: (*text).to_owned() })
}

fn documents_of(file: RuleFile) -> Vec<Document> {
    let mut problems = Problems::default();
    let content = Content::read(&Arc::new(file), &mut problems);
    assert!(problems.into_vec(&[]).is_empty());
    content.documents
}

fn switches_on(preset: &RuleFile, id: &str) -> bool {
    documents_of(preset.clone()).iter().any(|document| {
        let enabled = document.layer.enabled.as_ref().is_some_and(|enabled| enabled.value);
        enabled && matches!(&document.target, Target::Rule(own) if own == id)
    })
}

#[test]
fn own_rules_are_off_under_presets_of_dr_elephant() {
    for preset in dr_elephant() {
        let rules =
            RuleSet::with_files(elephant_heuristics::BUILT_IN, std::slice::from_ref(&preset)).unwrap();
        let own = rules.rules().iter().filter(|rule| rule.facts.provenance == Provenance::Own);
        for rule in own.filter(|rule| !switches_on(&preset, &rule.info.id)) {
            assert!(!rule.enabled.value, "{} is on under {}", rule.info.id, preset.name);
            let Origin::File { place, .. } = &rule.enabled.origin else { panic!("{}", rule.info.id) };
            assert!(place.starts_with(&format!("{}:", preset.name)), "{place}");
        }
    }
}

/// A copy of a rule under another id, with its built-in document.
fn made_up(provenance: Provenance) -> (&'static Rule, Vec<Document>) {
    let model = elephant_heuristics::BUILT_IN.rules().next().unwrap();
    let rule = Rule { id: "made-up", facts: RuleFacts::of(provenance, TroubleKind::Other), ..*model };
    let text = model.defaults.replace(model.id, rule.id);
    let mut documents = documents_of(RuleFile { name: "built-in made-up".to_owned(), text });
    for document in &mut documents {
        document.layer.built_in = true;
    }
    (Box::leak(Box::new(rule)), documents)
}

#[test]
fn a_new_rule_is_off_under_presets_of_dr_elephant() {
    let dr_elephants = Provenance::DrElephant { version: "master" };
    let advice = Arc::new(RuleSet::new(elephant_heuristics::BUILT_IN).unwrap().advice().clone());
    for (provenance, on) in [(Provenance::Own, false), (dr_elephants, false), (Provenance::User, true)] {
        let (rule, built_in) = made_up(provenance);
        for preset in dr_elephant() {
            let name = preset.name.clone();
            let documents: Vec<Document> = built_in.iter().cloned().chain(documents_of(preset)).collect();
            let documents: Vec<&Document> = documents.iter().collect();
            let index = Index::of(documents.iter().copied());
            let documents = Indexed { documents: &documents, index: &index };
            let active = built_in_rule(rule, &advice, documents, &mut Problems::default()).unwrap();
            assert_eq!(active.enabled.value, on, "{provenance:?} under {name}");
        }
    }
}

#[test]
fn a_document_about_one_rule_outweighs_one_about_an_origin() {
    let file = RuleFile { name: "mine".to_owned(), text: "rule: wait-time\nenabled: true\n".to_owned() };
    for preset in dr_elephant() {
        for files in [[file.clone(), preset.clone()], [preset, file.clone()]] {
            let rules = RuleSet::with_files(elephant_heuristics::BUILT_IN, &files).unwrap();
            let on = |rule: &&ActiveRule| rule.facts.provenance == Provenance::Own && rule.enabled.value;
            let on: Vec<&str> = rules.rules().iter().filter(on).map(|rule| rule.info.id.as_ref()).collect();
            assert_eq!(on, ["wait-time"]);
        }
    }
}

#[test]
fn an_unknown_origin_is_an_error() {
    let text = "rule: \"*\"\norigin: elephants\nenabled: false\n".to_owned();
    let (_, problems) =
        RuleSet::read(elephant_heuristics::BUILT_IN, &[RuleFile { name: "mine".to_owned(), text }]);
    assert_eq!(problems.len(), 1);
    assert!(problems[0].message.contains("unknown origin \"elephants\""), "{}", problems[0].message);
}

#[test]
fn rule_files_load_in_linear_time() {
    const DEFINITION: &str = "rule: team-rule-N\nover: stage\nvalues:\n  share: gc_time / run_time\n\
        thresholds:\n  share: [0.1, 0.2, 0.3, 0.4]\nseverity: share\nmessage: GC took {share}.\n";
    let overlay = "rule: team-rule-N\nfor: {queue: qN}\nthresholds:\n  share: [0.2, 0.3, 0.4, 0.5]\n";
    let kinds = [
        DEFINITION.to_owned(),
        format!("{DEFINITION}---\n{overlay}---\nrule: team-rule-N\nenabled: false\n"),
        DEFINITION.replace("run_time", "run_tme"),
        "rule: mapper-gc\nfor: {queue: qN}\nenabled: false\n".to_owned(),
        "rule: team-rule-N\nenabled: false\n".to_owned(),
        "suppress: mapper-gc\nfor: {queue: qN}\nreason: known\n".to_owned(),
        "suppress: team-rule-N\nreason: known\n".to_owned(),
        "rule: mapper-gc\nenabled: [N\n".to_owned(),
        "rule: mapper-gc # é\nenabled: [N\n".to_owned(),
    ];
    let steps = |kind: &str, count: usize, in_one_file: bool| {
        let texts: Vec<String> = (0..count).map(|n| kind.replace('N', &n.to_string())).collect();
        let texts = if in_one_file { vec![texts.join("---\n")] } else { texts };
        let file = |(n, text)| RuleFile { name: format!("{n}.yaml"), text };
        let files: Vec<RuleFile> = texts.into_iter().enumerate().map(file).collect();
        steps_of(|| {
            let (rules, problems) = RuleSet::read(elephant_heuristics::BUILT_IN, &files);
            assert!(problems.iter().all(|problem| problem.place().0 > 0));
            let rules = rules.as_ref();
            assert!(rules.is_none_or(|rules| !rules.infos().is_empty()));
            assert!(rules.is_none_or(|rules| !rules.names_counters() || kind.contains("counter")));
            let about = rules.map_or(0, |rules| {
                rules.rules().iter().map(|rule| rules.documents_about(rule).count()).sum::<usize>()
            });
            assert!(about <= 3 * count);
        })
    };
    for kind in &kinds {
        for in_one_file in [true, false] {
            // Both are beyond the number of ids for which suggestions are made.
            let (few, many) = (steps(kind, 300, in_one_file), steps(kind, 600, in_one_file));
            assert!(many * 10 < few * 24, "{few} steps, then {many} for twice as many of\n{kind}");
        }
    }
}
