//! Whole histories: small ones, and every kind of damage that was seen or is conceivable.

use std::io::{self, Read};

use proptest::prelude::*;

use super::*;
use elephant_base::units::Bytes;

/// Records the visitor's calls as text.
#[derive(Default)]
struct Log {
    events: Vec<String>,
    lines: Vec<u64>,
    confs: Vec<(String, usize)>,
}

impl Visitor for Log {
    fn record(&mut self, at: Position, record: &Record<'_>) {
        if let Some(event) = to_event(record, at, &mut Problems::default()) {
            self.events.push(format!("{:?} {:?} {:?}", event.kind, event.fields, event.counters));
        }
        if let Position::Line(line) = at {
            self.lines.push(line);
        }
    }

    fn conf(&mut self, job_id: &str, conf: Conf) {
        self.confs.push((job_id.to_owned(), conf.len()));
    }
}

fn log(text: impl AsRef<[u8]>) -> (Log, Ending) {
    let mut log = Log::default();
    let ending = read(ByteWindow::new(text.as_ref()), &mut log);
    (log, ending)
}

/// Codes, counts and lines of problems.
fn codes(problems: Problems) -> Vec<(&'static str, u64, u64)> {
    let line = |position| match position {
        Some(Position::Line(line)) => line,
        _ => 0,
    };
    problems.into_vec().into_iter().map(|p| (p.known_code(), p.count, line(p.position))).collect()
}

const HISTORY: &str = r#"Meta VERSION="1" .
Job JOBID="job_1_0001" JOBNAME="a \"b\" c\." USER="u" SUBMIT_TIME="1" JOBCONF="x" .
Job JOBID="job_1_0001" LAUNCH_TIME="2" TOTAL_MAPS="1" TOTAL_REDUCES="0" JOB_STATUS="PREP" .
Task TASKID="task_1_0001_m_000000" TASK_TYPE="MAP" START_TIME="3" SPLITS="/r/h" .
MapAttempt TASK_TYPE="MAP" TASKID="task_1_0001_m_000000" TASK_ATTEMPT_ID="attempt_1_0001_m_000000_0" START_TIME="4" TRACKER_NAME="tracker_h:localhost/127\.0\.0\.1:1" .
MapAttempt TASK_TYPE="MAP" TASKID="task_1_0001_m_000000" TASK_ATTEMPT_ID="attempt_1_0001_m_000000_0" TASK_STATUS="FAILED" FINISH_TIME="5" HOSTNAME="h" ERROR="java\.io\.IOException: no \\ way\.
	at org\.x\.Y(Y\.java:1)

Task TASKID=\"task_1_0001_m_000009\" \.
" .
Task TASKID="task_1_0001_m_000000" TASK_TYPE="MAP" TASK_STATUS="SUCCESS" FINISH_TIME="6" COUNTERS="{(g)(g)[(a)(a)(1)]}" .
Job JOBID="job_1_0001" FINISH_TIME="7" JOB_STATUS="SUCCESS" FINISHED_MAPS="1" .
"#;

#[test]
fn a_history_with_a_value_of_several_lines() {
    let (log, ending) = log(HISTORY);
    assert_eq!(log.events.len(), 7);
    assert_eq!(log.lines, [1, 2, 3, 4, 5, 6, 11, 12]);
    assert!(
        log.events[4]
            .contains(r#"no \\ way.\n\tat org.x.Y(Y.java:1)\n\nTask TASKID=\"task_1_0001_m_000009\" .\n"#)
    );
    assert!(log.events[0].contains(r#"a \"b\" c."#));
    assert!(!ending.truncated && ending.problems.is_empty());
}

#[test]
fn windows_line_ends_and_a_byte_order_mark() {
    let (expected, _) = log(HISTORY);
    let (log, ending) = log(format!("\u{feff}\r\n\r\n{}", HISTORY.replace('\n', "\r\n")));
    assert_eq!(log.events, expected.events);
    assert!(ending.problems.is_empty());
}

#[test]
fn every_truncation_yields_a_prefix_of_the_events() {
    let (whole, _) = log(HISTORY);
    for len in 0..HISTORY.len() {
        let text = &HISTORY.as_bytes()[..len];
        let (log, ending) = log(text);
        assert!(whole.events.starts_with(&log.events), "truncated at byte {len}");
        let at_boundary = len < 20 || log.events.len() == whole.events.len() || text.ends_with(b" .\n");
        assert!(
            ending.truncated || at_boundary || text.ends_with(b" ."),
            "truncation at byte {len} went unnoticed"
        );
        assert!(ending.problems.into_vec().iter().all(|p| p.code == "truncated" && p.count == 1));
        let _ = parse(ByteWindow::new(text));
    }
}

#[test]
fn records_without_dots() {
    let text = "Job JOBID=\"job_1_1\" JOBNAME=\"C:\\x\\\" USER=\"u\" SUBMIT_TIME=\"1\"\n\
                Job JOBID=\"job_1_1\" LAUNCH_TIME=\"2\" TOTAL_MAPS=\"9\" TOTAL_REDUCES=\"8\" \n\
                MapAttempt TASKID=\"tip_1_1_m_0\" TASK_STATUS=\"FAILED\" ERROR=\"a\n \"b\" \\\nc\"\n\
                Job JOBID=\"job_1_1\" FINISH_TIME=\"3\" JOB_STATUS=\"SUCCESS\" COUNTERS=\"g.a:1\"";
    let (log, ending) = log(text);
    assert_eq!(log.events.len(), 4);
    assert!(log.events[0].contains(r#"job_name: Some("C:\\x\\")"#), "{}", log.events[0]);
    assert!(log.events[2].contains(r#"error: Some("a\n \"b\" \\\nc")"#), "{}", log.events[2]);
    assert!(!ending.truncated && ending.problems.is_empty());
}

#[test]
fn reading_continues_after_broken_records() {
    let text = r#"Meta VERSION="1" .
Task TASKID="task_1_1_m_0" TASK_TYPE="MAP" STA
garbage
more garbage
Task TASKID="task_1_1_m_1" START_TIME="1" .
MapAttempt TASKID="task_1_1_m_1" TASK_STATUS="FAILED" ERROR="open
	at x
Task TASKID="task_1_1_m_2" START_TIME="1" .
"unexpected"
Task TASKID="task_1_1_m_3" START_TIME="1" .
Note TEXT="of another
version" .
Task TASKID="task_1_1_m_4" START_TIME="1" ."#;
    let (log, ending) = log(text);
    assert_eq!(log.lines, [1, 5, 8, 10, 11, 13]);
    assert_eq!(log.events.len(), 4);
    assert!(!ending.truncated);
    assert_eq!(codes(ending.problems), [("broken-record", 3, 2)]);
    assert_eq!(
        codes(parse(ByteWindow::new(text.as_bytes())).problems),
        [("broken-record", 3, 2), ("unknown-record", 1, 11), ("no-job-start", 1, 0), ("no-job-end", 1, 0)]
    );
}

#[test]
fn invalid_utf8_causes_one_note() {
    let (log, ending) =
        log(b"Job JOBID=\"job_1_1\" USER=\"a\xffb\" .\nJob JOBID=\"job_1_1\" USER=\"\xff\" .\n");
    assert!(log.events[0].contains("a\u{fffd}b"));
    assert_eq!(codes(ending.problems), [("invalid-utf8", 2, 1)]);
}

#[test]
fn a_job_trackers_log() {
    let text = "!!FILE=host_1_job_1_0002_conf.xml!!\n<?xml version=\"1.0\"?><configuration>\n<property><name>a</name>\
                <value>1</value></property>\n</configuration>\n!!FILE=host_1_job_1_0001_u_name!!\n\n\
                Meta VERSION=\"1\" .\nJob JOBID=\"job_1_0001\" USER=\"u\" .\n\n!!FILE=x_job_1_0003_conf.xml!!\n\
                <configuration><property><name>a</name></property>\n";
    let (log, ending) = log(text);
    assert_eq!(log.confs, [("job_1_0002".to_owned(), 1), ("job_1_0003".to_owned(), 1)]);
    assert_eq!(log.lines, [7, 8]);
    assert_eq!(codes(ending.problems), [("conf-damaged", 1, 11)]);
    let parsed = parse(ByteWindow::new(text.as_bytes()));
    assert_eq!((parsed.applications.len(), parsed.confs.len()), (1, 2));
}

#[test]
fn jobs_are_returned_in_the_order_of_their_first_records() {
    let mut jobs = Jobs::default();
    let text = r#"Task TASKID="task_1_7_m_0" START_TIME="1" .
Job JOBID="job_1_5" USER="u" .
MapAttempt TASK_ATTEMPT_ID="attempt_1_7_m_0_0" START_TIME="1" .
Task TASKID="tip_1_6_m_0" START_TIME="1" .
Task START_TIME="1" .
Job JOBID="job_1_7" JOB_STATUS="KILLED" .
"#;
    assert!(!read(ByteWindow::new(text.as_bytes()), &mut jobs).truncated);
    let seen: Vec<_> = jobs.list.iter().map(|job| (job.id.as_str(), job.ended)).collect();
    assert_eq!(seen, [("job_1_7", true), ("job_1_5", false), ("job_1_6", false)]);
    assert!(jobs.problems.is_empty());
    let orphan = parse(ByteWindow::new(&b"Task START_TIME=\"1\" .\n"[..]));
    assert!(orphan.applications.is_empty());
    assert_eq!(codes(orphan.problems), [("record-without-job", 1, 1)]);
}

/// Text followed by an error.
struct Failing<'a>(&'a [u8]);

impl Read for Failing<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.0.read(out)? {
            0 => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
            count => Ok(count),
        }
    }
}

#[test]
fn an_error_keeps_what_was_read_before() {
    let plain = "Job JOBID=\"job_1_1\" USER=\"u\"\nJob JOBID=\"job_1_1\" JOB_STATUS=\"KILLED\"";
    for (text, events) in
        [(HISTORY, 7), (&HISTORY[..HISTORY.len() - 1], 7), (&HISTORY[..HISTORY.len() - 9], 6), (plain, 1)]
    {
        let mut log = Log::default();
        let ending = read(ByteWindow::new(Failing(text.as_bytes())), &mut log);
        assert_eq!(log.events.len(), events, "{text}");
        assert!(ending.truncated);
        assert_eq!(codes(ending.problems), [("truncated", 1, 0)]);
    }
}

#[test]
fn overlong_lines_are_skipped() {
    let next = "Job JOBID=\"job_1_1\" JOB_STATUS=\"KILLED\" .\n";
    for (text, problem) in [
        (format!("Job JOBID=\"job_1_1\" USER=\"{}\" .\n", "x".repeat(500)), "line-too-long"),
        (format!("Job JOBID=\"job_1_1\" USER=\"a\n{}\" .\n", "x".repeat(500)), "broken-record"),
        (format!("Job JOBID=\"job_1_1\" USER=\"{}\" .\n", "x\n".repeat(250)), "broken-record"),
        (format!("!!FILE=a!!\n<conf>{}</conf>\n!!FILE=b!!\n", "<property>\n".repeat(50)), "conf-damaged"),
    ] {
        let limits = Limits { line: Some(Bytes::new(200)), ..Limits::NONE };
        let mut log = Log::default();
        let text = format!("{text}{next}");
        let ending = reader::read_within(ByteWindow::new(text.as_bytes()), &mut log, &limits);
        assert_eq!(log.events.len(), 1, "{text}");
        assert_eq!(codes(ending.problems)[0].0, problem);
    }
}

#[test]
fn heads_of_histories() {
    for head in [
        "Meta VERSION=\"1\" .",
        "\n\r\n Job JOBID=\"job_1_2\" ",
        "Jobtracker START_TIME=\"1\" .",
        "\u{feff}!!FILE=a!!\nx",
        "Task TASKID=\"",
        "MapAttempt TASK_TYPE=\"MAP\"",
        "ReduceAttempt TASKID=\"",
    ] {
        assert!(looks_like_history(head.as_bytes()), "{head}");
    }
    for head in [
        "",
        "Job",
        "Job JOBID",
        "Meta",
        "!!FILE=!!",
        "Avro-Json\n",
        "{\"Job JOBID=\\\"\":1}",
        "x\nMeta VERSION=\"1\" .",
    ] {
        assert!(!looks_like_history(head.as_bytes()), "{head}");
    }
}

proptest! {
    #[test]
    fn no_input_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = (parse(ByteWindow::new(&bytes[..])), looks_like_history(&bytes));
    }

    #[test]
    fn no_mixture_of_parts_panics(parts in prop::collection::vec(prop::sample::select(vec![
        "Meta VERSION=\"1\" .\n", "Job JOBID=\"job_1_1\"", "Task TASKID=\"task_1_1_m_1\"", "MapAttempt", "Note A=\"b\"",
        " START_TIME=\"1\"", " COUNTERS=\"", "{(g)(g)[(a)(a)(1)]}", "g.a:1,", " TASK_STATUS=\"SUCCESS\"", "\"", "\\", " .",
        "\n", "\r\n", "!!FILE=job_1_1!!\n", "<conf>", "é", " ", "x", "=", " ERROR=\"",
    ]), 0..60)) {
        let text = parts.concat();
        let _ = parse(ByteWindow::new(text.as_bytes()));
    }
}
