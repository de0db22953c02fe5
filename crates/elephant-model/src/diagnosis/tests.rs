use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use proptest::prelude::*;

use super::FailureKind as Kind;
use super::kind::Actor;
use super::*;

/// The headings of every page, below its title.
const HEADINGS: [&str; 5] = [
    "What it is",
    "How it shows in Spark",
    "How it shows in MapReduce",
    "What to change",
    "What not to change",
];

fn kind(text: &str) -> Option<Kind> {
    classify(text).map(|known| known.kind)
}

#[test]
fn texts_without_a_failure_have_no_kind() {
    for text in
        ["", " \n", "Caused by: ", "Caused by: Caused by: ", "ok", "Error", "at a.b(C.java:1)", "\u{1F4A5}"]
    {
        assert_eq!(classify(text), None, "{text:?}");
    }
}

#[test]
fn the_last_cause_counts_over_the_wrapper() {
    let text = "org.apache.spark.SparkException: Job aborted due to stage failure: Task 1 failed 4 times\n\
                \tat org.apache.spark.Foo.run(Foo.scala:1)\n\
                Caused by: java.lang.RuntimeException: Error in batch\n\
                \tat com.example.Main.run(Main.java:1)\n\
                Caused by: java.lang.ClassNotFoundException: com.example.Parser\n\t... 12 more\n";
    let known = classify(text).unwrap();
    assert_eq!(known.kind, Kind::MissingClass);
    assert_eq!(known.exception.as_deref(), Some("java.lang.ClassNotFoundException"));
    let text = "java.lang.ClassNotFoundException: a.B\nCaused by: org.apache.hadoop.security.AccessControlException: no";
    assert_eq!(kind(text), Some(Kind::Permission));
}

#[test]
fn the_most_specific_kind_counts_over_its_symptoms() {
    let heap =
        "org.apache.spark.shuffle.FetchFailedException: Java heap space\nCaused by: java.io.EOFException";
    assert_eq!(kind(heap), Some(Kind::HeapSpace));
    let fetch = "org.apache.spark.shuffle.FetchFailedException: Failed to connect to node7/10.0.0.7:7337\n\
                 Caused by: java.net.ConnectException: Connection refused";
    assert_eq!(kind(fetch), Some(Kind::FetchFailure));
    let lost = "ExecutorLostFailure (executor 3 exited caused by one of the running tasks) Reason: Container killed by \
                YARN for exceeding memory limits. 5.6 GB of 5.5 GB physical memory used.";
    assert_eq!(kind(lost), Some(Kind::ContainerMemory));
    let index =
        "java.io.FileNotFoundException: /tmp/blockmgr-1/0c/shuffle_0_3_0.index (No such file or directory)";
    assert_eq!(kind(index), Some(Kind::FetchFailure));
}

#[test]
fn evictions_of_kubernetes_are_told_by_the_resource_that_was_short() {
    let reason = |resource: &str| {
        format!(
            "\nThe executor with id 3 exited with exit code -1(unexpected).\n\n\n\nThe API gave the following brief reason: \
             Evicted\n\n\n\nThe API gave the following message: The node was low on resource: {resource}. Container a was \
             using 51Gi, which exceeds its request of 0. \n"
        )
    };
    let known = classify(&reason("ephemeral-storage")).unwrap();
    // Spark writes -1 where a pod has no exit code.
    assert_eq!((known.kind, known.exit_code), (Kind::DiskFull, None));
    assert_eq!(kind(&reason("memory")), Some(Kind::ContainerMemory));
    assert_eq!(kind(&reason("something")), Some(Kind::ResourceManagerKill));
    let deleted = "The executor with id 3 was deleted by a user or the framework.";
    assert_eq!(kind(deleted), Some(Kind::ResourceManagerKill));
}

#[test]
fn the_failure_before_an_exclusion_is_the_cause() {
    let aborted = |failure: &str| {
        format!(
            "Job aborted due to stage failure: \nAborting TaskSet 1.0 because task 17 (partition 17)\ncannot run anywhere due \
             to node and executor excludeOnFailure.\nMost recent failure:\n{failure}\n\nspark.excludeOnFailure.enabled \
             behavior can be configured"
        )
    };
    let lost = "Lost task 17.1 in stage 1.0 (TID 5) (node03 executor 3): ";
    let known = classify(&aborted(&format!("{lost}a.b.FlakyException: no\n\tat a.B"))).unwrap();
    assert_eq!((known.kind, known.exception.as_deref()), (Kind::UserCode, Some("a.b.FlakyException")));
    let disk = aborted(&format!("{lost}java.io.IOException: No space left on device"));
    assert_eq!(kind(&disk), Some(Kind::DiskFull));
    assert_eq!(kind(&aborted("")), Some(Kind::TooManyFailures));
}

#[test]
fn names_of_classes_in_stack_frames_do_not_count() {
    let text =
        "java.lang.IllegalStateException: bad\n\tat org.apache.hadoop.fs.FileNotFoundException.x(A.java:1)\n";
    let known = classify(text).unwrap();
    assert_eq!(
        (known.kind, known.exception.as_deref()),
        (Kind::UserCode, Some("java.lang.IllegalStateException"))
    );
}

#[test]
fn the_exception_is_the_one_that_failed_not_the_one_that_reports_it() {
    let text = "Job aborted due to stage failure: Task 3 in stage 2.0 failed 1 times, most recent failure: Lost task \
                3.0 in stage 2.0 (TID 19, localhost): java.lang.RuntimeException: got a 3, failing";
    let known = classify(text).unwrap();
    assert_eq!(
        (known.kind, known.exception.as_deref()),
        (Kind::UserCode, Some("java.lang.RuntimeException"))
    );
    let text = "org.apache.spark.api.python.PythonException: ZeroDivisionError: division by zero";
    let known = classify(text).unwrap();
    assert_eq!((known.kind, known.exception.as_deref()), (Kind::PythonError, Some("ZeroDivisionError")));
    let text = "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    g()\nKeyError: 'a'\n\n\
                During handling of the above exception, another exception occurred:\n\nValueError: b";
    assert_eq!(classify(text).unwrap().exception.as_deref(), Some("KeyError"));
}

#[test]
fn exit_codes_of_nested_shells_are_found() {
    let text = "Exception from container-launch.\nContainer id: container_1_0001_01_000002\nExit code: 134\nStack trace: \
                org.apache.hadoop.util.Shell$ExitCodeException: ExitCodeException exitCode=134: /bin/bash: line 1: 4711";
    let known = classify(text).unwrap();
    assert_eq!((known.kind, known.exit_code), (Kind::JvmCrash, Some(134)));
    let text = "Container marked as failed: container_1 on host: h. Exit status: -104. Diagnostics: killed. Exit code is \
                143";
    let known = classify(text).unwrap();
    assert_eq!((known.kind, known.exit_code), (Kind::ContainerMemory, Some(-104)));
    for (text, code) in [
        ("Command exited with code 137", Some(137)),
        ("Container exited with a non-zero exit code 143", Some(143)),
        ("Task process exit with nonzero status of 139.", Some(139)),
        ("Final app status: FAILED, exitCode: 15, (reason: User class threw exception)", Some(15)),
        ("Exit code: 99999999999", None),
        ("Exit code: ", None),
        ("Exit code: 0", None),
    ] {
        assert_eq!(text::exit_code(&text::parts(text)), code, "{text}");
    }
}

#[test]
fn exit_codes_have_a_meaning_and_a_source() {
    let known = exit_code(137).unwrap();
    assert!(known.meaning.starts_with("SIGKILL") && known.source == "signal", "{known:?}");
}

#[test]
fn an_exit_code_counts_less_than_a_cause_but_more_than_an_end() {
    let text = "Container exited with a non-zero exit code 1\njava.io.IOException: No space left on device";
    assert_eq!(kind(text), Some(Kind::DiskFull));
    assert_eq!(kind("ExecutorLostFailure (executor 1 exited) Exit status: -100."), Some(Kind::NodeLost));
    assert_eq!(kind("ExecutorLostFailure (executor 1 exited) Exit status: 99."), Some(Kind::ExecutorLost));
}

#[test]
fn both_ends_of_long_texts_are_read_and_nothing_between() {
    let filler = "\u{e9}".repeat(1 << 20);
    let cause = "java.lang.OutOfMemoryError: Java heap space";
    assert_eq!(kind(&format!("{cause}{filler}")), Some(Kind::HeapSpace));
    assert_eq!(kind(&format!("{filler}{cause}")), Some(Kind::HeapSpace));
    assert_eq!(kind(&format!("x{filler}{cause}{filler}")), None);
}

/// Texts that repeat what is searched for must not cost more than others.
#[test]
fn hostile_texts_are_read_in_bounded_time() {
    let started = Instant::now();
    for word in [
        "Caused by: ",
        "at ",
        "a.bException",
        "exit code 1",
        "Timed out after",
        "FileNotFoundException",
        "\n",
    ] {
        let _ = classify(&word.repeat((1 << 23) / word.len()));
    }
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

#[test]
fn names_are_distinct_words_with_hyphens() {
    let names: BTreeSet<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(names.len(), Kind::ALL.len());
    for name in names {
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{name}");
    }
}

/// The kind that is recognised by where attempts fail, and not by a message.
const BY_PLACE: Kind = Kind::BadNode;

#[test]
fn every_kind_has_a_cause_a_signature_and_someone_who_acts() {
    for kind in Kind::ALL {
        assert!(kind.cause().ends_with('.') && !kind.cause().contains('\n'), "{}", kind.name());
        let signed = *kind == BY_PLACE || SIGNATURES.iter().any(|signature| signature.kind == *kind);
        assert!(signed, "{}: nothing identifies it", kind.name());
    }
    for actor in [Actor::UserCode, Actor::Configuration, Actor::Cluster] {
        assert!(Kind::ALL.iter().any(|kind| kind.actor() == actor), "{actor:?}");
    }
}

#[test]
fn every_page_belongs_to_a_kind() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("failures");
    let files =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let expected = Kind::ALL.iter().map(|kind| format!("{}.md", kind.name()));
    assert_eq!(files.collect::<BTreeSet<_>>(), expected.collect::<BTreeSet<_>>());
}

#[test]
fn pages_have_the_same_headings_and_fit_a_terminal() {
    for kind in Kind::ALL {
        let (name, page) = (kind.name(), kind.page());
        assert!(page.starts_with("# "), "{name}");
        let headings: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(headings, HEADINGS, "{name}");
        for section in page.split("\n## ").skip(1) {
            assert!(section.lines().skip(1).any(|line| !line.is_empty()), "{name}: an empty section");
        }
        let fits = |line: &str| line.chars().count() <= 80 && line.trim_end() == line && !line.contains('\t');
        assert_eq!(page.lines().find(|line| !fits(line)), None, "{name}");
    }
}

/// The messages on pages, one per indented block.
fn messages(page: &str) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    for line in page.lines() {
        match (line.strip_prefix("      "), line.strip_prefix("    "), messages.last_mut()) {
            (Some(more), _, Some(last)) => *last = format!("{last} {more}"),
            (_, Some(start), _) => messages.push(start.to_owned()),
            _ => {}
        }
    }
    messages
}

#[test]
fn the_messages_on_pages_have_the_kind_of_their_page() {
    let mut wrong = Vec::new();
    for known in Kind::ALL {
        let messages = messages(known.page());
        assert_eq!(messages.is_empty(), *known == BY_PLACE, "{}: messages", known.name());
        let others = messages.into_iter().filter(|message| kind(message) != Some(*known));
        wrong.extend(others.map(|message| (known.name(), kind(&message).map(Kind::name), message)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

proptest! {
    #[test]
    fn any_text_is_classified_without_a_panic(text in any::<String>()) {
        let _ = classify(&text);
    }

    #[test]
    fn parts_of_messages_in_any_order_are_classified_alike_every_time(
        words in prop::collection::vec(prop::sample::select(vec![
            "Caused by: ", "java.io.IOException", ": ", "\n", "\tat a.b(C.java:1)", "exit code -", "104", "137",
            "Exit status: ", "Traceback (most recent call last):", "ValueError: x", "Java heap space", "\u{e9}", "..",
            "PythonException", "$Exception", "FetchFailed(", "AttemptID:", "Timed out after",
        ]), 0..40)
    ) {
        let text = words.concat();
        let known = classify(&text);
        prop_assert_eq!(&classify(&text), &known);
        if let Some(class) = known.and_then(|known| known.exception) {
            prop_assert!(text.contains(&class));
        }
    }
}
