//! Code, YAML, pages and presets are consistent: what one names, the others have.

mod history;
mod new_rule;
mod page;
mod spark;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use elephant_base::severity::Severity;
use elephant_catalogue::Rule;
use elephant_engine::engine::{Options, analyze};
use elephant_rule::finding::{Finding, Measure, Provenance};
use elephant_rule::params::ParamValue;
use elephant_rule::params::layers::Parameter;
use elephant_ruleset::{PRESETS, RuleFile, RuleSet, settings};
use serde::Deserialize;
use serde_yaml::Mapping;
use walkdir::WalkDir;

/// The ids of all rules, in documentation order.
fn ids() -> impl Iterator<Item = &'static str> {
    elephant_heuristics::BUILT_IN.rules().map(|rule| rule.id)
}

/// The ids of parameters that do not belong to a rule.
fn settings_ids() -> impl Iterator<Item = &'static str> {
    settings::ALL.iter().map(|known| known.id)
}

fn settings_yaml(id: &str) -> String {
    std::fs::read_to_string(elephant_testing::root().join(format!("rules/{id}.yaml"))).unwrap()
}

/// The parameters that a document sets: its keys except `rule` and `enabled`.
fn parameters(document: &Mapping) -> Vec<&str> {
    let keys = document.keys().map(|key| key.as_str().unwrap());
    keys.filter(|key| !matches!(*key, "rule" | "enabled")).collect()
}

fn documents(yaml: &str) -> Vec<Mapping> {
    serde_yaml::Deserializer::from_str(yaml).map(|document| Mapping::deserialize(document).unwrap()).collect()
}

fn page_of(id: &str) -> &'static str {
    let rule = elephant_heuristics::BUILT_IN.rules().find(|rule| rule.id == id);
    let settings = || settings::ALL.iter().find(|known| known.id == id).unwrap().page;
    rule.map_or_else(settings, |rule| rule.page)
}

fn defaults_of(id: &str) -> Mapping {
    let rule = elephant_heuristics::BUILT_IN.rules().find(|rule| rule.id == id);
    let yaml = rule.map_or_else(|| settings_yaml(id), |rule| rule.defaults.to_owned());
    documents(&yaml).remove(0)
}

fn preset(name: &str) -> Vec<RuleFile> {
    let (name, text) = PRESETS.iter().find(|(known, _)| *known == name).unwrap();
    vec![RuleFile { name: (*name).to_owned(), text: (*text).to_owned() }]
}

#[test]
fn ids_are_unique_and_in_kebab_case() {
    let ids: Vec<&str> = ids().collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "an id is used twice");
    for id in ids {
        assert!(
            id.split('-').all(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase())),
            "{id}"
        );
    }
}

#[test]
fn every_page_has_its_title_and_ordered_headings() {
    for rule in elephant_heuristics::BUILT_IN.rules() {
        assert_eq!(page::title(rule.page), Some(rule.title), "{}", rule.id);
        assert_eq!(page::headings(rule.page), page::RULE_HEADINGS, "{}", rule.id);
    }
    for &&settings::Settings { id, title, page, .. } in &settings::ALL {
        assert_eq!(page::title(page), Some(title), "{id}");
        assert_eq!(page::headings(page), page::SETTINGS_HEADINGS, "{id}");
    }
    for id in ids().chain(settings_ids()) {
        for heading in page::headings(page_of(id)) {
            assert!(!page::section(page_of(id), heading).is_empty(), "{id}: nothing below \"{heading}\"");
        }
    }
}

#[test]
fn pages_fit_a_terminal_and_do_not_repeat_cut_offs() {
    for id in ids().chain(settings_ids()) {
        for line in page_of(id).lines() {
            assert!(line.chars().count() <= 80, "{id}: more than 80 columns: {line}");
            assert!(!line.contains('\t') && line.trim_end() == line, "{id}: stray blanks: {line}");
        }
        assert!(!page::has_cutoff_list(page_of(id)), "{id}: a list of cut-offs duplicates the YAML");
    }
}

#[test]
fn pages_document_every_key_of_their_rule() {
    for id in ids().chain(settings_ids()) {
        for key in defaults_of(id).keys().map(|key| key.as_str().unwrap()).filter(|key| *key != "rule") {
            assert!(page::names(page_of(id), key), "{id}: the page does not explain {key}");
        }
    }
}

#[test]
fn every_rules_file_belongs_to_a_rule_or_a_preset() {
    let of_rule = |rule: &Rule| ["yaml", "md"].map(|end| format!("{}/{}.{end}", rule.folder, rule.id));
    let rules = elephant_heuristics::BUILT_IN.rules().flat_map(of_rule);
    let settings = settings_ids().flat_map(|id| ["yaml", "md"].map(|end| format!("{id}.{end}")));
    let presets = PRESETS.iter().map(|(name, _)| format!("presets/{name}.yaml"));
    let expected: BTreeSet<String> = rules.chain(settings).chain(presets).collect();
    let root = elephant_testing::root().join("rules");
    let files =
        WalkDir::new(&root).into_iter().map(Result::unwrap).filter(|entry| entry.file_type().is_file());
    // Files for users to copy have no page; pages of failures are tested with their kinds.
    let others = ["examples", "failures"].map(|folder| root.join(folder));
    let files = files.filter(|entry| !others.iter().any(|folder| entry.path().starts_with(folder)));
    let name = |path: &Path| {
        let parts = path.strip_prefix(&root).unwrap().iter().map(|part| part.to_str().unwrap());
        parts.collect::<Vec<_>>().join("/")
    };
    assert_eq!(files.map(|file| name(file.path())).collect::<BTreeSet<_>>(), expected);
}

#[test]
fn defaults_load_on_their_own_and_list_all_parameters_in_order() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    for active in rules.rules() {
        let id = active.info.id.as_ref();
        let listed: Vec<&str> = active.params.iter().map(|parameter| parameter.key.as_ref()).collect();
        let document = defaults_of(id);
        assert_eq!(listed, parameters(&document), "{id}");
        assert_eq!(document.get("rule").and_then(|rule| rule.as_str()), Some(id));
    }
    for id in settings_ids() {
        let listed: Vec<&str> = rules.settings(id).iter().map(|parameter| parameter.key.as_ref()).collect();
        assert_eq!(listed, parameters(&defaults_of(id)), "{id}");
    }
}

/// The evidence, parameters and origin declared in a rule's constant.
#[test]
fn rule_facts_are_on_its_page() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let mut sized = Vec::new();
    for Rule { id, page, facts, .. } in elephant_heuristics::BUILT_IN.rules() {
        if let Some(measure) = facts.key_measure {
            let evidence = page::section(page, "Evidence");
            assert!(page::names(evidence, measure.key), "{id}: {} is not evidence", measure.key);
        }
        let params = &rules.rules().iter().find(|rule| rule.info.id == *id).unwrap().params;
        for limit in facts.chart_limits {
            let key = |Parameter { key, value, .. }: &Parameter| match value {
                ParamValue::Cutoffs { key_ending, .. } => Some(format!("{key}{key_ending}")),
                ParamValue::Text(_) => None,
            };
            let known = params.iter().filter_map(key).any(|key| key == limit.key);
            assert!(known, "{id}: {} is no threshold", limit.key);
        }
        let is_own = facts.provenance == Provenance::Own;
        let has_class = page::section(page, "Source").contains("Heuristic`");
        assert_ne!(has_class, is_own, "{id}: {:?}, but its page says otherwise", facts.provenance);
        sized.extend(facts.sizes);
    }
    assert_eq!(sized.len(), 3, "{sized:?}");
    assert!(sized.iter().enumerate().all(|(place, one)| !sized[..place].contains(one)), "{sized:?}");
}

#[test]
fn presets_load() {
    for (name, _) in PRESETS {
        let rules = RuleSet::with_files(elephant_heuristics::BUILT_IN, &preset(name));
        assert!(rules.is_ok(), "{name}: {:?}", rules.err());
    }
}

#[test]
fn pages_document_every_difference_from_the_preset() {
    let about_one = |document: &Mapping| !document.contains_key("origin");
    for document in documents(&preset("dr-elephant")[0].text).into_iter().filter(about_one) {
        let id = document.get("rule").and_then(|rule| rule.as_str()).unwrap();
        let differences = page::section(page_of(id), "Differences from Dr. Elephant");
        let defaults = defaults_of(id);
        for key in parameters(&document) {
            assert!(page::names(differences, key), "{id}: the page does not say that {key} differs");
            assert_ne!(document.get(key), defaults.get(key), "{id}: {key} does not differ");
        }
    }
}

/// The built-in rules and each preset, with every rule enabled.
fn rule_sets() -> Vec<RuleSet> {
    let on: Vec<String> = ids().map(|id| format!("---\nrule: {id}\nenabled: true\n")).collect();
    let on = RuleFile { name: "all on".to_owned(), text: on.concat() };
    let presets = PRESETS.iter().map(|(name, _)| preset(name));
    let layers = std::iter::once(Vec::new()).chain(presets);
    layers
        .map(|files| {
            RuleSet::with_files(elephant_heuristics::BUILT_IN, &[files, vec![on.clone()]].concat()).unwrap()
        })
        .collect()
}

/// Every finding on the handwritten jobs and the histories in `testdata`, including severity none.
static FINDINGS: LazyLock<Vec<Finding>> = LazyLock::new(|| {
    let apps = history::applications();
    let testdata = elephant_testing::root().join("testdata");
    let options = Options { min_severity: Severity::None, ..Options::default() };
    let mut findings = Vec::new();
    for rules in rule_sets() {
        findings.extend(apps.iter().flat_map(|app| rules.evaluate(app).findings));
        let spark = spark::applications();
        findings.extend(spark.iter().flat_map(|app| elephant_sample::judge::judge(app, &rules).findings));
        if testdata.exists() {
            let report = analyze(std::slice::from_ref(&testdata), &rules, options.clone());
            findings.extend(report.applications.into_iter().flat_map(|app| app.findings));
        }
    }
    findings
});

#[test]
fn handwritten_jobs_trigger_every_rule() {
    let apps = history::applications();
    let sets = rule_sets();
    let found = sets.iter().flat_map(|rules| apps.iter().flat_map(|app| rules.evaluate(app).findings));
    let mut worst: BTreeMap<String, Severity> = BTreeMap::new();
    for finding in found {
        let seen = worst.entry(finding.rule.into_owned()).or_default();
        *seen = finding.severity.max(*seen);
    }
    for id in
        elephant_heuristics::BUILT_IN.rules().filter(|rule| rule.folder == "mapreduce").map(|rule| rule.id)
    {
        assert!(worst.get(id) > Some(&Severity::None), "{id} never has a finding");
    }
}

/// The message without text quoted from the history, which has its own punctuation.
fn without_quotes(finding: &Finding) -> String {
    let mut message = finding.message.clone();
    for (_, measure) in &finding.evidence {
        if let Measure::Text(text) = measure {
            let quoted = text.trim().lines().next().unwrap_or_default().trim();
            if !quoted.is_empty() {
                message = message.replace(quoted, "…");
            }
        }
    }
    message
}

#[test]
fn messages_follow_one_style() {
    for finding in FINDINGS.iter() {
        let message = without_quotes(finding);
        let first = message.split([' ', ':']).next().unwrap_or_default();
        let is_counter = first.contains('_') && first.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
        assert!(
            !message.contains(['{', '}']),
            "{}: a word of the template is unknown: {message}",
            finding.rule
        );
        assert!(!message.is_empty() && !message.ends_with('.'), "{}: {message}", finding.rule);
        assert!(is_counter || !message.starts_with(char::is_uppercase), "{}: {message}", finding.rule);
        for text in finding.advice.iter().map(|advice| &**advice).chain([message.as_str()]) {
            assert!(!text.contains("  ") && !text.contains('\n'), "{}: {text}", finding.rule);
            assert!(text.trim() == text, "{}: {text}", finding.rule);
        }
    }
}

#[test]
fn exactly_the_findings_above_none_have_advice() {
    for Finding { rule, severity, advice, message, .. } in FINDINGS.iter() {
        assert_eq!(
            advice.is_empty(),
            *severity == Severity::None,
            "{rule}, {severity}, {message}: {advice:?}"
        );
        assert!(advice.iter().all(|text| !text.is_empty()), "{rule}: {advice:?}");
    }
}

#[test]
fn evidence_names_its_unit_and_is_on_the_page() {
    for Finding { rule, evidence, .. } in FINDINGS.iter() {
        let explained = page::section(page_of(rule), "Evidence");
        for (key, measure) in evidence {
            assert!(key.ends_with(measure.key_ending()), "{rule}: {key} holds {measure:?}");
            assert!(page::names(explained, key), "{rule}: the page does not explain {key}");
        }
    }
}

/// The table in `docs/rules.md`.
fn table() -> String {
    let row = |Rule { id, page, folder, .. }: &Rule| {
        let finds = page::first_sentence(page::section(page, "What it does"));
        assert!(finds.ends_with('.') && !finds.contains('|'), "{id}: {finds}");
        format!("| `{id}` | {finds} | [page](../rules/{folder}/{id}.md) |")
    };
    let head = ["| rule | what it finds | page |", "| --- | --- | --- |"].map(str::to_owned);
    let rows: Vec<String> = head.into_iter().chain(elephant_heuristics::BUILT_IN.rules().map(row)).collect();
    rows.join("\n") + "\n"
}

/// `INSTA_UPDATE=always` writes the table instead of comparing it.
#[test]
fn docs_list_every_rule() {
    const START: &str = "<!-- rules -->\n";
    const END: &str = "<!-- /rules -->";
    let table = table();
    let path = elephant_testing::root().join("docs/rules.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(START).unwrap();
    let (shown, after) = rest.split_once(END).unwrap();
    if elephant_testing::is_blessing() {
        std::fs::write(&path, format!("{before}{START}{table}{END}{after}")).unwrap();
    } else {
        assert_eq!(shown, table, "docs/rules.md is out of date; run the tests with INSTA_UPDATE=always");
    }
}
