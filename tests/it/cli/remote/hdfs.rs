//! Hadoop's file system: a fake one that fails, and a real one where Java and Hadoop's jars are.

use super::fake_hadoop::{FakeHadoop, Faults};
use super::{HISTORY, analyze, errors, history, json, problem, report};

const NAME: &str = "job_201311192236_0042_etl_nightly+sessions";

/// The report on the history in a folder without other files.
fn expected() -> String {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join(NAME);
    std::fs::copy(HISTORY, &copy).unwrap();
    report(&analyze(&[copy.to_str().unwrap()]), folder.path().to_str().unwrap())
}

fn with(faults: Faults) -> FakeHadoop {
    FakeHadoop::start(NAME, history(), faults)
}

fn from(hadoop: &FakeHadoop, path: &str) -> String {
    let output = analyze(&[&hadoop.url(path)]);
    assert!(output.status.success(), "{}", errors(&output));
    report(&output, &hadoop.url("logs"))
}

/// The problem that is reported if the file is named.
fn failure(hadoop: &FakeHadoop) -> String {
    let output = analyze(&[&hadoop.url(&format!("logs/{NAME}"))]);
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    assert_eq!(json(&output)["summary"]["applications"], 0);
    problem(&output).1
}

#[test]
fn a_file_in_hdfs_gives_the_bytes_of_the_file() {
    for path in [format!("logs/{NAME}"), "logs".to_owned(), "/logs//".to_owned()] {
        let hadoop = with(Faults::default());
        assert_eq!(from(&hadoop, &path), expected(), "{path}");
    }
}

#[test]
fn a_data_node_that_breaks_off_is_asked_for_the_rest() {
    let hadoop = with(Faults { cuts: |reads| (reads < 4).then_some(5000), ..Faults::default() });
    assert_eq!(from(&hadoop, "logs"), expected());
    assert!(hadoop.starts().iter().any(|start| *start > 0), "{:?}", hadoop.starts());
}

#[test]
fn a_data_node_that_always_breaks_off_is_named_and_gives_no_short_history() {
    let message = failure(&with(Faults { cuts: |_| Some(0), ..Faults::default() }));
    assert!(
        message.contains(
            "all attempts failed (one of its blocks could not be read from any data node (tried 127.0.0.1:"
        ),
        "{message}"
    );
    assert!(message.contains("dfs.client.use.datanode.hostname"), "{message}");
    let message = failure(&with(Faults { is_missing: true, ..Faults::default() }));
    assert!(message.contains("one of its blocks is on no data node"), "{message}");
}

#[test]
fn a_name_node_that_fails_at_first_is_asked_again() {
    const BUSY: (&str, &str) = ("org.apache.hadoop.ipc.RetriableException", "still loading");
    let hadoop = with(Faults { refuses: |_, before| (before < 2).then_some(BUSY), ..Faults::default() });
    assert_eq!(from(&hadoop, "logs"), expected());
}

#[test]
fn refusals_of_a_name_node_say_what_to_do() {
    type Refusal = fn(&str, usize) -> Option<(&'static str, &'static str)>;
    let cases: [(Refusal, &str); 3] = [
        (
            |_, _| {
                Some(("org.apache.hadoop.ipc.StandbyException", "Operation category READ is not supported"))
            },
            "the name node is on standby; name the active one",
        ),
        (
            |_, _| {
                Some((
                    "org.apache.hadoop.security.AccessControlException",
                    "Permission denied: user=bob, access=READ, inode=\"/logs\"\n\tat a.B(B.java:1)",
                ))
            },
            "access was denied (Permission denied: user=bob, access=READ, inode=\"/logs\"); check HADOOP_USER_NAME",
        ),
        (
            |_, _| {
                Some(("java.lang.IllegalStateException", "java.lang.IllegalStateException: odd\n\tat a.B"))
            },
            "IllegalStateException: odd",
        ),
    ];
    for (refuses, expected) in cases {
        let hadoop = with(Faults { refuses, ..Faults::default() });
        let message = failure(&hadoop);
        assert!(message.contains(expected), "{message}");
        assert!(!message.contains("B.java"), "{message}");
    }
}

#[test]
fn what_is_missing_or_no_name_node_is_told() {
    let hadoop = with(Faults::default());
    let (code, message) = problem(&analyze(&[&hadoop.url("nothing")]));
    assert_eq!(code, "not-found");
    assert!(message.contains("check the spelling"), "{message}");
    // Nothing listens there.
    let (_, message) = problem(&analyze(&["hdfs://127.0.0.1:1/logs"]));
    assert!(message.contains("all attempts failed") && message.contains("refused"), "{message}");
    let (_, message) = problem(&analyze(&["viewfs://group/logs"]));
    assert!(message.contains("does not say what is mounted there"), "{message}");
    let (_, message) = problem(&analyze(&["hdfs:///logs"]));
    assert!(
        message.contains("the address does not name a name node; write hdfs://NAMENODE:8020/PATH"),
        "{message}"
    );
}

#[test]
fn a_file_that_is_replaced_or_written_is_one_problem() {
    // The first request asks what it is.
    let message = failure(&with(Faults { modified: |before| before.min(1) as u64, ..Faults::default() }));
    assert!(message.contains("it was replaced while it was being read"), "{message}");
    let message = failure(&with(Faults { is_open: true, ..Faults::default() }));
    assert!(message.contains("it is still being written") && message.contains("hdfs dfs -cat"), "{message}");
}

#[test]
fn a_name_node_that_is_silent_takes_no_longer_than_max_time() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let begun = std::time::Instant::now();
    let output = analyze(&["--max-time", "1s", &format!("hdfs://{}/logs", silent.local_addr().unwrap())]);
    assert!(begun.elapsed().as_secs() < 15, "{:?}", begun.elapsed());
    let (code, message) = problem(&output);
    assert_eq!(code, "limit-reached", "{message}");
}

#[test]
fn a_folder_is_listed_with_one_call() {
    let hadoop = with(Faults::default());
    from(&hadoop, "logs");
    assert_eq!(hadoop.calls("getListing"), 1);
}

#[test]
fn files_are_listed_whatever_their_order() {
    // A name node compares the bytes of names as Java does, where they have a sign.
    let in_order = Faults { others: &["ä-1", "ö-2", "B-3", "a-4"], page: 2, ..Faults::default() };
    let failing = Faults {
        refuses: |method, before| {
            let is_busy = method == "getListing" && (1..6).contains(&before);
            is_busy.then_some(("org.apache.hadoop.ipc.RetriableException", "still loading"))
        },
        ..in_order
    };
    for faults in [in_order, failing] {
        let hadoop = with(faults);
        let output = analyze(&[&hadoop.url("logs")]);
        assert!(output.status.success(), "{}", errors(&output));
        let summary = &json(&output)["summary"];
        // All are the same history.
        assert_eq!([&summary["files"]["found"], &summary["applications"]], [5, 1], "{summary}");
    }
}
