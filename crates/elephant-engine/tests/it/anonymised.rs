//! Histories that were rewritten to be given away have the same findings, severities and figures.

use std::path::{Path, PathBuf};

use elephant_anonymise::{Key, anonymise};
use elephant_base::limits::Limits;
use elephant_engine::engine::{Options, analyze};
use elephant_engine::results::ApplicationReport;
use elephant_input::storage::Storages;
use elephant_model::model::{Engine, Subject};
use elephant_rule::finding::{Finding, Measure};
use elephant_ruleset::RuleSet;
use elephant_testing::{root, shared};
use elephant_verdict::troubles::Trouble;

/// What a report says of an application, without times of day and without names that are pseudonyms afterwards.
fn figures(app: &ApplicationReport) -> String {
    let duration =
        app.submitted_at.zip(app.finished_at).map(|(start, end)| end.as_millis() - start.as_millis());
    // Of equals, the first by name comes first.
    let sorted = |mut lines: Vec<String>| {
        lines.sort();
        lines
    };
    let findings = sorted(app.findings.iter().map(figures_of).collect());
    let troubles = sorted(app.troubles.iter().map(figures_of_trouble).collect());
    let mut savings = app.savings.clone();
    let path = savings.iter_mut().filter_map(|savings| savings.baseline.as_mut());
    path.flat_map(|baseline| &mut baseline.path).for_each(|stage| stage.name = None);
    format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {} {:?} {:?} {:?} {}\n{duration:?} {:?} {:?} {:?}\n{}\n{}",
        app.engine,
        app.engine_version,
        app.job_type,
        app.platform,
        app.native_engine,
        app.status,
        app.complete,
        app.severity,
        app.raw_severity,
        app.counts,
        app.score,
        app.metrics,
        savings,
        app.evaluated,
        findings.join("\n"),
        troubles.join("\n"),
    )
}

/// Subjects, without the names of nodes.
fn places<'a>(subjects: impl IntoIterator<Item = &'a Subject>) -> Vec<String> {
    let place = |subject: &Subject| match subject {
        Subject::Node(_) => "node".to_owned(),
        other => other.name().into_owned(),
    };
    let mut places: Vec<String> = subjects.into_iter().map(place).collect();
    places.sort();
    places
}

fn figures_of(finding: &Finding) -> String {
    let evidence: Vec<String> = finding
        .evidence
        .iter()
        .map(|(key, measure)| match measure {
            Measure::Text(_) => format!("{key:?}"),
            value => format!("{key:?}={value:?}"),
        })
        .collect();
    let Finding { rule, severity, raw_severity, score, subject, thresholds, advice, .. } = finding;
    format!(
        "  {rule:?} {severity:?} {raw_severity:?} {score} {:?} {} {thresholds:?} {}",
        places([subject]),
        evidence.join(" "),
        advice.len()
    )
}

fn figures_of_trouble(trouble: &Trouble) -> String {
    let Trouble { kind, severity, score, subjects, savings, change, advice, failure, .. } = trouble;
    let failure = failure.as_ref().map(|failure| failure.kind);
    format!(
        "  {kind:?} {severity:?} {score} {:?} {savings:?} {} {} {failure:?}",
        places(subjects),
        change.len(),
        advice.len()
    )
}

/// The figures of all applications below a path that are rewritten (those of Tez are not), in an order that does not depend
/// on their names.
fn all_figures(path: &Path) -> Vec<String> {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let report = analyze(&[path.to_path_buf()], &rules, Options::default());
    let rewritten = report.applications.iter().filter(|app| app.engine != Engine::Tez);
    let mut all: Vec<String> = rewritten.map(figures).collect();
    all.sort();
    all
}

/// Rewrites what is below a path; asserts that all its applications have the same figures, and returns their number.
fn assert_same(path: &Path) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out");
    let options = elephant_anonymise::Options {
        key: Some(Key::of_text(b"equality")),
        force: false,
        limits: Limits::default(),
        storages: Storages::default(),
    };
    anonymise(path, &output, &options).unwrap();
    let (before, after) = (all_figures(path), all_figures(&output));
    assert_eq!(before.len(), after.len(), "{}", path.display());
    let differing = before.iter().zip(&after).find(|(before, after)| before != after);
    if let Some((before, after)) = differing {
        let line = before.lines().zip(after.lines()).find(|(before, after)| before != after);
        panic!("{}:\n{:?}", path.display(), line);
    }
    before.len()
}

/// Whether the cases of a rule need what is not rewritten: logs of garbage collectors, and histories of Tez.
fn is_left_out(cases: &Path) -> bool {
    let rules = ["gc-stops", "gc-failures", "gc-requests", "heap-floor"];
    let name = cases.file_name().unwrap_or_default().to_string_lossy();
    rules.contains(&&*name) || name.starts_with("tez-")
}

fn below(folder: &str, sub: &[&str]) -> Option<Vec<PathBuf>> {
    let folder = shared(folder)?;
    Some(sub.iter().map(|sub| folder.join(sub)).collect())
}

#[test]
fn our_recordings_and_the_cases_of_rules_are_judged_the_same() {
    let folders = ["spark", "done", "hadoop1", "intermediate", "broken"];
    let of_rules = std::fs::read_dir(root().join("testdata/heuristics")).unwrap();
    let of_rules = of_rules.map(|entry| entry.unwrap().path()).filter(|path| !is_left_out(path));
    let all = folders.iter().map(|folder| root().join("testdata").join(folder)).chain(of_rules);
    let all: usize = all.map(|folder| assert_same(&folder)).sum();
    assert!(all > 100, "{all}");
}

#[test]
fn real_histories_are_judged_the_same() {
    let kinds =
        ["spark-plain", "spark-compressed", "spark-rolling", "spark-archive", "mr-jhist", "hadoop1-history"];
    let Some(folders) = below("corpus", &kinds) else { return };
    let all: usize = folders.iter().map(|folder| assert_same(folder)).sum();
    assert!(all > 90, "{all}");
}

#[test]
fn recordings_of_clusters_are_judged_the_same() {
    let runs = [
        "hadoop-2.7.3",
        "hadoop-2.7.3-avro-binary",
        "hadoop-synthetic-avro-binary",
        "hadoop-truncated",
        "public",
        "spark-4.3.0",
    ];
    let Some(folders) = below("runs", &runs) else { return };
    let all: usize = folders.iter().map(|folder| assert_same(folder)).sum();
    assert!(all > 20, "{all}");
}
