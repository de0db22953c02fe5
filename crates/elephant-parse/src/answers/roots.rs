//! Which answers there are, by their first key.

use elephant_input::kind::Reason;
use memchr::memmem;

/// What an object in an answer is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    /// `JobInfo` of the application master or of the history server.
    Job,
    /// `JobCounterInfo`
    JobCounters,
    /// `AMAttemptInfo`
    Master,
    /// `TaskInfo`
    Task,
    /// `JobTaskCounterInfo`
    TaskCounters,
    /// `TaskAttemptInfo`, `ReduceTaskAttemptInfo`
    Attempt,
    /// `JobTaskAttemptCounterInfo`
    AttemptCounters,
    /// `ConfInfo`
    Conf,
    /// `AppInfo` of the resource manager.
    App,
}

/// The first key of an answer, the key of the list in it, and what each object is about. Without a list, the answer is one
/// object.
const ROOTS: [(&str, Option<&str>, About); 13] = [
    ("jobs", Some("job"), About::Job),
    ("job", None, About::Job),
    ("jobCounters", None, About::JobCounters),
    ("jobAttempts", Some("jobAttempt"), About::Master),
    ("tasks", Some("task"), About::Task),
    ("task", None, About::Task),
    ("jobTaskCounters", None, About::TaskCounters),
    ("taskAttempts", Some("taskAttempt"), About::Attempt),
    ("taskAttempt", None, About::Attempt),
    ("jobTaskAttemptCounters", None, About::AttemptCounters),
    ("conf", None, About::Conf),
    ("apps", Some("app"), About::App),
    ("app", None, About::App),
];

/// Ids, and keys that only these servers write: other JSON begins with such common words, too.
const SIGNS: [&[u8]; 8] = [
    b"\"job_",
    b"\"task_",
    b"\"attempt_",
    b"\"application_",
    b"\"counterGroup\"",
    b"\"taskCounterGroup\"",
    b"\"taskAttemptCounterGroup\"",
    b"/job_",
];

/// The list and the subject of the answer that begins with this key.
pub(super) fn root(key: &str) -> Option<(Option<&'static str>, About)> {
    ROOTS.iter().find(|(root, ..)| *root == key).map(|&(_, list, about)| (list, about))
}

/// Whether an answer begins here; `body` has no byte order mark and no white space before it.
#[must_use]
pub(crate) fn is_answer(body: &[u8]) -> bool {
    may_be_answer(body) && SIGNS.iter().any(|sign| memmem::find(body, sign).is_some())
}

/// Whether an answer may begin here, although nothing that only these servers write is in sight.
#[must_use]
pub(crate) fn may_be_answer(body: &[u8]) -> bool {
    ROOTS.iter().any(|(root, ..)| begins_with(body, root))
}

/// Whether an object begins here whose first key has an object.
fn begins_with(body: &[u8], key: &str) -> bool {
    let object = body.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    let rest =
        object.and_then(|rest| rest.strip_prefix(b"\"")?.strip_prefix(key.as_bytes())?.strip_prefix(b"\""));
    let value = rest.and_then(|rest| rest.trim_ascii_start().strip_prefix(b":"));
    value.is_some_and(|value| value.trim_ascii_start().starts_with(b"{"))
}

/// The first keys of other answers of Hadoop's servers.
const OTHERS: [&str; 10] = [
    "nodes",
    "node",
    "clusterInfo",
    "clusterMetrics",
    "scheduler",
    "appAttempts",
    "appAttempt",
    "appStatInfo",
    "historyInfo",
    "info",
];

/// Keys of which an answer of Spark's REST server (`org.apache.spark.status.api.v1`) has both: applications, stages, jobs,
/// executors, tasks.
const OF_SPARK: [[&[u8]; 2]; 5] = [
    [b"\"attempts\"", b"\"startTime\""],
    [b"\"stageId\"", b"\"attemptId\""],
    [b"\"jobId\"", b"\"stageIds\""],
    [b"\"hostPort\"", b"\"totalGCTime\""],
    [b"\"taskId\"", b"\"taskLocality\""],
];

/// Why an answer of a server that begins here is not read; `None` if no such answer begins here.
#[must_use]
pub(crate) fn left_out(body: &[u8]) -> Option<Reason> {
    let object = body.strip_prefix(b"[").map_or(body, <[u8]>::trim_ascii_start);
    let has = |key: &[u8]| memmem::find(body, key).is_some();
    if object.starts_with(b"{") && OF_SPARK.iter().any(|keys| keys.iter().all(|key| has(key))) {
        return Some(Reason::SparkAnswer);
    }
    OTHERS.iter().any(|key| begins_with(body, key)).then_some(Reason::OtherAnswer)
}
