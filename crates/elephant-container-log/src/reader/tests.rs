use super::*;
use crate::Chain;

fn digest(form: Form, text: &str) -> Digest {
    read(form, text.as_bytes(), &Classifier::default(), Options { messages: true })
}

fn kinds(digest: &Digest) -> Vec<(u64, &str, u64)> {
    digest.chains.iter().map(|chain| (chain.line, name(chain), chain.count)).collect()
}

fn name(chain: &Chain) -> &str {
    chain.kind.as_ref().map_or("-", |kind| kind.name.as_str())
}

#[test]
fn an_exception_belongs_to_the_line_before_it() {
    let log = "\
26/11/30 02:55:50 ERROR Executor: Exception in task 1.0 in stage 1.0 (TID 2)
java.lang.OutOfMemoryError: Java heap space
\tat com.acme.Job.run(Job.java:1)
26/11/30 02:55:51 ERROR Executor: Exception in task 1.1 in stage 1.0 (TID 3)
java.lang.OutOfMemoryError: Java heap space
\tat com.acme.Job.run(Job.java:1)
26/11/30 02:55:50 INFO Executor: stopped
";
    let digest = digest(Form::Text, log);
    assert_eq!(kinds(&digest), [(2, "heap-space", 2)]);
    let chain = &digest.chains[0];
    assert_eq!(chain.own.as_ref().unwrap().to_string(), "com.acme.Job.run (Job.java:1)");
    assert_eq!(chain.ids.task_ids.iter().copied().collect::<Vec<_>>(), [2, 3]);
    assert_eq!(digest.fingerprints().len(), 1);
}

#[test]
fn lines_without_an_exception_tell_failures_too() {
    let log = "\
23/06/08 19:24:12 WARN YarnAllocator: Container marked as failed: container_1_0001_01_000003 on host: h. Exit status: 137. Diagnostics: Container killed on request. Exit code is 137
Container exited with a non-zero exit code 137
Killed by external signal
23/06/08 19:24:13 ERROR YarnScheduler: Lost executor 3 on h: Container killed by YARN for exceeding physical memory limits. 5.5 GB of 5.5 GB physical memory used.
23/06/08 19:24:13 INFO a.B: Permission granted
23/06/08 19:24:14 ERROR a.B: went wrong 17 times
23/06/08 19:24:15 ERROR a.B: went wrong 18 times
";
    let digest = digest(Form::Text, log);
    assert_eq!(kinds(&digest), [(1, "executor-lost", 1), (4, "container-memory", 1), (6, "-", 2)]);
    assert_eq!(digest.chains[0].exit_code, Some(137), "only a limit makes it a lack of memory");
    assert_eq!(digest.chains[0].ids.containers.first().unwrap(), "container_1_0001_01_000003");
}

#[test]
fn the_stated_length_of_a_log_counts() {
    let body = "23/06/08 19:24:12 ERROR a.B: x\nEnd of LogType:stderr\nLogType:fake\n";
    let log = format!(
        "Container: container_1_0001_01_000002 on h_45454\n====================================\nLogType:stderr\nLogLength:{}\nLogContents:\n{body}\nEnd of LogType:stderr\n\nLogType:stdout\nLogLength:0\nLogContents:\n\nEnd of LogType:stdout\n",
        body.len()
    );
    let digest = digest(Form::YarnLogs, &log);
    let types: Vec<_> = digest.sections.iter().map(|section| section.log_type.as_deref().unwrap()).collect();
    assert_eq!(types, ["stderr", "stdout"]);
    assert_eq!(digest.sections[0].container.as_deref(), Some("container_1_0001_01_000002"));
    assert_eq!(
        (digest.chains[0].section, digest.ids.applications.first().unwrap().as_str()),
        (Some(0), "application_1_0001")
    );
}

#[test]
fn a_part_of_a_log_is_told() {
    let log = "Container: container_1_0001_01_000002 on h\nLogType:stderr\nLogLength:146294\nShowing 26 bytes of 146294 total.\nLogContents:\njava.io.IOException: abcd\n\nLogType:stdout\nLogContents:\nx\n";
    let digest = digest(Form::YarnLogs, log);
    assert_eq!(digest.sections[0].cut, Some((26, 146_294)));
    assert_eq!((digest.sections.len(), digest.chains.len()), (2, 1));
}

#[test]
fn container_runtimes_wrap_each_line() {
    let cri = "2026-01-01T10:00:00.123456789Z stderr F java.io.IOException: No space left on dev\n"
        .replace("dev\n", "device\n")
        + "2026-01-01T10:00:00.123456789Z stderr P \tat com.acme.\n2026-01-01T10:00:00.123456789Z stderr F Job.run(Job.java:1)\n";
    let docker = "{\"log\":\"java.io.IOException: No space left on device\\n\",\"stream\":\"stderr\"}\n{\"log\":\"\\tat com.acme.Job\",\"stream\":\"stderr\"}\n{\"log\":\".run(Job.java:1)\\n\",\"stream\":\"stderr\"}\n";
    for (form, log) in [(Form::Kubernetes, cri.as_str()), (Form::Docker, docker)] {
        let digest = digest(form, log);
        assert_eq!(kinds(&digest), [(1, "disk-full", 1)]);
        assert_eq!(digest.chains[0].own.as_ref().unwrap().method, "com.acme.Job.run");
    }
}

#[test]
fn messages_are_kept_only_if_asked_for_and_masked() {
    let log = "java.io.IOException: cannot open s3a://KEY:S3CR3T@bucket/x\n\tat a.B.c(B.java:1)\n";
    let chain = read(Form::Text, log.as_bytes(), &Classifier::default(), Options::default()).chains.remove(0);
    assert_eq!((&chain.message, &chain.causes[0].message), (&None, &None));
    assert!(!format!("{chain:?}").contains("bucket"));
    let chain = digest(Form::Text, log).chains.remove(0);
    assert_eq!(chain.message.unwrap(), "java.io.IOException: cannot open s3a://***@bucket/x");
}

#[test]
fn hostile_logs_are_bounded_and_every_skip_is_told() {
    let mut log = String::new();
    for number in 0..limits::FINGERPRINTS + 5 {
        let name: String = number.to_string().bytes().map(|byte| char::from(b'a' + byte - b'0')).collect();
        log.extend(["a.b.", &name, "Exception: x\n\tat a.B.", &name, "(B.java:1)\n"]);
    }
    log += &"x".repeat(limits::LINE + 1);
    let digest = digest(Form::Text, &log);
    assert_eq!(digest.chains.len(), limits::FINGERPRINTS);
    assert_eq!((digest.skipped.chains, digest.skipped.long_lines), (5, 1));
    assert_eq!(digest.skipped.words().len(), 2);
}

proptest::proptest! {
    #[test]
    fn no_log_makes_it_fail(log in "(Container: container_1_0001_01_000001 on h\n|LogType:a\n|LogLength:9\n|LogContents:\n|2026-01-01T10:00:00.123456789Z stderr P |<pre>|\tat a.B.c\\(\n|java.io.IOException|\n|23/06/08 19:24:12 ERROR a.B: |é|\\{\"ts\":1){0,40}") {
        for form in [Form::YarnLogs, Form::Page, Form::Kubernetes, Form::Docker, Form::Json, Form::Text] {
            let digest = digest(form, &log);
            proptest::prop_assert!(digest.chains.iter().all(|chain| chain.line > 0 && chain.line <= digest.lines));
        }
    }
}
