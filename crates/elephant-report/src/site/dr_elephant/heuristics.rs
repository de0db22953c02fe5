//! The results of rules as those of Dr. Elephant's heuristics.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::whole_report::WholeReport;
use super::record::text;
use elephant_base::severity::Severity;
use elephant_ruleset::{ActiveRule, RuleSet};
use elephant_store::{StoredApplication, StoredFinding};

/// The names of Dr. Elephant's heuristics, and of its branches', that are not the title of a rule.
const NAMES: &[(&str, &str)] = &[
    ("Mapper Data Skew", "mapper-skew"),
    ("Reducer Data Skew", "reducer-skew"),
    ("Shuffle and Sort", "shuffle-sort"),
    ("Executor GC", "spark-executor-gc"),
    ("Peak Unified Memory", "spark-peak-unified-memory"),
    ("Executor Peak Unified Memory", "spark-peak-unified-memory"),
    ("Executor JVM Used Memory", "spark-jvm-used-memory"),
    ("Stages with failed tasks", "spark-stages-with-failed-tasks"),
    ("Executor spill", "spark-executor-spill"),
    ("Driver Metrics", "spark-driver-metrics"),
    ("Configuration Parameters Metrics", "spark-configuration-parameters"),
    ("Spark Configuration Best Practice", "spark-configuration"),
];

/// The id of the rule that Dr. Elephant knew by this name; also a rule's own title or id.
#[must_use]
pub fn rule_named<'r>(name: &str, rules: &'r RuleSet) -> Option<&'r str> {
    let id = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map_or(name, |(_, id)| id);
    let is_it = |rule: &&ActiveRule| {
        rule.info.id.eq_ignore_ascii_case(id) || rule.info.title.eq_ignore_ascii_case(name)
    };
    rules.rules().iter().find(is_it).map(|rule| &*rule.info.id)
}

/// Whether a rule judges applications of an engine.
pub(super) fn judges(rule: &ActiveRule, engine: &str) -> bool {
    rule.enabled.value && [engine, "any"].contains(&rule.engine())
}

/// What a rule found in an application.
pub(super) struct Heuristic<'a> {
    pub(super) name: &'a str,
    pub(super) severity: Severity,
    pub(super) score: Option<u64>,
    pub(super) findings: Vec<&'a StoredFinding>,
}

/// A rule and its severity.
#[derive(Serialize)]
pub(super) struct HeuristicSummary<'a> {
    name: &'a str,
    severity: &'static str,
}

/// The rules with findings in the order of the report, then those that found nothing, which are known only with the report
/// of an application that could be judged. Rules that had nothing to judge are among them, as they were there.
pub(super) fn heuristics<'a>(
    app: &'a StoredApplication,
    report: &WholeReport,
    rules: &'a RuleSet,
) -> Vec<Heuristic<'a>> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found: Vec<Heuristic<'a>> = Vec::new();
    for finding in &app.findings {
        let place = *places.entry(&finding.rule).or_insert(found.len());
        if let Some(known) = found.get_mut(place) {
            known.severity = finding.severity.max(known.severity);
            known.findings.push(finding);
            continue;
        }
        let rule = rules.rules().iter().find(|rule| *rule.info.id == *finding.rule);
        found.push(Heuristic {
            name: rule.map_or(&finding.rule, |rule| &rule.info.title),
            severity: finding.severity,
            score: report.score(&finding.rule),
            findings: vec![finding],
        });
    }
    if app.is_judged && report.is_known() {
        let without: Vec<&str> = report.without_result().collect();
        let silent = rules.rules().iter().filter(|rule| {
            let id = &*rule.info.id;
            judges(rule, &app.engine) && !places.contains_key(id) && !without.contains(&id)
        });
        found.extend(silent.map(|rule| Heuristic {
            name: &rule.info.title,
            severity: Severity::None,
            score: Some(0),
            findings: Vec::new(),
        }));
    }
    found
}

pub(super) fn summary<'a>(app: &'a StoredApplication, rules: &'a RuleSet) -> Vec<HeuristicSummary<'a>> {
    let report = WholeReport::of(app.report.as_deref());
    let all = heuristics(app, &report, rules).into_iter();
    all.map(|it| HeuristicSummary { name: it.name, severity: text(it.severity) }).collect()
}
