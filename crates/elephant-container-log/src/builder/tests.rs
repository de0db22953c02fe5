use super::super::layout::stripped;
use super::*;

/// The chains of a log: for each, its line and its causes with the number of their frames and their own frame.
fn chains(log: &str) -> Vec<String> {
    let mut builder = Builder::default();
    let mut ended = Vec::new();
    for (number, line) in log.lines().enumerate() {
        ended.extend(builder.line(number as u64 + 1, &stripped(line)).ended);
    }
    ended.extend(builder.end());
    ended.iter().map(told).collect()
}

fn told(raw: &Raw) -> String {
    let cause = |cause: &RawCause| {
        let own = cause.own.as_ref().map(|frame| format!(" {frame}")).unwrap_or_default();
        format!("{}[{}]{own}", cause.line().replace('\n', "|"), cause.frames.len())
    };
    format!("{}: {}", raw.line, raw.causes.iter().map(cause).collect::<Vec<_>>().join(" <- "))
}

#[test]
fn causes_follow_their_effect() {
    let log = "\
23/06/08 19:24:12 ERROR a.B: failed
java.lang.RuntimeException: outer
\tat com.acme.Job.run(Job.java:1)
\tat java.lang.Thread.run(Thread.java:748)
Caused by: java.io.IOException: inner
\tat java.io.X.y(X.java:1)
\t... 2 more
23/06/08 19:24:12 INFO a.B: next
";
    assert_eq!(
        chains(log),
        [
            "2: java.lang.RuntimeException: outer[2] com.acme.Job.run (Job.java:1) <- java.io.IOException: inner[1]"
        ]
    );
}

#[test]
fn suppressed_exceptions_are_no_causes() {
    let log = "\
java.io.IOException: a
\tat a.B.c(B.java:1)
\tSuppressed: java.io.IOException: b
\t\tat a.B.d(B.java:2)
\tCaused by: java.io.IOException: of b
Caused by: java.io.EOFException: c
\tat a.B.e(B.java:3)
";
    assert_eq!(
        chains(log),
        ["1: java.io.IOException: a[1] a.B.c (B.java:1) <- java.io.EOFException: c[1] a.B.e (B.java:3)"]
    );
}

#[test]
fn a_message_of_several_lines_ends_with_the_first_frame() {
    let log = "\
Exception in thread \"main\" java.lang.RuntimeException: failed: task_1_0001_r_000001
Job failed as tasks failed.

\tat com.acme.Main.main(Main.java:22)
Command exiting with ret '1'
";
    assert_eq!(
        chains(log),
        [
            "1: java.lang.RuntimeException: failed: task_1_0001_r_000001|Job failed as tasks failed.[1] com.acme.Main.main (Main.java:22)"
        ]
    );
    // Without frames, only its first line belongs to it.
    assert_eq!(chains("java.io.IOException: a\nb\nc\n"), ["1: java.io.IOException: a[0]"]);
}

#[test]
fn python_and_the_jvm_are_one_chain() {
    let log = "\
Traceback (most recent call last):
  File \"/home/ann/job.py\", line 21, in <module>
    df.collect()
    ^^^^^^^^^^^^
  File \"/usr/lib/python3/site-packages/py4j/protocol.py\", line 326, in get_return_value
py4j.protocol.Py4JJavaError: An error occurred while calling o59.collect.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0 failed 4 times, most recent failure: Lost task 0.3 in stage 1.0 (TID 3) (h executor 1): org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File \"/home/ann/job.py\", line 17, in price
    raise ValueError(\"no price\")
ValueError: no price

\tat org.apache.spark.api.python.BasePythonRunner.f(PythonRunner.scala:572)

Driver stacktrace:
\tat org.apache.spark.scheduler.DAGScheduler.g(DAGScheduler.scala:2844)
Caused by: org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File \"/home/ann/job.py\", line 17, in price
    raise ValueError(\"no price\")
ValueError: no price

\tat org.apache.spark.api.python.BasePythonRunner.f(PythonRunner.scala:572)
\t... 1 more
";
    let told = chains(log);
    assert_eq!(told.len(), 1, "{told:?}");
    let causes: Vec<&str> = told[0].split(" <- ").collect();
    assert!(causes[0].starts_with("1: py4j.protocol.Py4JJavaError: An error occurred while calling o59.collect.[2] <module> (job.py:21)"), "{told:?}");
    assert!(causes[1].starts_with("org.apache.spark.SparkException: Job aborted"), "{told:?}");
    assert!(causes[2].starts_with("org.apache.spark.api.python.PythonException"), "{told:?}");
    assert_eq!((causes[3], causes.len()), ("ValueError: no price[1] price (job.py:17)", 4), "{told:?}");
}

#[test]
fn tracebacks_of_causes_come_first() {
    let log = "\
Traceback (most recent call last):
  File \"a.py\", line 1, in f
KeyError: 'x'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File \"a.py\", line 2, in g
RuntimeError: no x
";
    assert_eq!(chains(log), ["1: RuntimeError: no x[1] g (a.py:2) <- KeyError: 'x'[1] f (a.py:1)"]);
    let two = "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 1\n\nTraceback (most recent call last):\n  File \"a.py\", line 2, in g\nshop.Odd\n";
    assert_eq!(chains(two), ["1: KeyError: 1[1] f (a.py:1)", "5: shop.Odd[1] g (a.py:2)"]);
}

#[test]
fn a_launcher_may_prefix_each_line_or_only_some() {
    let log = "\
01-04-2020 14:51:15 PDT job INFO - Exception in thread \"main\" java.lang.reflect.UndeclaredThrowableException
01-04-2020 14:51:15 PDT job INFO - \tat org.apache.hadoop.A.doAs(A.java:1769)
01-04-2020 14:51:15 PDT job INFO - Caused by: org.apache.spark.SparkException: Application application_1_2 finished with failed status
01-04-2020 14:51:15 PDT job INFO - \tat org.apache.spark.deploy.yarn.Client.run(Client.scala:1160)
01-04-2020 14:51:15 PDT job INFO - \t... 1 more
01-04-2020 14:51:15 PDT job ERROR - Job run failed!
java.lang.RuntimeException: x
\tat azkaban.A.run(A.java:312)
";
    let told = chains(log);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].contains("UndeclaredThrowableException[1] <- org.apache.spark.SparkException: Application"),
        "{told:?}"
    );
    assert_eq!(told[1], "7: java.lang.RuntimeException: x[1]");
}

#[test]
fn frames_that_are_wrapped_are_joined_and_logs_may_begin_within_a_trace() {
    let log = "\tat a.B.c(B.java:1)\n\tat com.acme.Job.ma\nin(Job.java:3)\nend\n";
    assert_eq!(chains(log), ["1: [2] a.B.c (B.java:1)"]);
    let log = "  File \"/x/site-packages/a.py\", line 1, in f\n    g()\nshop.errors.BadError: Failed: x\n";
    assert_eq!(chains(log), ["1: shop.errors.BadError: Failed: x[1]"]);
}

#[test]
fn long_chains_are_bounded_and_keep_their_innermost_cause() {
    let mut log = "a.b.OuterException: x\n".to_owned();
    for number in 0..300 {
        log.extend(["Caused by: a.b.C", &number.to_string(), "Exception: x\n\tat a.B.c(B.java:1)\n"]);
    }
    let mut builder = Builder::default();
    for (number, line) in log.lines().enumerate() {
        assert!(builder.line(number as u64, &stripped(line)).ended.is_none());
    }
    let raw = builder.end().unwrap();
    assert_eq!(raw.causes.len(), limits::CAUSES);
    assert_eq!(raw.causes.last().unwrap().class.as_deref(), Some("a.b.C299Exception"));
    assert_eq!((raw.more_causes, raw.more_lines), (285, 401));
}

proptest::proptest! {
    #[test]
    fn no_lines_make_it_fail(log in "(Caused by: |\tat a.B.c\\(|Traceback \\(most recent call last\\):|  File \"a\", line 1|: |java.io.IOException|\n|Suppressed: |é|Driver stacktrace:|During handling of the above exception, another exception occurred|\\): ){0,60}") {
        let _ = chains(&log);
    }
}
