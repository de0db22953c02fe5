//! The causes of lost executors.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::stage_text::first_line;
use crate::shown::NAMES;
use elephant_analysis::executors::executor_life;
use elephant_analysis::root_cause::told;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::diagnosis::{FailureKind, is_cancelled};
use elephant_model::engine_facts::process::SIGKILL;
use elephant_model::model::spark::{ClusterManager, Executor, Job, JobResult, Spark};
use elephant_model::model::table::{Outcome, TaskGroup, TimePoint};
use elephant_model::model::{Application, Symbol};
use elephant_rule::finding::{Failure, Phrase, Word};

/// One lost executor.
const LOST: &str = "executor {id}[ on {host}] was lost[ {life} after it was added]: {reason}";

/// Several executors that were lost for one reason, and the first of them.
const SAME: &str = "{count} {reason}, the first executor {id}[ on {host}][ {life} after it was added]";

/// Reasons of several losses.
const EXITED: &str = "with {code}";
const BECAUSE: &str = "because {because}";
const TOLD: &str = "with the reason \"{reason}\"";

/// Further losses.
const MORE: &str = "{count} for other reasons";

/// The reason if the event log has none.
const NO_REASON: &str = "the event log contains no reason";

/// The end of a message if most losses happened on one host.
const MOSTLY_ON: &str = "; {count} of them on {host}";

/// What precedes the message of Kubernetes on a pod. The first line of such a reason is only the exit code.
const TOLD_BY_KUBERNETES: &str = "The API gave the following message:";

/// A lost executor.
#[derive(Debug, Clone)]
pub(crate) struct Loss<'a> {
    pub(crate) executor: &'a Executor,
    pub(crate) cause: Cause,
}

/// The cause of a lost executor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cause {
    pub(crate) failure: Failure,
    /// Whether SIGKILL ended it, and the reason does not say why: mostly the kernel or the cluster manager because of
    /// memory.
    killed: bool,
    /// Whether the message is that of Kubernetes, which names more than the kind of failure does.
    of_kubernetes: bool,
}

impl Cause {
    /// The cause that a removal reason states.
    pub(crate) fn of(reason: Option<&str>) -> Self {
        let mut failure = reason.and_then(told).unwrap_or_else(|| Failure {
            message: reason.map(first_line).filter(|line| !line.is_empty()),
            ..Failure::new(FailureKind::ExecutorLost)
        });
        let kubernetes = reason.and_then(|reason| reason.split_once(TOLD_BY_KUBERNETES));
        let kubernetes = kubernetes.map(|(_, told)| first_line(told)).filter(|line| !line.is_empty());
        let of_kubernetes = kubernetes.is_some();
        failure.message = kubernetes.or(failure.message);
        let text = reason.unwrap_or_default().to_ascii_lowercase();
        let explains = text.contains("memory") || text.contains("oom");
        Self { killed: failure.exit_code == Some(SIGKILL) && !explains, of_kubernetes, failure }
    }

    /// Whether more heap helps.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        matches!(self.failure.kind, FailureKind::HeapSpace | FailureKind::GcOverhead)
    }

    /// Whether more memory overhead helps: the container exceeded its limit, or YARN or Kubernetes killed
    /// it outright.
    pub(crate) fn is_over_memory(&self, app: &Application) -> bool {
        let limited = [Some(ClusterManager::Yarn), Some(ClusterManager::Kubernetes)];
        self.failure.kind == FailureKind::ContainerMemory
            && (!self.killed || limited.contains(&ClusterManager::of_application(app)))
    }

    /// The reason in words: the exit code with its meaning, unless the message says more.
    fn words(&self) -> String {
        let Failure { message, exit_code, kind, .. } = &self.failure;
        let message = message.as_deref().unwrap_or_default();
        let Some(code) = self.failure.exit_in_words() else {
            return if message.is_empty() { NO_REASON.to_owned() } else { message.to_owned() };
        };
        // The rest of the message is only the container, its host and the same code.
        if *kind != FailureKind::ExecutorLost
            && exit_code.and_then(elephant_model::diagnosis::exit_code).is_some()
        {
            return code;
        }
        let number = exit_code.map(|code| code.to_string()).unwrap_or_default();
        // "Command exited with code 137", "Container … exited with exit code 137": nothing but the code.
        let only_code =
            message.split(' ').next_back().is_some_and(|last| last.trim_end_matches('.') == number);
        if message.is_empty() || only_code { code } else { format!("{}; {code}", first_line(message)) }
    }
}

/// Every lost executor with its cause, in the order of the executors. Executors that the application gave back, that
/// ended without an error, or that were stopped after the last job or together with the application are not lost.
pub(crate) fn lost_executors(spark: &Spark) -> impl Iterator<Item = Loss<'_>> {
    let (end, stop) = (end_of_work(spark), beginning_of_stop(spark));
    let lost = spark.executors.iter().filter(|executor| executor.was_lost());
    // Executors are often lost for few reasons.
    let mut causes: BTreeMap<Option<&str>, Cause> = BTreeMap::new();
    lost.filter_map(move |executor| {
        let reason = executor.removed_reason.as_deref();
        let cause = causes.entry(reason).or_insert_with(|| Cause::of(reason)).clone();
        let in_the_end = end.is_some_and(|end| executor.removed_at > Some(end))
            || stop.is_some_and(|stop| executor.removed_at >= Some(stop));
        let in_peace = match cause.failure.kind {
            FailureKind::ApplicationKill => true,
            FailureKind::ResourceManagerKill | FailureKind::ExecutorLost => in_the_end,
            _ => false,
        };
        (!in_peace && !ended_normally(reason)).then_some(Loss { executor, cause })
    })
}

/// The end of the last job, if all jobs ended and the last one succeeded: what is lost later harms nothing. If it
/// failed, the loss may be logged after the failure that it caused.
fn end_of_work(spark: &Spark) -> Option<Timestamp> {
    if spark.jobs.iter().any(|job| !job.has_end) {
        return None;
    }
    let last = spark.jobs.iter().max_by_key(|job| (job.completed_at, job.id))?;
    last.completed_at.filter(|_| last.result == Some(JobResult::Succeeded))
}

/// Spark's message for jobs that were running when the application was stopped.
const STOPPED: &str = "SparkContext was shut down";
/// When a cluster or a user stops an application, its executors may end this long before the driver cancels its jobs.
const STOPPING: Millis = Millis::from_secs(5);

/// The time from which on a working application was being stopped; `None` if it was not. Until then nothing failed by
/// itself, so later losses are consequences of the stop.
pub(crate) fn beginning_of_stop(spark: &Spark) -> Option<Timestamp> {
    let failed = spark.jobs.iter().filter(|job| job.result == Some(JobResult::Failed));
    let of = |job: &Job, is_it: fn(&str) -> bool| job.failure.as_deref().is_some_and(is_it);
    let stopped = failed.clone().filter(|job| of(job, |text| text.contains(STOPPED)));
    let stop = stopped.filter_map(|job| job.completed_at).min()?;
    let from = Timestamp::from_millis(stop.as_millis().saturating_sub_unsigned(STOPPING.get()));
    let mut others = failed.filter(|job| !of(job, is_cancelled));
    (!others.any(|job| job.completed_at.is_none_or(|at| at >= from))).then_some(from)
}

/// Whether tasks of a stage failed only because the application was being stopped, from `stop` on.
pub(crate) fn fails_only_in_stop(stop: Timestamp, group: &TaskGroup) -> bool {
    let attempts = &group.attempts;
    let mut failed = (0..attempts.len()).filter(|row| attempts.outcome(*row) == Outcome::Failed).peekable();
    failed.peek().is_some()
        && failed.all(|row| attempts.time(row, TimePoint::Finish).is_some_and(|at| at >= stop))
}

/// Whether a process ended with exit code 0.
fn ended_normally(reason: Option<&str>) -> bool {
    let reason = reason.unwrap_or_default().trim().trim_end_matches('.').to_ascii_lowercase();
    ["exited with code 0", "exit code 0", "exit code: 0", "exit status: 0", "exit status 0"]
        .iter()
        .any(|end| reason.ends_with(end))
}

/// The loss that caused a failed fetch, or the failure of attempts on lost executors. Considers the losses of
/// `executors`; if there are none, all losses until the time `until`; if there are none either, all losses. Of these,
/// the one that explains most; among equals, the first.
pub(crate) fn root_loss<'a>(
    spark: &'a Spark,
    executors: impl Fn(&str) -> bool,
    until: Option<Timestamp>,
) -> Option<Loss<'a>> {
    let before =
        |loss: &Loss<'_>| loss.executor.removed_at.zip(until).is_none_or(|(removed, until)| removed <= until);
    let losses: Vec<Loss<'a>> = lost_executors(spark).collect();
    let worst = |losses: Vec<&Loss<'a>>| {
        let order =
            |loss: &&Loss<'a>| (Reverse(loss.cause.failure.kind.standing()), loss.executor.removed_at);
        losses.into_iter().min_by_key(order).cloned()
    };
    worst(losses.iter().filter(|loss| executors(&loss.executor.id)).collect())
        .or_else(|| worst(losses.iter().filter(|loss| before(loss)).collect()))
        .or_else(|| worst(losses.iter().collect()))
}

/// "executor 1 on worker1 was lost 20 s after it was added: exit code 137 (SIGKILL: killed from outside, …)".
pub(crate) fn describe(app: &Application, loss: &Loss<'_>) -> Phrase {
    let host = loss.executor.host.and_then(|host| app.strings.get(host));
    let life = executor_life(app, loss.executor).map(|life| life.to_string());
    Phrase::new(
        LOST,
        &[
            ("id", &loss.executor.id),
            ("host", &host.unwrap_or_default()),
            ("life", &life.unwrap_or_default()),
            ("reason", &loss.cause.words()),
        ],
    )
}

/// Lost executors by their reasons, the most frequent first.
pub(crate) fn describe_all(app: &Application, losses: &[Loss<'_>]) -> Phrase {
    let mut reasons: BTreeMap<_, Vec<&Loss<'_>>> = BTreeMap::new();
    for loss in losses {
        let Failure { kind, exit_code, .. } = &loss.cause.failure;
        reasons.entry((kind, exit_code)).or_default().push(loss);
    }
    let mut reasons: Vec<Vec<&Loss<'_>>> = reasons.into_values().collect();
    // The sort is stable.
    reasons.sort_by_key(|losses| Reverse(losses.len()));
    let told = reasons.iter().take(NAMES).filter_map(|losses| match losses.as_slice() {
        [only] => Some(describe(app, only)),
        [first, ..] => Some(describe_same(app, first, losses.len())),
        [] => None,
    });
    let left: usize = reasons.iter().skip(NAMES).map(Vec::len).sum();
    let more = (left > 0).then(|| Phrase::new(MORE, &[("count", &left)]));
    Phrase::list("; ", told.chain(more))
}

fn describe_same(app: &Application, first: &Loss<'_>, count: usize) -> Phrase {
    let Failure { message, kind, .. } = &first.cause.failure;
    let message = message.as_deref().unwrap_or(NO_REASON);
    let reason = match (first.cause.failure.exit_in_words(), kind.because()) {
        (Some(code), _) => Phrase::new(EXITED, &[("code", &code)]),
        (None, _) if first.cause.of_kubernetes => Phrase::new(TOLD, &[("reason", &message)]),
        (None, Some(because)) => Phrase::new(BECAUSE, &[("because", &because)]),
        (None, None) => Phrase::new(TOLD, &[("reason", &message)]),
    };
    let host = first.executor.host.and_then(|host| app.strings.get(host)).unwrap_or_default();
    let life = executor_life(app, first.executor).map(|life| life.to_string()).unwrap_or_default();
    let values: [Word<'_>; 5] = [
        ("count", &count),
        ("reason", &reason),
        ("id", &first.executor.id),
        ("host", &host),
        ("life", &life),
    ];
    Phrase::new(SAME, &values)
}

/// The host with most of several lost executors, if executors ran on other hosts too.
pub(crate) fn worst_host<'a>(
    app: &'a Application,
    spark: &Spark,
    losses: &[Loss<'_>],
) -> Option<(&'a str, u64)> {
    let mut hosts: BTreeMap<Symbol, u64> = BTreeMap::new();
    for host in losses.iter().filter_map(|loss| loss.executor.host) {
        *hosts.entry(host).or_default() += 1;
    }
    let (host, count) = hosts.into_iter().max_by_key(|(host, count)| (*count, Reverse(*host)))?;
    let elsewhere = spark.executors.iter().any(|executor| executor.host.is_some_and(|other| other != host));
    let most = count >= 2 && 2 * count > losses.len() as u64;
    (most && elsewhere).then_some((app.strings.get(host)?, count))
}

/// The host of all of several lost executors, if no more than half of the executors ran there.
pub(crate) fn only_host<'a>(app: &'a Application, spark: &Spark, losses: &[Loss<'_>]) -> Option<&'a str> {
    let (host, _) = worst_host(app, spark, losses).filter(|(_, count)| *count == losses.len() as u64)?;
    let of_host = |executor: &&Executor| executor.host.and_then(|host| app.strings.get(host)) == Some(host);
    let there = spark.executors.iter().filter(of_host).count();
    (2 * there <= spark.executors.len()).then_some(host)
}

/// "; 3 of them on n1"; empty if no host has most of the losses.
pub(crate) fn mostly_on(worst: Option<(&str, u64)>) -> Phrase {
    worst
        .map(|(host, count)| Phrase::new(MOSTLY_ON, &[("count", &count), ("host", &host)]))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_cluster_managers_are_recognised() {
        for (reason, kind, killed) in [
            ("Command exited with code 137", FailureKind::ContainerMemory, true),
            ("Command exited with code 52", FailureKind::HeapSpace, false),
            (
                "Container from a bad node: container_1 on host: n1. Exit status: 143. Diagnostics: x",
                FailureKind::ResourceManagerKill,
                false,
            ),
            (
                "Container killed by YARN for exceeding memory limits. 5.5 GB of 5.5 GB physical memory used",
                FailureKind::ContainerMemory,
                false,
            ),
            (
                "The executor with id 1 exited with exit code 137(SIGKILL, possible container OOM).",
                FailureKind::ContainerMemory,
                false,
            ),
            (
                "\nThe executor with id 1 exited with exit code -1(unexpected).\n\n\n\nThe API gave the following brief \
                 reason: Evicted\n\n\n\nThe API gave the following message: The node was low on resource: \
                 ephemeral-storage. Container a was using 51Gi, which exceeds its request of 0. \n\n\n",
                FailureKind::DiskFull,
                false,
            ),
            ("Executor heartbeat timed out after 125000 ms", FailureKind::HeartbeatTimeout, false),
            ("worker lost: 127.0.0.1:4321 got disassociated", FailureKind::NodeLost, false),
            ("Command exited with code 1370", FailureKind::ExecutorLost, false),
            ("", FailureKind::ExecutorLost, false),
        ] {
            let cause = Cause::of(Some(reason));
            assert_eq!((cause.failure.kind, cause.killed), (kind, killed), "{reason}");
        }
        assert_eq!(Cause::of(None).failure.kind, FailureKind::ExecutorLost);
    }

    #[test]
    fn exit_codes_are_explained() {
        let words = |reason: &str| Cause::of(Some(reason)).words();
        assert_eq!(
            words("Command exited with code 137"),
            "exit code 137 (SIGKILL: killed from outside, usually for using too much memory)"
        );
        assert_eq!(
            words("Container from a bad node: container_1 on host: n1. Exit status: 56. Diagnostics: x"),
            "exit code 56 (the executor could not send heartbeats to the driver)"
        );
        assert_eq!(words("Executor Process Lost"), "Executor Process Lost");
        let evicted = "\nThe executor with id 1 exited with exit code -1(unexpected).\n\nThe API gave the following \
                       message: The node was low on resource: memory. \n";
        assert_eq!(words(evicted), "The node was low on resource: memory");
        assert_eq!(words("Command exited with code 99"), "exit code 99");
        assert_eq!(Cause::of(None).words(), NO_REASON);
    }

    #[test]
    fn executors_that_end_in_peace_are_not_lost() {
        use elephant_model::model::spark::Job;
        let mut app = elephant_sample::app(&[]);
        for (id, reason, at) in [
            ("1", "Executor killed by driver.", 5),
            ("2", "Executor 2 has been idle for 60 s", 5),
            ("3", "Executor decommission: spot instance", 5),
            ("4", "Command exited with code 0", 5),
            ("5", "Command exited with code 143", 5),
            ("6", "Command exited with code 143", 11),
            ("7", "Command exited with code 137", 11),
        ] {
            let executor = elephant_sample::executor(&mut app, id);
            executor.removed_at = Some(Timestamp::from_millis(at));
            executor.removed_reason = Some(reason.to_owned());
        }
        let ids =
            |spark: &Spark| lost_executors(spark).map(|loss| loss.executor.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(elephant_sample::spark(&mut app)), ["5", "6", "7"]);
        let mut job = Job::new(0);
        job.has_end = true;
        job.completed_at = Some(Timestamp::from_millis(10));
        job.result = Some(JobResult::Succeeded);
        elephant_sample::spark(&mut app).jobs.push(job);
        assert_eq!(ids(elephant_sample::spark(&mut app)), ["5", "7"], "stopped after the last job");
        elephant_sample::spark(&mut app).jobs[0].result = Some(JobResult::Failed);
        assert_eq!(ids(elephant_sample::spark(&mut app)), ["5", "6", "7"], "the loss may be the cause");
    }

    #[test]
    fn executors_that_end_with_the_application_are_not_lost() {
        let mut app = elephant_sample::app(&[]);
        for (id, reason, at) in [
            ("1", "Executor Process Lost", 14_000),
            ("2", "Executor Process Lost", 19_700),
            ("3", "Command exited with code 52", 19_700),
        ] {
            let executor = elephant_sample::executor(&mut app, id);
            executor.removed_at = Some(Timestamp::from_millis(at));
            executor.removed_reason = Some(reason.to_owned());
        }
        let job = |id: u32, failure: &str| {
            let mut job = Job::new(id);
            job.has_end = true;
            job.completed_at = Some(Timestamp::from_millis(20_000));
            job.result = Some(JobResult::Failed);
            job.failure = Some(failure.into());
            job
        };
        let ids =
            |spark: &Spark| lost_executors(spark).map(|loss| loss.executor.id.clone()).collect::<Vec<_>>();
        elephant_sample::spark(&mut app)
            .jobs
            .push(job(0, "Job 0 cancelled because SparkContext was shut down"));
        assert_eq!(ids(elephant_sample::spark(&mut app)), ["1", "3"], "memory is a cause of its own");
        // A job that failed may have failed because of the loss.
        elephant_sample::spark(&mut app).jobs.push(job(1, "Job aborted due to stage failure"));
        assert_eq!(ids(elephant_sample::spark(&mut app)), ["1", "2", "3"]);
    }
}
