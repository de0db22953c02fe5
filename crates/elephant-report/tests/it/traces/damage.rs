//! Traces whose lines are cut, changed, moved or repeated.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use elephant_engine::survey::StragglerReport;
use elephant_parse::{Level, Position};
use proptest::prelude::*;

use super::{ALL, SMALL, Size, Trace, files, survey_of, write};

const TINY: Size = Size { jobs: 6, tasks: 60, machines: 5, ..SMALL };

fn codes(report: &StragglerReport) -> Vec<(&'static str, u64, Option<Position>)> {
    report
        .problems
        .iter()
        .map(|it| (it.problem.known_code(), it.problem.count, it.problem.position))
        .collect()
}

/// Changes the lines of the tasks of a trace.
fn change(folder: &Path, trace: Trace, change: impl FnOnce(&mut Vec<String>)) {
    let table = if trace == Trace::Google2011 { "task_events" } else { "batch_instance" };
    let path = &files(folder, table)[0];
    let mut lines: Vec<String> = fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect();
    change(&mut lines);
    fs::write(path, lines.join("\n")).unwrap();
}

#[test]
fn bad_lines_cost_one_warning_for_each_kind_and_file() {
    for trace in ALL {
        let folder = tempfile::tempdir().unwrap();
        let path = write(trace, TINY, folder.path());
        let before = survey_of(&path);
        change(&path, trace, |lines| {
            lines.insert(10, "a line,that is cut".to_owned());
            lines.insert(20, "another".to_owned());
            let (number, time) = if trace == Trace::Alibaba2018 { (30, 5) } else { (30, 0) };
            let mut columns: Vec<&str> = lines[number].split(',').collect();
            columns[time] = "yesterday";
            let line = columns.join(",");
            lines.insert(number, line);
        });
        let report = survey_of(&path);
        let codes = codes(&report);
        assert!(codes.contains(&("trace-columns", 2, Some(Position::Line(11)))), "{trace:?} {codes:?}");
        assert!(codes.contains(&("trace-value", 1, Some(Position::Line(31)))), "{trace:?} {codes:?}");
        assert_eq!(report.total.by_median, before.total.by_median, "{trace:?}");
        assert!(!report.named_input_failed);
    }
}

/// The times are next to each other in both tables: columns 1 and 2 of 2017, 6 and 7 of 2018.
#[test]
fn an_instance_that_ends_before_it_starts_is_told() {
    for (trace, start) in [(Trace::Alibaba2017, 0), (Trace::Alibaba2018, 5)] {
        let folder = tempfile::tempdir().unwrap();
        let path = write(trace, TINY, folder.path());
        assert!(!codes(&survey_of(&path)).iter().any(|(code, ..)| *code == "trace-ends-first"));
        change(&path, trace, |lines| {
            for line in &mut lines[5..8] {
                let mut columns: Vec<&str> = line.split(',').collect();
                columns.swap(start, start + 1);
                *line = columns.join(",");
            }
        });
        let codes = codes(&survey_of(&path));
        assert!(codes.contains(&("trace-ends-first", 3, Some(Position::Line(6)))), "{trace:?} {codes:?}");
    }
}

#[test]
fn repeated_lines_count_once() {
    for trace in [Trace::Google2011, Trace::Alibaba2018] {
        let folder = tempfile::tempdir().unwrap();
        let path = write(trace, TINY, folder.path());
        // Otherwise a job is complete before its last line.
        for file in files(&path, "batch_task") {
            fs::remove_file(file).unwrap();
        }
        let before = survey_of(&path);
        change(&path, trace, |lines| {
            let twice = lines.iter().flat_map(|line| [line.clone(), line.clone()]).collect();
            *lines = twice;
        });
        let report = survey_of(&path);
        assert_eq!(report.total.by_median, before.total.by_median, "{trace:?}");
        let repeated: Vec<_> =
            report.problems.iter().filter(|it| it.problem.code == "trace-duplicate").collect();
        assert!(repeated.iter().map(|it| it.problem.count).sum::<u64>() >= 60, "{:?}", codes(&report));
        assert!(repeated.iter().all(|it| it.problem.level == Level::Info));
    }
}

#[test]
fn lines_in_another_order_give_the_same_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(Trace::Alibaba2018, TINY, folder.path());
    let before = survey_of(&path);
    change(&path, Trace::Alibaba2018, |lines| lines.reverse());
    assert_eq!(survey_of(&path).total.by_median, before.total.by_median);
}

/// Google's trace has an end before its start in places. Here the lines of each nine minutes are reversed.
#[test]
fn lines_out_of_order_by_ten_minutes_give_the_same_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(Trace::Google2011, TINY, folder.path());
    for file in files(&path, "job_events") {
        fs::remove_file(file).unwrap();
    }
    let before = survey_of(&path);
    let mut moved = 0;
    change(&path, Trace::Google2011, |lines| {
        let period = |line: &String| line.split(',').next().unwrap().parse::<u64>().unwrap() / 540_000_000;
        for lines in lines.chunk_by_mut(|one, other| period(one) == period(other)) {
            moved += lines.len() - 1;
            lines.reverse();
        }
    });
    assert!(moved > 20, "{moved}");
    let report = survey_of(&path);
    assert_eq!(report.total.by_median, before.total.by_median);
    assert_eq!(report.total.tasks, before.total.tasks);
    assert_eq!(codes(&report), codes(&before));
}

/// A change of a line: which one, where in it, and to what.
type Change = (usize, usize, u8);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whatever happens to the lines, the run ends, says what was wrong once for each kind, and counts no task twice.
    #[test]
    fn damage_never_fails_a_run(
        which in 0..3usize,
        changes in prop::collection::vec(any::<Change>(), 1..20),
        cut in any::<prop::sample::Index>(),
    ) {
        let trace = ALL[which];
        let folder = tempfile::tempdir().unwrap();
        let path = write(trace, TINY, folder.path());
        let before = survey_of(&path);
        for file in elephant_testing::files_below(&path) {
            let mut bytes = fs::read(&file).unwrap();
            for &(line, at, byte) in &changes {
                let place = (line.wrapping_mul(131).wrapping_add(at)) % bytes.len();
                bytes[place] = byte;
            }
            bytes.truncate(bytes.len() / 2 + cut.index(bytes.len() / 2));
            fs::write(&file, bytes).unwrap();
        }
        let report = survey_of(&path);
        prop_assert!(report.total.tasks <= before.total.tasks + 20);
        let kinds: BTreeSet<_> = report.problems.iter().map(|it| (it.source.clone(), &*it.problem.code)).collect();
        prop_assert_eq!(kinds.len(), report.problems.len());
    }
}
