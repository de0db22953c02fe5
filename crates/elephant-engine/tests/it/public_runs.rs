//! Published problems, judged as their accepted answers say (`expect.txt` of each run).

use std::path::PathBuf;

use elephant_base::severity::Severity;
use elephant_engine::engine::{Options, analyze};
use elephant_engine::results::ApplicationReport;
use elephant_rule::finding::TroubleKind;
use elephant_testing::shared;
use elephant_verdict::troubles::Trouble;

/// The report on a run with this name; `None` without the material.
fn judged(run: &str) -> Option<ApplicationReport> {
    judged_by(run, &[])
}

fn judged_by(run: &str, presets: &[&str]) -> Option<ApplicationReport> {
    let runs = shared("runs")?;
    let path: PathBuf = runs.join("public").join(run);
    let mut report = analyze(&[path], &elephant_sample::judge::rules(presets, ""), Options::default());
    Some(report.applications.remove(0))
}

fn texts(trouble: &Trouble) -> String {
    trouble.advice.iter().map(|advice| advice.text.as_str()).collect::<Vec<_>>().join("\n")
}

fn of_kind(report: &ApplicationReport, kind: TroubleKind) -> Option<&Trouble> {
    report.troubles.iter().find(|trouble| trouble.kind == kind)
}

#[test]
fn many_map_tasks_save_what_their_times_show() {
    let Some(report) = judged("002-small-files") else { return };
    let first = &report.troubles[0];
    assert_eq!(first.kind, TroubleKind::ManyTasks, "{first:?}");
    let advice = texts(first);
    assert!(advice.contains("CombineFileInputFormat"), "{advice}");
    let seconds =
        advice.split("for about ").nth(1).and_then(|rest| rest.split(" s").next()?.parse::<f64>().ok());
    assert!(seconds.is_some_and(|seconds| (25.0..=30.0).contains(&seconds)), "{advice}");
    let saved = first.savings.alone.as_ref().unwrap().wall_ms;
    assert!(saved.low <= 1_150_000.0 && saved.high >= 1_260_000.0, "{saved:?}");
    assert!(saved.low >= 1_000_000.0 && (1_150_000.0..=1_260_000.0).contains(&saved.point), "{saved:?}");
}

#[test]
fn a_database_is_read_in_parallel_by_its_source() {
    let Some(report) = judged("004-jdbc-one-partition") else { return };
    let few = of_kind(&report, TroubleKind::FewTasks).unwrap();
    let advice = texts(few);
    for part in ["partitionColumn", "lowerBound", "upperBound", "numPartitions="] {
        assert!(advice.contains(part), "{advice}");
    }
    assert!(!advice.contains("repartition(") && !advice.contains("coalesce"), "{advice}");
}

#[test]
fn what_is_computed_again_is_the_cost_of_the_failures() {
    let Some(report) = judged("011-partial-stage-retry") else { return };
    let kinds: Vec<TroubleKind> = report.troubles.iter().map(|trouble| trouble.kind).collect();
    assert_eq!(kinds, [TroubleKind::Failures]);
    let saved = report.troubles[0].savings.alone.as_ref().unwrap().wall_ms;
    assert!((270_000.0..330_000.0).contains(&saved.point), "{saved:?}");
    let offered = report.findings.iter().any(|finding| finding.repartition.is_some());
    assert!(!offered, "{:?}", report.findings);
}

#[test]
fn sqoop_divides_a_table_by_an_even_column() {
    let Some(report) = judged("031-sqoop-split-by") else { return };
    let skew = of_kind(&report, TroubleKind::Skew).unwrap();
    let advice = texts(skew);
    for part in ["--split-by", "--boundary-query", "--num-mappers"] {
        assert!(advice.contains(part), "{advice}");
    }
    assert!(!advice.contains("files"), "{advice}");
}

#[test]
fn a_launcher_only_waits() {
    let Some(report) = judged("034-oozie-launcher") else { return };
    assert!(report.troubles.is_empty(), "{:?}", report.troubles);
    assert_eq!(report.severity, Severity::None);
    let as_dr_elephant = judged_by("034-oozie-launcher", &["dr-elephant"]);
    assert_eq!(as_dr_elephant.map(|report| report.severity), Some(Severity::Critical));
}
