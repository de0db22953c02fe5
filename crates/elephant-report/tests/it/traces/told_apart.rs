//! Which trace a file is from, by its contents.

use elephant_engine::engine::{Options, analyze};
use elephant_input::kind::{Reason, SourceKind};
use elephant_input::trace_table::{TraceFormat, TraceTable};
use elephant_parse::{identify, insisting};
use elephant_ruleset::RuleSet;

use super::{ALL, SMALL, Trace, files, survey_of, write};

fn kind(text: &str) -> SourceKind {
    identify(text.as_bytes(), true).unwrap()
}

#[test]
fn every_table_is_recognised_by_its_contents() {
    let folder = tempfile::tempdir().unwrap();
    let expected = [
        (Trace::Google2011, "job_events", TraceTable::GoogleJobs),
        (Trace::Google2011, "machine_events", TraceTable::GoogleMachines),
        (Trace::Google2011, "task_events", TraceTable::GoogleTasks),
        (Trace::Alibaba2017, "batch_task", TraceTable::Alibaba2017Tasks),
        (Trace::Alibaba2017, "batch_instance", TraceTable::Alibaba2017Instances),
        (Trace::Alibaba2018, "batch_task", TraceTable::Alibaba2018Tasks),
        (Trace::Alibaba2018, "batch_instance", TraceTable::Alibaba2018Instances),
        (Trace::Alibaba2018, "machine_meta", TraceTable::Alibaba2018Machines),
    ];
    for trace in ALL {
        write(trace, SMALL, folder.path());
    }
    for (trace, table, expected) in expected {
        for path in files(&folder.path().join(format!("{trace:?}")), table) {
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(kind(&text), SourceKind::Trace(expected), "{}", path.display());
            // The first bytes that are read may end anywhere.
            for length in [1000, 1001, 1050].into_iter().filter(|&length| length < text.len()) {
                let head = &text.as_bytes()[..length];
                assert_eq!(identify(head, false), Some(SourceKind::Trace(expected)), "{}", path.display());
            }
        }
    }
    let usage = "m_1932,386640,41,92,,,43.04,33.08,4\nm_1932,386670,43,92,,,43.05,33.08,4\n";
    assert_eq!(kind(usage), SourceKind::Trace(TraceTable::Alibaba2018Usage));
}

#[test]
fn a_damaged_first_line_does_not_hide_a_trace_and_other_tables_are_none() {
    let line = "600026273,,515042969,0,,0,user,2,9,0.0125,0.07446,0.0004244,0\n";
    for first in ["", "x,y\n", "600,,1,0,,7\n"] {
        let text = format!("{first}{line}{line}");
        assert_eq!(kind(&text), SourceKind::Trace(TraceTable::GoogleTasks), "{first}");
    }
    for text in [
        "date,close,volume,open,high,low\n2011/05/02,1.5,100,2,3,4\n",
        "1,2,3,4,5,6,7,8\n2,3,4,5,6,7,8,9\n",
        "a,b,c,d,e,f,g,h,i,j,k,l,m\n",
        "1,2,3,4,5,6,7,8,9,10,11,12,13\n",
        ",,,,,,,,,,,,\n",
    ] {
        assert_eq!(kind(text), SourceKind::Unrelated(Reason::Text), "{text}");
    }
}

#[test]
fn the_user_may_insist_on_a_trace() {
    let odd = "x,y,1,2,m,Done,1,1,,,,\n";
    let insist = |format, text: &str| insisting(format)(text.as_bytes(), true);
    let instances = Some(SourceKind::Trace(TraceTable::Alibaba2017Instances));
    assert_eq!(insist(Some(TraceFormat::Alibaba2017), odd), instances);
    assert_eq!(insist(None, odd), Some(SourceKind::Unrelated(Reason::Text)));
    assert_eq!(insist(Some(TraceFormat::Google2011), odd), Some(SourceKind::Unrelated(Reason::Text)));
    // Another trace is not taken for it, although a table of each has eight columns.
    let jobs = "600025907,,6251668984,0,user,2,name,logical\n";
    let other = Some(SourceKind::Unrelated(Reason::OtherTrace(TraceFormat::Google2011)));
    assert_eq!(insist(Some(TraceFormat::Alibaba2017), jobs), other);
    assert_eq!(insist(Some(TraceFormat::Google2011), jobs), Some(SourceKind::Trace(TraceTable::GoogleJobs)));
    // A history is still recognised.
    let event = "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.0\"}\n";
    assert_eq!(insist(Some(TraceFormat::Google2011), event), Some(SourceKind::SparkEventLog));
}

#[test]
fn other_commands_skip_traces_and_say_what_reads_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(Trace::Google2011, SMALL, folder.path());
    let report = analyze(&[path], &RuleSet::new(elephant_heuristics::BUILT_IN).unwrap(), Options::default());
    assert_eq!(report.summary.applications, 0);
    let (reason, count) = report.skipped[0];
    assert!(reason.contains("stragglers or nodes") && count > 2, "{reason} {count}");
}

#[test]
fn a_table_without_tasks_names_the_one_that_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    for (trace, given, missing) in [
        (Trace::Google2011, "job_events", "task_events"),
        (Trace::Alibaba2017, "batch_task", "batch_instance"),
        (Trace::Alibaba2018, "machine_meta", "batch_instance"),
    ] {
        let path = write(trace, SMALL, folder.path());
        let problems = survey_of(&files(&path, given)[0]).problems;
        let message = problems[0].problem.message.clone();
        assert_eq!((problems.len(), &*problems[0].problem.code), (1, "trace-without-tasks"), "{problems:?}");
        let expected = format!("{given} contains no tasks; name the table {missing} of the trace, too");
        assert_eq!(message, expected);
        assert!(survey_of(&path).problems.iter().all(|it| it.problem.code != "trace-without-tasks"));
    }
}

#[test]
fn archives_and_compressed_parts_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let plain = write(Trace::Google2011, SMALL, folder.path());
    let packed = folder.path().join("packed");
    let trace = Trace::Google2011;
    trace.write(SMALL, &mut super::Folder::new(trace, &packed, true, 2000)).unwrap();
    let (plain, packed) = (survey_of(&plain), survey_of(&packed));
    assert!(plain.total.tasks > 1000);
    assert_eq!(plain.total.by_median, packed.total.by_median);
    assert_eq!(plain.files.files_analysed, packed.files.files_analysed);
}
