//! The straggler survey on all recordings.

use std::path::PathBuf;

use elephant_analysis::stragglers::cause::Cause;
use elephant_engine::survey::{self, ApplicationStragglers, Settings, StragglerReport};
use elephant_report::TextOptions;
use elephant_report::stragglers::{Shown, Table, write_csv, write_json, write_text};

fn survey_of(paths: &[PathBuf]) -> StragglerReport {
    survey::report(paths, &Settings::default(), None)
}

/// All formats, one after the other.
fn rendered(report: &StragglerReport) -> Vec<u8> {
    let mut out = Vec::new();
    let shown = Shown::default();
    write_text(report, TextOptions::default(), shown, &mut out).unwrap();
    write_json(report, shown, &mut out).unwrap();
    for table in [Table::Stragglers, Table::Detectors, Table::Applications] {
        write_csv(report, table, shown, &mut out).unwrap();
    }
    out
}

#[test]
fn output_is_the_same_for_any_number_of_threads() {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| rendered(&survey_of(&[elephant_testing::root().join("testdata")])))
    };
    let one = with(1);
    assert!(one == with(2) && one == with(8));
}

#[test]
fn all_recordings_give_possible_numbers() {
    let Some(corpus) = elephant_testing::shared("corpus") else { return };
    let report = survey_of(&[corpus, elephant_testing::shared("runs").unwrap()]);
    assert!(report.applications.len() > 100, "{}", report.applications.len());
    let mut json = Vec::new();
    write_json(&report, Shown::default(), &mut json).unwrap();
    elephant_testing::assert_possible("", &serde_json::from_slice(&json).unwrap());
    for app in &report.applications {
        for group in &app.groups {
            let counted = group.judged + group.skipped_unfinished;
            assert_eq!(counted, group.tasks, "{} {:?}", app.id, group.kind);
            assert!(group.stragglers.len() as u64 <= group.judged, "{}", app.id);
        }
    }
    for pooled in report.total.engines.iter().flat_map(|engine| &engine.detectors) {
        let quality = &pooled.total.quality;
        assert!(quality.true_positives <= quality.detected.min(quality.stragglers), "{}", pooled.total.id);
        assert!(quality.fakes <= quality.true_positives, "{}", pooled.total.id);
    }
}

#[test]
fn settings_that_would_have_copied_tasks_come_with_run_times() {
    let engines = survey_of(&[elephant_testing::root().join("testdata")]).total.engines;
    let times: Vec<_> = engines.iter().filter_map(|engine| engine.run_times).collect();
    assert!(times.iter().any(|times| times.applications + times.unknown > 0), "{times:?}");
    for times in times {
        assert!((0.0..=times.recorded_ms).contains(&times.saved_ms) && times.error_ms >= 0.0, "{times:?}");
    }
}

fn recording(folder: &str) -> Option<StragglerReport> {
    Some(survey_of(&[elephant_testing::shared("runs")?.join(folder)]))
}

/// A history that exists twice, in both Avro encodings.
#[test]
fn duplicate_job_counts_once() {
    let Some(runs) = elephant_testing::shared("runs") else { return };
    let folders =
        ["hadoop-2.7.3/speculation", "hadoop-2.7.3-avro-binary/speculation"].map(|name| runs.join(name));
    let report = survey_of(&folders);
    assert_eq!((report.applications.len(), report.total.by_median.stragglers), (1, 1));
    assert!(report.problems.iter().any(|entry| entry.problem.code == "duplicate"), "{:?}", report.problems);
}

#[test]
fn planted_stragglers_are_found_with_their_cause() {
    if elephant_testing::shared("runs").is_none() {
        return;
    }
    let blamed = |folder: &str| -> Vec<(String, Cause)> {
        let Some(report) = recording(folder) else { return Vec::new() };
        let app = &report.applications[0];
        let stragglers = app.groups.iter().flat_map(|group| &group.stragglers);
        stragglers
            .map(|it| (it.node.clone().unwrap_or_default(), it.cause.as_ref().unwrap().primary))
            .collect()
    };
    for folder in ["hadoop-synthetic-avro-json/slownode", "hadoop-synthetic-avro-binary/slownode"] {
        let slow = blamed(folder);
        assert_eq!(slow.len(), 4, "{slow:?}");
        assert!(
            slow.iter().all(|(node, cause)| node.starts_with("node002") && *cause == Cause::Hardware),
            "{slow:?}"
        );
    }
    for folder in ["hadoop-2.7.3/speculation", "hadoop-2.7.3-avro-binary/speculation"] {
        // Its copy was fast elsewhere, but so were other tasks on this node.
        assert_eq!(blamed(folder), [("node4.example.com".to_owned(), Cause::Unexplained)]);
        assert_eq!(recording(folder).unwrap().applications[0].copies.won, 1);
    }
    let overtaken = |app: &ApplicationStragglers| {
        app.groups.iter().flat_map(|group| &group.stragglers).filter(|it| it.overtaken).count()
    };
    assert_eq!(overtaken(&recording("spark-3.5.9/speculation").unwrap().applications[0]), 1);
    let skewed = blamed("hadoop-synthetic-avro-json/mapskew");
    assert!(skewed.iter().any(|(_, cause)| *cause == Cause::DataSkew), "{skewed:?}");
}
