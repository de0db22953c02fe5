//! Real event logs of other projects: the parsed data matches counts that were taken independently, and results of
//! other tools.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use elephant_engine::engine::{Options, analyze, discover};
use elephant_engine::results::{ApplicationReport, Report};
use elephant_input::inventory::Source;
use elephant_input::kind::SourceKind;
use elephant_input::part::Part;
use elephant_model::model::Application;
use elephant_parse::spark::{self, Completeness, Feed, Log, Names};
use elephant_ruleset::RuleSet;

use super::count::Counted;

const KINDS: [&str; 4] = ["spark-plain", "spark-compressed", "spark-rolling", "spark-archive"];

/// The logs of one kind with their counts, and the report on all of them.
fn read(kind: &str) -> Option<(Vec<(Source, Counted)>, Report)> {
    let folder = elephant_testing::shared(&format!("corpus/{kind}"))?;
    let sources = discover(std::slice::from_ref(&folder)).histories.into_iter();
    let logs: Vec<_> = sources
        .filter(|source| source.kind == Some(SourceKind::SparkEventLog))
        .map(|source| {
            let counted = Counted::of(&source);
            (source, counted)
        })
        .collect();
    assert!(!logs.is_empty(), "{kind}");
    let report =
        analyze(&[folder], &RuleSet::new(elephant_heuristics::BUILT_IN).unwrap(), Options::default());
    // Only one of several copies is in the report.
    let is_copy = |source: &Source| {
        let mut copies = report.problems.iter().filter(|entry| entry.problem.code == "duplicate");
        copies.any(|entry| names(source).first() == Some(&entry.source))
    };
    Some((logs.into_iter().filter(|(source, _)| !is_copy(source)).collect(), report))
}

fn names(source: &Source) -> Vec<String> {
    source.parts.iter().map(Part::name).collect()
}

fn report_on<'a>(report: &'a Report, source: &Source) -> &'a ApplicationReport {
    let found = report.applications.iter().find(|app| app.sources == names(source));
    found.unwrap_or_else(|| panic!("{:?} is missing: {:?}", names(source), report.problems))
}

/// Counts in a report: attempts, stage attempts, jobs, executors.
fn shown(app: &ApplicationReport) -> [u64; 4] {
    // A log that ends at its start has no counts.
    let spark = app.metrics.spark.unwrap_or_default();
    let attempts =
        app.metrics.tasks.iter().map(|(_, counts)| counts.map_or(0, |counts| counts.attempts)).sum();
    let stages = spark.stages.total - spark.stages.skipped.unwrap_or_default();
    [attempts, stages, spark.jobs.total, spark.executors.total]
}

#[test]
fn attempt_stage_job_and_executor_counts_match_the_lines() {
    for kind in KINDS {
        let Some((logs, report)) = read(kind) else { return };
        let mut wrong = Vec::new();
        for (source, counted) in &logs {
            let [attempts, stages] = [counted.attempts.len(), counted.stages.len()];
            let expected = [attempts, stages, counted.jobs(), counted.executors.len()].map(|n| n as u64);
            let found = shown(report_on(&report, source));
            if found != expected {
                wrong.push(format!("{:?}: {found:?} instead of {expected:?}", names(source)));
            }
        }
        assert!(wrong.is_empty(), "{kind}:\n{}", wrong.join("\n"));
    }
}

/// Logs that lack no line, but were edited by hand: executors are added a year after the application's end, or a stage is
/// submitted a year before the application.
const CONTRADICTORY: [&str; 2] =
    ["eventlog_3nodes_12cores_multiple_executors", "application_1625351839633_843287"];

#[test]
fn logs_are_complete_if_no_line_is_missing() {
    for kind in KINDS {
        let Some((logs, report)) = read(kind) else { return };
        let mut wrong = Vec::new();
        for (source, counted) in &logs {
            let mut missing = counted.missing();
            if !source.log.missing_parts.is_empty() || source.log.compacted || source.log.archive_truncated {
                missing.push("parts".to_owned());
            }
            if names(source).iter().any(|name| CONTRADICTORY.iter().any(|known| name.ends_with(known))) {
                missing.push("agreement".to_owned());
            }
            if report_on(&report, source).complete != missing.is_empty() {
                let about = |problem: &&_| {
                    let elephant_engine::results::SourceProblem { source: name, .. } = problem;
                    names(source).contains(name) || *name == source.path.to_string()
                };
                let problems: Vec<_> =
                    report.problems.iter().filter(about).map(|p| &*p.problem.code).collect();
                wrong.push(format!("{:?}: missing {missing:?}, reported {problems:?}", names(source)));
            }
        }
        assert!(wrong.is_empty(), "{kind}:\n{}", wrong.join("\n"));
    }
}

/// The manifest's own count; for an archive it covers all its logs together.
#[test]
fn task_end_counts_match_the_manifest() {
    for kind in KINDS {
        let Some((logs, _)) = read(kind) else { return };
        let Some(corpus) = elephant_testing::shared("corpus") else { return };
        let listed = elephant_testing::listed(&corpus, kind);
        let mut wrong = Vec::new();
        let mut ends: BTreeMap<Vec<PathBuf>, u64> = BTreeMap::new();
        for (source, counted) in &logs {
            let mut files: Vec<PathBuf> = source.files().map(Path::to_path_buf).collect();
            files.dedup();
            *ends.entry(files).or_default() += counted.ends;
        }
        for (files, ends) in ends {
            let rows = listed.iter().filter(|row| files.contains(&row.path));
            let expected: u64 = rows.filter_map(|row| row.tasks).sum();
            if ends != expected {
                wrong.push(format!("{files:?}: {ends} instead of {expected}"));
            }
        }
        assert!(wrong.is_empty(), "{kind}:\n{}", wrong.join("\n"));
    }
}

/// The model of a corpus log.
pub(super) fn model(path: &str) -> Option<Application> {
    let path = elephant_testing::shared(&format!("corpus/{path}"))?;
    let source = discover(&[path]).histories.remove(0);
    let part = |part: &Part| {
        let part = part.clone();
        let open = move || -> Result<Feed, String> {
            match part.plain_file() {
                Some(file) => {
                    file.map(|(file, len): (File, u64)| Feed::File(file, len)).map_err(|e| e.to_string())
                }
                None => part.open().map(|stream| Feed::Stream(Box::new(stream))).map_err(|e| e.to_string()),
            }
        };
        spark::Part { name: String::new(), open: Box::new(open) }
    };
    let parts = source.parts.iter().map(part).collect();
    let log = Log { parts, names: Names::default(), completeness: Completeness::default() };
    Some(spark::parse(&log).applications.remove(0))
}
