//! Real histories of other projects and our own recordings: the reports match counts that were taken independently.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use elephant_rs::engine::{Options, analyze};
use elephant_rs::model::Status;
use elephant_rs::results::{ApplicationReport, Report};
use elephant_rs::rules::RuleSet;
use elephant_rs::severity::Severity;

fn report(path: &Path) -> Report {
    analyze(&[path.to_path_buf()], &RuleSet::new(elephant_rs::rules::BUILT_IN).unwrap(), Options::default())
}

fn attempts(app: &ApplicationReport) -> u64 {
    app.metrics.tasks.iter().map(|(_, counts)| counts.map_or(0, |counts| counts.attempts)).sum()
}

fn tasks(app: &ApplicationReport) -> u64 {
    app.metrics.tasks.iter().map(|(_, counts)| counts.map_or(0, |counts| counts.total)).sum()
}

/// The number after `word` in the manifest's note.
fn noted(note: &str, word: &str) -> Option<u64> {
    let rest = note.split_once(word)?.1;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[test]
fn jhist_task_and_attempt_counts_match_the_manifest() {
    let Some(corpus) = elephant_testing::shared("corpus") else { return };
    let files = elephant_testing::listed(&corpus, "mr-jhist");
    assert!(!files.is_empty());
    for file in files {
        let report = report(&file.path);
        let [app] = &report.applications[..] else { panic!("{}: {report:?}", file.path.display()) };
        let shown = file.path.display();
        assert_eq!(Some(tasks(app)), noted(&file.note, "TASK_STARTED:"), "{shown}");
        assert_eq!(Some(attempts(app)), noted(&file.note, "attempts "), "{shown}");
        let status = match &file.note {
            note if note.contains("job end JOB_FINISHED") => Status::Succeeded,
            note if note.contains("job end JOB_FAILED") || note.contains("job end JOB_ERROR") => {
                Status::Failed
            }
            note => panic!("{note}"),
        };
        assert_eq!(app.status, status, "{shown}");
        // One of them ends ten months after its last task and after the time in its name.
        let contradicts_its_name = report.problems.iter().any(|found| found.problem.code == "name-disagrees");
        assert_eq!(app.complete, !contradicts_its_name, "{shown}: {:?}", report.problems);
    }
}

#[test]
fn hadoop_1_job_and_attempt_end_counts_match_the_manifest() {
    let Some(corpus) = elephant_testing::shared("corpus") else { return };
    for file in elephant_testing::listed(&corpus, "hadoop1-history") {
        let report = report(&file.path);
        let jobs = file.count("jobs").unwrap();
        // A history may contain stray records of another job that was never submitted.
        let announced = report.applications.iter().filter(|app| app.submitted_at.is_some()).count();
        assert_eq!(announced as u64, jobs, "{}", file.path.display());
        let attempts: u64 = report.applications.iter().map(attempts).sum();
        let ends = file.tasks.unwrap();
        assert!(attempts >= ends, "{}: {attempts} attempts, {ends} ends", file.path.display());
    }
}

#[test]
fn decoys_are_not_taken_for_histories() {
    let Some(decoys) = elephant_testing::shared("corpus/decoy") else { return };
    let report = report(&decoys);
    assert_eq!(report.summary.applications, 0, "{report:?}");
    assert_eq!(report.summary.files_skipped, report.summary.files_found);
    assert_eq!(report.summary.files_failed, 0);
}

#[test]
fn both_avro_encodings_give_the_same_report() {
    let (Some(json), Some(binary)) = (
        elephant_testing::shared("runs/hadoop-2.7.3"),
        elephant_testing::shared("runs/hadoop-2.7.3-avro-binary"),
    ) else {
        return;
    };
    let of = |path: &Path| {
        let mut report = report(path);
        for app in &mut report.applications {
            app.sources.clear();
        }
        format!("{:#?}", report.applications)
    };
    assert_eq!(of(&json), of(&binary));
}

/// The problems planted in the recordings, according to their description.
#[test]
fn recordings_show_their_planted_problems() {
    let Some(runs) = elephant_testing::shared("runs/hadoop-2.7.3") else { return };
    let report = report(&runs);
    let by_name: BTreeMap<&str, &ApplicationReport> =
        report.applications.iter().filter_map(|app| Some((app.name.as_deref()?, app))).collect();
    let of = |name: &str, kind: &str| {
        by_name[name].metrics.tasks.iter().find(|(k, _)| *k == kind).unwrap().1.unwrap()
    };
    assert_eq!((of("healthy", "map").total, of("healthy", "reduce").total), (20, 5));
    assert_eq!((of("retries", "map").attempts, of("retries", "reduce").attempts), (13, 3));
    assert_eq!(of("speculation", "map").speculative_attempts, 1);
    assert_eq!(by_name["job-failed"].status, Status::Failed);
    assert_eq!(by_name["job-failed"].severity, Severity::Severe);
    assert_eq!(by_name["am-died"].status, Status::Running);
    assert!(!by_name["am-died"].complete);
    assert!(by_name["am-died"].metrics.used.is_none());
    for quiet in ["healthy", "tiny"] {
        assert_eq!(by_name[quiet].severity, Severity::None, "{quiet}");
    }
    let straggler = &by_name["speculation"].findings;
    assert!(
        straggler.iter().any(|finding| finding.message.starts_with("map 5 on node4.example.com")),
        "{straggler:#?}"
    );
    let retries = &by_name["retries"].metrics;
    assert!(retries.failed_attempts.unwrap() > elephant_rs::units::MbMillis::ZERO);
}

/// Checks the memory we charge against the job's own counters, an independent computation.
#[test]
fn charged_memory_matches_the_jobs_own_counters() {
    let Some(runs) = elephant_testing::shared("runs/hadoop-2.7.3") else { return };
    let mut compared = 0;
    for path in elephant_testing::files_below(&runs) {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let counted: Vec<u64> = ["MB_MILLIS_MAPS", "MB_MILLIS_REDUCES"]
            .iter()
            .filter_map(|name| job_counter(&text, name))
            .collect();
        if counted.is_empty() || path.extension().is_none_or(|e| e != "jhist") {
            continue;
        }
        let folder: PathBuf = path.parent().unwrap().into();
        let report = report(&folder);
        let used = report.applications[0].metrics.used.unwrap().as_mb_seconds() * 1000.0;
        let counted = counted.iter().sum::<u64>() as f64;
        assert!((used - counted).abs() < 0.5, "{}: {used} against {counted}", path.display());
        compared += 1;
    }
    assert!(compared >= 5, "only {compared} jobs have memory counters");
}

/// The value of a counter in the job's last event.
fn job_counter(history: &str, name: &str) -> Option<u64> {
    let end = history.lines().rev().find(|line| line.contains("\"JOB_FINISHED\""))?;
    let at = end.find(&format!("\"name\":\"{name}\""))?;
    let value = end[at..].split_once("\"value\":")?.1;
    value.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[test]
fn corpus_run_completes() {
    let Some(corpus) = elephant_testing::shared("corpus") else { return };
    let report = report(&corpus);
    let jhist = elephant_testing::listed(&corpus, "mr-jhist").len() as u64;
    assert!(report.summary.applications >= jhist);
    let seen: BTreeSet<&str> = report.applications.iter().map(|app| app.engine.name()).collect();
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["mapreduce", "spark", "tez"]);
    let summary = report.summary;
    assert_eq!(summary.files_found, summary.files_analysed + summary.files_skipped + summary.files_failed);
}
