//! Figures of jobs, compared with those that follow from the lines without any of the program's types.

use std::collections::BTreeMap;
use std::path::Path;

use elephant_engine::nodes::{self, Settings as NodeSettings};
use elephant_engine::survey::{self, ApplicationStragglers, Settings};
use elephant_report::TextOptions;
use elephant_report::stragglers::{Shown, Table, write_csv, write_json, write_text};

use super::{ALL, SMALL, Size, Trace, rows, survey_of, write};

/// Seconds of the successful tasks of a group, by job and group.
type Times = BTreeMap<(String, String), Vec<f64>>;

fn google(folder: &Path) -> Times {
    let mut scheduled: BTreeMap<(String, String), f64> = BTreeMap::new();
    let mut times = Times::new();
    for row in rows(folder, "task_events") {
        let [time, _, job, task, _, event, ..] = row.as_slice() else { panic!("{row:?}") };
        let key = (job.clone(), task.clone());
        let millis = time.parse::<u64>().unwrap() / 1000;
        match (event.as_str(), millis) {
            // Scheduled before the trace, or ended without success.
            ("1", 0) | ("2" | "3", _) => drop(scheduled.remove(&key)),
            ("1", _) => drop(scheduled.insert(key, millis as f64)),
            ("4", _) => {
                if let Some(start) = scheduled.remove(&key) {
                    let group = (job.clone(), format!("priority {}", row[8]));
                    times.entry(group).or_default().push((millis as f64 - start) / 1000.0);
                }
            }
            _ => {}
        }
    }
    times
}

fn alibaba(folder: &Path, columns: [usize; 4], label: impl Fn(&[String]) -> String) -> Times {
    let [job, status, start, end] = columns;
    let mut times = Times::new();
    for row in rows(folder, "batch_instance") {
        let second = |column: usize| row[column].parse::<f64>().unwrap();
        if row[status] == "Terminated" && second(start) > 0.0 && second(end) > 0.0 {
            let group = (row[job].clone(), label(&row));
            times.entry(group).or_default().push(second(end) - second(start));
        }
    }
    times
}

fn expected(trace: Trace, folder: &Path) -> Times {
    match trace {
        Trace::Google2011 => google(folder),
        Trace::Alibaba2017 => alibaba(folder, [2, 5, 0, 1], |row| format!("task {}", row[3])),
        Trace::Alibaba2018 => {
            alibaba(folder, [2, 4, 5, 6], |row| format!("task {}, type {}", row[1], row[3]))
        }
    }
}

fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) }
}

#[test]
fn counts_and_medians_of_each_group_follow_from_the_lines() {
    for trace in ALL {
        let folder = tempfile::tempdir().unwrap();
        let path = write(trace, SMALL, folder.path());
        let report = survey_of(&path);
        assert!(
            report.problems.iter().all(|entry| entry.problem.code == "trace-repeated-try"),
            "{:?}",
            report.problems
        );
        let expected = expected(trace, &path);
        let mut found = 0;
        for app in &report.applications {
            for group in &app.groups {
                let times = &expected[&(app.id.clone(), group.label.clone().unwrap())];
                found += times.len();
                assert_eq!(group.judged, times.len() as u64, "{trace:?} {} {:?}", app.id, group.label);
                let median = median(times);
                let stragglers = times.iter().filter(|&&time| median > 0.0 && time >= 1.5 * median).count();
                assert_eq!(group.stragglers.len(), stragglers, "{trace:?} {}", app.id);
                if let Some(limit) = group.limit {
                    assert!((limit.reference - median).abs() < 1e-9, "{trace:?} {}", app.id);
                }
                assert_eq!((group.input_unit, group.dos), (None, None));
            }
        }
        let judged: usize = expected.values().filter(|times| times.len() > 1).map(Vec::len).sum();
        assert_eq!(found, judged, "{trace:?}");
        assert_eq!(report.total.tasks, judged as u64, "{trace:?}");
        assert!(report.total.stragglers > 20, "{trace:?} {}", report.total.stragglers);
    }
}

#[test]
fn tasks_from_before_the_trace_have_no_time() {
    let folder = tempfile::tempdir().unwrap();
    let size = Size { jobs: 150, tasks: 6000, ..SMALL };
    let path = write(Trace::Google2011, size, folder.path());
    let censored = rows(&path, "task_events").iter().filter(|row| row[0] == "0" && row[5] == "1").count();
    assert!(censored > 3, "{censored}");
    let report = survey_of(&path);
    let skipped =
        report.applications.iter().flat_map(|app| &app.groups).map(|group| group.skipped_unfinished);
    assert!(skipped.sum::<u64>() > 3);
    // The beginning of a job that was submitted before the trace is unknown.
    let submitted = |app: &&ApplicationStragglers| app.submitted_at.is_none();
    assert!(report.applications.iter().any(|app| submitted(&app)));
    let known: Vec<_> = report.applications.iter().filter_map(|app| app.submitted_at).collect();
    assert!(known.iter().all(|at| at.to_rfc3339().unwrap().starts_with("2011-05-0")), "{known:?}");
}

#[test]
fn nothing_is_blamed_that_a_trace_does_not_tell() {
    use elephant_analysis::stragglers::cause::Cause;
    for trace in ALL {
        let folder = tempfile::tempdir().unwrap();
        let report = survey_of(&write(trace, SMALL, folder.path()));
        for cause in Cause::ALL {
            let allowed = matches!(cause, Cause::Hardware | Cause::EveryAttempt | Cause::Unexplained);
            assert!(allowed || report.total.causes.count(cause) == 0, "{trace:?}: {cause:?}");
        }
    }
}

#[test]
fn slow_machines_are_found() {
    let size = Size { jobs: 300, tasks: 60_000, machines: 200, days: 5, seed: 3 };
    for trace in ALL {
        let folder = tempfile::tempdir().unwrap();
        let path = write(trace, size, folder.path());
        let report = nodes::report(&[path], NodeSettings::default());
        let stragglers: Vec<&str> =
            report.ranking.nodes.iter().filter(|node| node.is_straggler()).map(|node| &*node.name).collect();
        let names = match trace {
            Trace::Google2011 => ["300007133", "300109033"],
            Trace::Alibaba2017 => ["7", "107"],
            Trace::Alibaba2018 => ["m_7", "m_107"],
        };
        assert_eq!(stragglers.len(), 2, "{trace:?} {stragglers:?}");
        assert!(names.iter().all(|name| stragglers.contains(name)), "{trace:?} {stragglers:?}");
        assert!(report.ranking.summary.groups.tasks > 50_000, "{trace:?}");
    }
}

#[test]
fn the_result_does_not_depend_on_threads_or_on_batch_task() {
    for trace in ALL {
        let folder = tempfile::tempdir().unwrap();
        let path = write(trace, SMALL, folder.path());
        let rendered = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let report =
                pool.install(|| survey::report(std::slice::from_ref(&path), &Settings::default(), None));
            let ranking =
                pool.install(|| nodes::report(std::slice::from_ref(&path), NodeSettings::default()).ranking);
            let mut out = Vec::new();
            write_text(&report, TextOptions::default(), Shown::default(), &mut out).unwrap();
            write_json(&report, Shown::default(), &mut out).unwrap();
            for table in [Table::Stragglers, Table::Detectors, Table::Applications] {
                write_csv(&report, table, Shown::default(), &mut out).unwrap();
            }
            (out, format!("{:?}", ranking.nodes))
        };
        let one = rendered(1);
        assert!(one == rendered(4), "{trace:?}");
        // Without the table that tells when a job is complete, all jobs are handed on at the end.
        let with = survey_of(&path);
        for table in ["job_events", "batch_task"] {
            for file in super::files(&path, table) {
                std::fs::remove_file(file).unwrap();
            }
        }
        let without = survey_of(&path);
        assert_eq!(with.total.by_median, without.total.by_median, "{trace:?}");
    }
}

#[test]
fn only_the_jobs_that_waited_longest_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(Trace::Alibaba2018, SMALL, folder.path());
    let settings = Settings { replay: false, ..Settings::default() };
    let all = survey::report(std::slice::from_ref(&path), &settings, None);
    let few = survey::report(&[path], &Settings { most_jobs: Some(3), ..settings }, None);
    assert_eq!((all.unlisted, few.unlisted, few.applications.len()), (0, 37, 3));
    let ids = |report: &survey::StragglerReport| -> Vec<String> {
        report.applications.iter().take(3).map(|app| app.id.clone()).collect()
    };
    assert_eq!(ids(&all), ids(&few));
    assert_eq!(all.total.by_median, few.total.by_median);
    assert_eq!((few.total.applications, few.files.applications), (40, 40));
}
