//! Logs of executors and containers, joined to the failures that histories tell.

use std::fs;
use std::path::{Path, PathBuf};

use elephant_base::severity::Severity;
use elephant_engine::engine::{Options, analyze};
use elephant_engine::results::{ApplicationReport, Report};
use elephant_ruleset::{RuleFile, RuleSet};
use elephant_verdict::troubles::Logged;

const UDF: &str = "app-20261130025234-0000";
const OOM: &str = "app-20261130025441-0000";

fn recordings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings")
}

fn report(paths: &[PathBuf], options: Options, files: &[RuleFile]) -> Report {
    let rules = RuleSet::with_files(elephant_heuristics::BUILT_IN, files).unwrap();
    analyze(paths, &rules, options)
}

fn application<'r>(report: &'r Report, id: &str) -> &'r ApplicationReport {
    report.applications.iter().find(|app| app.id == id).unwrap()
}

fn logged(app: &ApplicationReport) -> Vec<&Logged> {
    app.troubles.iter().filter_map(|trouble| trouble.logged.as_ref()).collect()
}

#[test]
fn a_failure_has_the_cause_and_the_frame_of_the_log_beside_its_history() {
    let report = report(&[recordings()], Options::default(), &[]);
    let logged = logged(application(&report, UDF));
    let first = logged.first().unwrap();
    assert_eq!((first.kind.as_str(), first.exception.as_deref()), ("python-error", Some("ValueError")));
    assert_eq!(first.frame.as_deref(), Some("shop_price (record.py:17)"));
    assert!(first.of.as_deref().is_some_and(|of| of.contains("task attempt")), "{first:?}");
    assert!(first.file.ends_with("work/app-20261130025234-0000/1/stderr"), "{first:?}");
    let app = application(&report, UDF);
    let failure = app.troubles.iter().find(|trouble| trouble.logged.is_some()).unwrap();
    assert!(failure.cause.contains("the log of task attempt"), "{}", failure.cause);
    assert!(!first.words().contains("4711") && !first.words().contains('@'), "a log's messages are not told");
}

#[test]
fn messages_are_told_if_asked_for_and_masked() {
    let options = Options { messages: true, ..Options::default() };
    let report = report(&[recordings()], options, &[]);
    let app = application(&report, UDF);
    let first = logged(app)[0];
    let message = first.message.as_deref().unwrap();
    assert!(!message.is_empty() && !message.contains('@') && message.contains("***"), "{message}");
    let failure = app.troubles.iter().find(|trouble| trouble.logged.is_some()).unwrap();
    assert!(failure.cause.ends_with(message), "{}", failure.cause);
}

#[test]
fn a_lost_executor_has_the_cause_that_its_log_tells() {
    let report = report(&[recordings()], Options::default(), &[]);
    let logged = logged(application(&report, OOM));
    let first = logged.first().unwrap();
    assert_eq!(
        (first.kind.as_str(), first.exception.as_deref()),
        ("heap-space", Some("java.lang.OutOfMemoryError"))
    );
    assert!(
        first.of.as_deref().is_some_and(|of| of.contains("executor") || of.contains("task attempt")),
        "{first:?}"
    );
    assert!(first.file.contains(OOM), "{first:?}");
}

#[test]
fn logs_may_be_elsewhere() {
    let (events, work) = (recordings().join("events"), recordings().join("work"));
    let without = report(std::slice::from_ref(&events), Options::default(), &[]);
    assert!(without.applications.iter().all(|app| logged(app).is_empty()));
    let options = Options { logs: vec![work], ..Options::default() };
    let with = report(std::slice::from_ref(&events), options, &[]);
    assert_eq!(logged(application(&with, UDF)).first().unwrap().exception.as_deref(), Some("ValueError"));
    let missing = Options { logs: vec![recordings().join("nowhere")], ..Options::default() };
    let missing = report(&[events], missing, &[]);
    assert!(
        missing.problems.iter().any(|problem| problem.source.ends_with("nowhere")),
        "{:?}",
        missing.problems
    );
}

#[test]
fn a_log_without_a_history_tells_its_chains() {
    let log = recordings().join("work/app-20261130025616-0000/1/stderr");
    let report = report(std::slice::from_ref(&log), Options::default(), &[]);
    assert!(!report.named_input_failed && report.applications.is_empty());
    let told = report.problems.iter().find(|problem| problem.problem.code == "log-without-history").unwrap();
    let message = &told.problem.message;
    assert!(message.contains("log of app-20261130025616-0000, whose history was not read"), "{message}");
    assert!(message.contains("2 × python-error (ValueError at shop_price (record.py:17))"), "{message}");
    assert!(!message.contains("4711"), "{message}");
    assert_eq!((report.summary.files_analysed, report.summary.files_skipped), (0, 1));
    assert_eq!(report.skipped, [("log of no application that was read", 1)]);
}

#[test]
fn rules_of_the_user_come_first_and_bring_their_remedy() {
    let text = "\
exceptions:
  - kind: missing-price
    regex: 'no price for article (?P<article>\\d+)'
    match: cause
    remedy: 'add article {article} to the list of prices'
    example: 'ValueError: no price for article 4711'
";
    let file = |text: &str| RuleFile { name: "own.yaml".to_owned(), text: text.to_owned() };
    let low = report(
        &[recordings()],
        Options::default(),
        &[file(&format!("{text}    fault: platform\n    severity: low\n"))],
    );
    let report = report(&[recordings()], Options::default(), &[file(text)]);
    let app = application(&report, UDF);
    let first = logged(app)[0];
    assert_eq!((first.kind.as_str(), first.fault.as_str()), ("missing-price", "user"));
    let advice = app.troubles.iter().flat_map(|trouble| &trouble.advice).map(|advice| advice.text.as_str());
    assert!(advice.into_iter().any(|text| text == "add article 4711 to the list of prices"));
    let told = |app: &ApplicationReport| {
        let trouble = app.troubles.iter().find(|trouble| trouble.logged.is_some()).unwrap();
        let own = app.findings.iter().filter(|finding| trouble.tells(finding).is_some());
        (trouble.severity, own.map(|finding| finding.severity).max().unwrap())
    };
    let (trouble, finding) = told(app);
    assert!(trouble > Severity::Low && finding > Severity::Low, "{trouble} {finding}");
    let accepted = application(&low, UDF);
    assert_eq!(told(accepted), (Severity::Low, Severity::Low));
    assert_eq!(logged(accepted)[0].fault, "platform");
    assert!(accepted.counts[1] > app.counts[1], "the sums follow");
}

#[test]
fn aggregated_logs_are_refused_with_the_command_that_reads_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("host_45454");
    let magic = [
        0xd1, 0x11, 0xd3, 0x68, 0x91, 0xb5, 0xd7, 0xb6, 0x39, 0xdf, 0x41, 0x40, 0x92, 0xba, 0xe1, 0x50, 0, 1,
    ];
    fs::write(&file, magic).unwrap();
    let report = report(&[file], Options::default(), &[]);
    let told: Vec<&str> = report.problems.iter().map(|problem| problem.problem.message.as_str()).collect();
    assert!(told.iter().any(|message| message.contains("yarn logs -applicationId")), "{told:?}");
}

#[test]
fn the_logs_of_a_mapreduce_job_are_joined_by_the_containers_of_its_application() {
    const NUMBER: &str = "1795255938536_0001";
    let histories = [elephant_testing::root().join("testdata/done")];
    let folder = tempfile::tempdir().unwrap();
    let log = format!(
        "Container: container_{NUMBER}_01_000002 on host_45454\n==============================\nLogType:syslog\nLogContents:\n\
         2026-01-01 00:00:00,000 WARN [main] org.apache.hadoop.mapred.YarnChild: Exception running child : \
         java.lang.OutOfMemoryError: Java heap space\n\tat com.acme.Mapper.map(Mapper.java:12)\n\nEnd of LogType:syslog\n"
    );
    fs::write(folder.path().join("app.log"), log).unwrap();
    let options = Options { logs: vec![folder.path().to_path_buf()], ..Options::default() };
    let report = report(&histories, options, &[]);
    let logged = logged(application(&report, &format!("job_{NUMBER}")));
    let first = logged.first().unwrap();
    assert_eq!((first.kind.as_str(), first.line), ("heap-space", 5));
    assert_eq!(first.frame.as_deref(), Some("com.acme.Mapper.map (Mapper.java:12)"));
    let codes: Vec<_> = report.problems.iter().map(|problem| problem.problem.code.as_ref()).collect();
    assert!(!codes.contains(&"log-without-history"), "{codes:?}");
}
