//! Conditions on the number of job names of a logical name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use elephant_base::limits::Limits;
use elephant_base::units::Bytes;
use elephant_engine::conditions::{Condition, Conditions};
use elephant_engine::engine::{Filter, Progress};
use elephant_engine::nodes::{self, NodeTypes, Settings as NodeSettings};
use elephant_engine::survey::{self, Settings, StragglerReport};

use super::{SMALL, Trace, rows, write};

/// Jobs 1 to 6 with their job and logical names. Two runs of "etl" have a name each; "cron" always has the same name, and
/// the rest has no full name.
const JOBS: [(u64, &str, &str); 6] = [
    (1, "etl-a", "etl"),
    (2, "etl-b", "etl"),
    (3, "cron", "cron"),
    (4, "cron", "cron"),
    (5, "x", ""),
    (6, "", "y"),
];

/// The lines of both tables: four tasks of each job on two machines, the last task slow.
fn lines() -> (Vec<String>, Vec<String>) {
    let (mut of_jobs, mut of_tasks) = (Vec::new(), Vec::new());
    for (job, name, logical) in JOBS {
        let begin = job * 1_000_000_000;
        of_jobs.push(format!("{begin},,{job},0,user,2,{name},{logical}"));
        of_jobs.push(format!("{},,{job},4,user,2,{name},{logical}", begin + 400_000_000));
        for (task, seconds) in [(0, 100), (1, 110), (2, 120), (3, 400)] {
            let machine = task % 2;
            for (event, at) in [(0, 0), (1, 0), (4, seconds)] {
                let at = begin + at * 1_000_000;
                of_tasks.push(format!("{at},,{job},{task},{machine},{event},user,2,9,0.1,0.1,0.1,0"));
            }
        }
    }
    // Task events are in the order of time.
    of_tasks.sort_by_key(|line| line.split(',').next().unwrap().parse::<u64>().unwrap());
    (of_jobs, of_tasks)
}

/// Writes the jobs to several files, in this order.
fn written(folder: &Path, job_files: &[&[String]], tasks: &[String]) -> PathBuf {
    let of = |table: &str, part: usize| folder.join(table).join(format!("part-{part:05}-of-00500.csv"));
    for table in ["job_events", "task_events"] {
        fs::create_dir_all(folder.join(table)).unwrap();
    }
    for (part, lines) in job_files.iter().enumerate() {
        fs::write(of("job_events", part), lines.join("\n") + "\n").unwrap();
    }
    fs::write(of("task_events", 0), tasks.join("\n") + "\n").unwrap();
    folder.to_owned()
}

fn conditions(written: &str) -> Conditions {
    vec![written.parse::<Condition>().unwrap()].into()
}

fn survey_where(path: &Path, condition: &str, limits: &Limits) -> StragglerReport {
    let settings = Settings { replay: false, conditions: conditions(condition), ..Settings::default() };
    survey::report_with(&[path.to_owned()], &settings, None, &Filter::default(), limits, &Progress::default())
}

/// The jobs whose tasks are judged.
fn judged(report: &StragglerReport) -> BTreeSet<u64> {
    let apps = report.applications.iter().filter(|app| app.judged() > 0);
    apps.map(|app| app.id.parse().unwrap()).collect()
}

/// The tasks that count for nodes.
fn ranked(path: &Path, condition: &str) -> u64 {
    let (settings, types) = (NodeSettings::default(), NodeTypes::default());
    let selected = (Filter::default(), conditions(condition));
    let paths = [path.to_owned()];
    let report = nodes::report_of(
        paths.as_slice().into(),
        settings,
        &types,
        selected,
        &Limits::default(),
        &Progress::default(),
    );
    report.ranking.summary.groups.tasks
}

#[test]
fn jobs_are_selected_by_the_job_names_of_their_logical_name() {
    let folder = tempfile::tempdir().unwrap();
    let (jobs, tasks) = lines();
    let path = written(folder.path(), &[&jobs], &tasks);
    for (condition, expected) in [
        ("job-names=2-", vec![1, 2]),
        ("job-names=1", vec![3, 4]),
        ("job-names!=2-", vec![3, 4]),
        // Unknown numbers meet no condition.
        ("job-names=0-", vec![1, 2, 3, 4]),
        ("tasks=4", vec![1, 2, 3, 4, 5, 6]),
    ] {
        let found = judged(&survey_where(&path, condition, &Limits::default()));
        assert_eq!(found, expected.iter().copied().collect(), "{condition}");
        assert_eq!(ranked(&path, condition), 4 * expected.len() as u64, "{condition}");
    }
}

#[test]
fn neither_the_order_of_files_nor_that_of_lines_nor_threads_matter() {
    let (jobs, tasks) = lines();
    let (first, second) = jobs.split_at(2);
    let backwards: Vec<String> = jobs.iter().rev().cloned().collect();
    for files in [vec![first, second], vec![second, first], vec![backwards.as_slice()]] {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), &files, &tasks);
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let report = pool.install(|| survey_where(&path, "job-names=2-", &Limits::default()));
            assert_eq!(judged(&report), BTreeSet::from([1, 2]));
        }
        // The tables named one by one, the tasks first.
        let mut paths = super::files(&path, "task_events");
        paths.extend(super::files(&path, "job_events").into_iter().rev());
        let settings =
            Settings { replay: false, conditions: conditions("job-names=2-"), ..Settings::default() };
        assert_eq!(judged(&survey::report(&paths, &settings, None)), BTreeSet::from([1, 2]));
    }
}

#[test]
fn without_the_table_or_beyond_a_limit_nothing_is_known() {
    let (mut jobs, tasks) = lines();
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), &[], &tasks);
    assert!(judged(&survey_where(&path, "job-names=0-", &Limits::default())).is_empty());
    let other_jobs = (0..3_000).map(|job| format!("5000000000,,{},0,user,2,n{job},etl", 100 + job));
    jobs.extend(other_jobs);
    let path = written(folder.path(), &[&jobs], &tasks);
    assert_eq!(judged(&survey_where(&path, "job-names=3-", &Limits::default())), BTreeSet::from([1, 2]));
    let limits = Limits { memory: Some(Bytes::new(100_000)), ..Limits::default() };
    let report = survey_where(&path, "job-names=0-", &limits);
    assert!(judged(&report).is_empty());
    let reached: Vec<&str> = report.problems.iter().map(|entry| &*entry.problem.code).collect();
    assert_eq!(reached, ["limit-reached"], "{:?}", report.problems);
    // Everything else is as without the limit.
    assert_eq!(judged(&survey_where(&path, "tasks=4", &limits)).len(), JOBS.len());
}

#[test]
fn generated_traces_have_the_names_that_their_lines_have() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(Trace::Google2011, SMALL, folder.path());
    // Every job of a generated trace has a logical name of its own: "logical12" becomes "logical1".
    let lines = rows(&path, "job_events").into_iter().map(|mut row| {
        row[7].truncate("logical".len() + 1);
        row.join(",") + "\n"
    });
    let lines: String = lines.collect();
    fs::write(super::files(&path, "job_events").first().unwrap(), lines).unwrap();
    let mut names: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut logical: BTreeMap<u64, String> = BTreeMap::new();
    for row in rows(&path, "job_events") {
        names.entry(row[7].clone()).or_default().insert(row[6].clone());
        logical.insert(row[2].parse().unwrap(), row[7].clone());
    }
    let most = names.values().map(BTreeSet::len).max().unwrap();
    assert!(most > 1, "{names:?}");
    for count in [1, 11, most] {
        let report = survey_where(&path, &format!("job-names={count}"), &Limits::default());
        let all = judged(&survey_where(&path, "tasks=0-", &Limits::default()));
        let expected: BTreeSet<u64> =
            all.into_iter().filter(|job| names[&logical[job]].len() == count).collect();
        assert_eq!(judged(&report), expected, "{count}");
    }
}
