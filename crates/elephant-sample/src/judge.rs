//! Analyses event logs from [`elephant_testing::spark_log`] like a user's run.

use elephant_base::severity::Severity;
use elephant_engine::engine::{Options, analyze};
use elephant_engine::results::ApplicationReport;
use elephant_ruleset::{RuleFile, RuleSet, find_files};
use elephant_testing::spark_log::App;

/// The rules of these presets or rule files, changed by this YAML.
pub fn rules(presets: &[&str], yaml: &str) -> RuleSet {
    let mut files: Vec<RuleFile> =
        presets.iter().flat_map(|name| find_files(std::path::Path::new(name)).unwrap()).collect();
    if !yaml.is_empty() {
        files.push(RuleFile { name: "test".to_owned(), text: yaml.to_owned() });
    }
    RuleSet::with_files(elephant_heuristics::BUILT_IN, &files).unwrap_or_else(|error| panic!("{error}"))
}

/// The report of the rules on the application, including findings of severity none.
pub fn judge(app: &App, rules: &RuleSet) -> ApplicationReport {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("application_1700000000000_0001");
    std::fs::write(&path, app.text()).unwrap();
    let options = Options { min_severity: Severity::None, ..Options::default() };
    let mut report = analyze(std::slice::from_ref(&path), rules, options);
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    assert_eq!(report.applications.len(), 1);
    report.applications.remove(0)
}

/// The report on the application, even if its log has problems.
pub fn judge_despite_problems(app: &App, rules: &RuleSet) -> ApplicationReport {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("application_1700000000000_0001");
    std::fs::write(&path, app.text()).unwrap();
    let mut report = analyze(std::slice::from_ref(&path), rules, Options::default());
    report.applications.remove(0)
}
