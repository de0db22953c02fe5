//! Code, YAML, pages and presets are consistent: what one names, the others have.

mod history;
mod new_rule;
mod page;
mod peers;
mod presets;
mod spark;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use elephant_base::severity::Severity;
use elephant_catalogue::Rule;
use elephant_engine::engine::{Options, analyze};
use elephant_rule::finding::{Finding, Measure, Provenance};
use elephant_rule::params::ParamValue;
use elephant_rule::params::layers::{Origin, Parameter};
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
        let path = path_of(rule.id, "md");
        let title =
            format!("{path}:1: the first line must be \"# {}\", the title in {}", rule.title, place(rule.id));
        assert_eq!(page::title(rule.page), Some(rule.title), "{title}");
        assert_eq!(page::headings(rule.page), page::RULE_HEADINGS, "{path}: these headings, in this order");
    }
    for &&settings::Settings { id, title, page, .. } in &settings::ALL {
        assert_eq!(page::title(page), Some(title), "{id}");
        assert_eq!(page::headings(page), page::SETTINGS_HEADINGS, "{id}");
    }
    for id in ids().chain(settings_ids()) {
        for heading in page::headings(page_of(id)) {
            assert!(
                !page::section(page_of(id), heading).is_empty(),
                "{}: nothing below \"{heading}\"",
                path_of(id, "md")
            );
        }
    }
}

#[test]
fn pages_fit_a_terminal_and_do_not_repeat_cut_offs() {
    for id in ids().chain(settings_ids()) {
        for line in page_of(id).lines() {
            let path = path_of(id, "md");
            assert!(line.chars().count() <= 80, "{path}: more than 80 columns: {line}");
            assert!(!line.contains('\t') && line.trim_end() == line, "{path}: stray blanks: {line}");
        }
        assert!(
            !page::has_cutoff_list(page_of(id)),
            "{}: a list of cut-offs duplicates the YAML",
            path_of(id, "md")
        );
    }
}

#[test]
fn pages_document_every_key_of_their_rule() {
    for id in ids().chain(settings_ids()) {
        for key in defaults_of(id).keys().map(|key| key.as_str().unwrap()).filter(|key| *key != "rule") {
            let (page, yaml) = (path_of(id, "md"), path_of(id, "yaml"));
            assert!(page::names(page_of(id), key), "{page}: explain `{key}`, a parameter in {yaml}");
        }
    }
}

#[test]
fn every_rules_file_belongs_to_a_rule_or_a_preset() {
    let of_rule = |rule: &Rule| ["yaml", "md"].map(|end| format!("{}/{}.{end}", rule.folder, rule.id));
    let rules = elephant_heuristics::BUILT_IN.rules().flat_map(of_rule);
    let settings = settings_ids().flat_map(|id| ["yaml", "md"].map(|end| format!("{id}.{end}")));
    let presets = PRESETS.iter().map(|(name, _)| format!("presets/{name}.yaml"));
    // The identity of jobs has a page in the manual.
    let lists = ["identity.yaml".to_owned()];
    let expected: BTreeSet<String> = rules.chain(settings).chain(presets).chain(lists).collect();
    let root = elephant_testing::root().join("rules");
    let files =
        WalkDir::new(&root).into_iter().map(Result::unwrap).filter(|entry| entry.file_type().is_file());
    // Files for users to copy have no page; pages of failures are tested with their kinds.
    let others = ["examples", "failures", "exceptions.yaml"].map(|other| root.join(other));
    let files = files.filter(|entry| !others.iter().any(|folder| entry.path().starts_with(folder)));
    let name = |path: &Path| {
        let parts = path.strip_prefix(&root).unwrap().iter().map(|part| part.to_str().unwrap());
        parts.collect::<Vec<_>>().join("/")
    };
    let found: BTreeSet<String> = files.map(|file| name(file.path())).collect();
    let (extra, missing): (Vec<_>, Vec<_>) =
        (found.difference(&expected).collect(), expected.difference(&found).collect());
    assert!(missing.is_empty(), "rules/: create {missing:?}");
    assert!(
        extra.is_empty(),
        "rules/: {extra:?} belong to no rule: add its RULE to RULES in crates/elephant-heuristics/src/<engine>/mod.rs, or delete \
         them"
    );
}

#[test]
fn defaults_load_on_their_own_and_list_all_parameters_in_order() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    for active in rules.rules() {
        let id = active.info.id.as_ref();
        let listed: Vec<&str> = active.params.iter().map(|parameter| parameter.key.as_ref()).collect();
        let document = defaults_of(id);
        assert_eq!(
            listed,
            parameters(&document),
            "{}: the keys and their order, as in the `rule_params!` above {}",
            path_of(id, "yaml"),
            place(id)
        );
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
            assert!(
                page::names(evidence, measure.key),
                "{}: {} of measured_by is not in the section Evidence of {}",
                place(id),
                measure.key,
                path_of(id, "md")
            );
        }
        let params = &rules.rules().iter().find(|rule| rule.info.id == *id).unwrap().params;
        for limit in facts.chart_limits {
            let key = |Parameter { key, value, .. }: &Parameter| match value {
                ParamValue::Cutoffs { key_ending, .. } => Some(format!("{key}{key_ending}")),
                ParamValue::Text(_) => None,
            };
            let known = params.iter().filter_map(key).any(|key| key == limit.key);
            assert!(
                known,
                "{}: {} of charted is no threshold in {}",
                place(id),
                limit.key,
                path_of(id, "yaml")
            );
        }
        let is_own = facts.provenance == Provenance::Own;
        let has_class = page::section(page, "Source").contains("Heuristic`");
        assert_ne!(
            has_class,
            is_own,
            "{}: {:?}, but the section Source of {} says otherwise",
            place(id),
            facts.provenance,
            path_of(id, "md")
        );
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
            // A preset holds all values that its rules judge by, also those that are the same here.
            if document.get(key) == defaults.get(key) {
                continue;
            }
            assert!(
                page::names(differences, key),
                "{}: the section on differences does not name {key}",
                path_of(id, "md")
            );
        }
    }
}

/// The presets that one builds on, which are given before it.
fn below(name: &str) -> &'static [&'static str] {
    match name {
        "dr-elephant" | "dr-elephant-0.4" | "compass" | "vaidya" => &[],
        "dr-elephant-tuning" => &["dr-elephant", "dr-elephant-shs"],
        _ => &["dr-elephant"],
    }
}

/// A preset judges as Dr. Elephant did, whatever the built-in values become: every parameter of a rule that it leaves on
/// must come from the preset.
#[test]
fn presets_hold_every_value_that_they_judge_by() {
    let mut missing = Vec::new();
    for (name, _) in PRESETS {
        let files: Vec<RuleFile> = below(name).iter().chain([name]).flat_map(|name| preset(name)).collect();
        let rules = RuleSet::with_files(elephant_heuristics::BUILT_IN, &files).unwrap();
        let of_rules = rules.rules().iter().filter(|rule| rule.enabled.value);
        let of_rules = of_rules.map(|rule| (rule.info.id.as_ref(), rule.params.as_slice()));
        let shared = presets::shared_settings().map(|id| (id, rules.settings(id)));
        for (id, params) in of_rules.chain(shared) {
            let built_in = params.iter().filter(|param| matches!(param.origin, Origin::BuiltIn));
            let values = defaults_of(id);
            missing.extend(built_in.map(|param| {
                let value =
                    values.get(&*param.key).map(|value| serde_yaml::to_string(value).unwrap_or_default());
                let value = value.unwrap_or_default().trim().replace('\n', " ");
                format!("rules/presets/{name}.yaml: rule {id}: add \"{}: {value}\"", param.key)
            }));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
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

/// The file and line of a rule's declaration, for messages.
fn place(id: &str) -> String {
    let (file, line) = elephant_heuristics::BUILT_IN.rule(id).map_or(("rules", 1), |rule| rule.place);
    format!("{file}:{line}: {id}")
}

/// The path of a rule's YAML ("yaml") or page ("md").
fn path_of(id: &str, ending: &str) -> String {
    let folder =
        elephant_heuristics::BUILT_IN.rule(id).map_or_else(String::new, |rule| format!("{}/", rule.folder));
    format!("rules/{folder}{id}.{ending}")
}

/// Rules whose findings need a history that is too large for this repository.
const TOO_LARGE: [&str; 1] = ["spark-event-log-limit"];

#[test]
fn every_rule_finds_something_in_a_fixture() {
    let found: BTreeSet<&str> =
        FINDINGS.iter().filter(|it| it.severity > Severity::None).map(|it| it.rule.as_ref()).collect();
    let can_have_one = |id: &&str| !TOO_LARGE.contains(id);
    let missing: Vec<String> =
        ids().filter(can_have_one).filter(|id| !found.contains(id)).map(place).collect();
    assert!(
        missing.is_empty(),
        "{missing:#?} never find anything: add a case per severity to mapreduce.rs or spark_cases.rs in \
         crates/elephant-heuristics/tests/it/fixtures, then run INSTA_UPDATE=always cargo test -p elephant-heuristics"
    );
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
            "{}, {severity}, {message}: {advice:?}",
            place(rule)
        );
        assert!(advice.iter().all(|text| !text.is_empty()), "{rule}: {advice:?}");
    }
}

#[test]
fn evidence_names_its_unit_and_is_on_the_page() {
    for Finding { rule, evidence, .. } in FINDINGS.iter() {
        let explained = page::section(page_of(rule), "Evidence");
        for (key, measure) in evidence {
            assert!(
                key.ends_with(measure.key_ending()),
                "{}: the key {key} needs the ending of {measure:?}",
                place(rule)
            );
            assert!(page::names(explained, key), "{}: explain `{key}` below Evidence", path_of(rule, "md"));
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
