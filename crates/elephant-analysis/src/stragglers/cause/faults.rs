//! Logged node failures: tasks that timed out, lost nodes and executors, disks that could not be written to,
//! map outputs that could not be fetched.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use elephant_base::state::State;
use elephant_base::units::Timestamp;
use elephant_model::model::table::{EndReason, Outcome, TaskGroup, TaskKind, TimePoint};
use elephant_model::model::{Application, Symbol};

/// The kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, State)]
#[non_exhaustive]
pub enum FaultKind {
    /// A task or an executor stopped reporting.
    TimedOut,
    /// The cluster manager lost the node, or found it unusable.
    NodeLost,
    /// An executor was lost, not because of memory and not on purpose.
    ExecutorLost,
    /// A disk was full or unusable.
    DiskError,
    /// Other tasks could not fetch the output of tasks on the node.
    FetchFailure,
}

impl FaultKind {
    /// The name in reports.
    #[must_use]
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::TimedOut => "timed-out",
            Self::NodeLost => "node-lost",
            Self::ExecutorLost => "executor-lost",
            Self::DiskError => "disk-error",
            Self::FetchFailure => "fetch-failure",
        }
    }

    /// The text for readers, after "while it ran on {node},".
    #[must_use]
    pub(crate) const fn display_name(self) -> &'static str {
        match self {
            Self::TimedOut => "a task or executor there timed out",
            Self::NodeLost => "the node was lost",
            Self::ExecutorLost => "an executor there was lost",
            Self::DiskError => "a disk of the node failed",
            Self::FetchFailure => "data could not be fetched from the node",
        }
    }

    /// Classifies a logged message; `None` if it does not blame the node.
    fn of(text: &str) -> Option<Self> {
        const PHRASES: [(FaultKind, &[&str]); 4] = [
            (
                FaultKind::NodeLost,
                &[
                    "node lost",
                    "lost node",
                    "*lost* node",
                    "unusable node",
                    "host is lost",
                    "worker lost",
                    "node unhealthy",
                    "slave lost",
                ],
            ),
            (
                FaultKind::DiskError,
                &[
                    "no space left on device",
                    "input/output error",
                    "read-only file system",
                    "diskerrorexception",
                    "could not find any valid local directory",
                ],
            ),
            (FaultKind::FetchFailure, &["too many fetch"]),
            (FaultKind::TimedOut, &["heartbeat timed out", "failed to report status"]),
        ];
        let text = text.to_ascii_lowercase();
        let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
        // User code has timeouts of its own; this is Hadoop's message for an attempt that stopped reporting.
        let silent = text.starts_with("attemptid:") && text.contains("timed out after");
        let found = PHRASES.into_iter().find(|(_, phrases)| says(phrases)).map(|(kind, _)| kind);
        found.or_else(|| silent.then_some(FaultKind::TimedOut))
    }
}

/// One failure.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fault {
    /// When it happened.
    pub at: Timestamp,
    /// Its kind.
    pub kind: FaultKind,
    /// The logged message.
    pub message: Option<String>,
}

/// The failures of an application by node.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    by_node: BTreeMap<Symbol, Vec<Fault>>,
    /// The attempts that a fault ended, by group and row.
    attempts: FxHashSet<(TaskKind, usize)>,
}

impl Faults {
    /// Whether no failure of a node was logged.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_node.is_empty()
    }

    /// The failures logged for an application.
    #[must_use]
    pub fn of(app: &Application) -> Self {
        let hosts = hosts(app);
        let mut by_node: BTreeMap<Symbol, BTreeSet<Fault>> = BTreeMap::new();
        let mut attempts = FxHashSet::default();
        for group in &app.groups {
            for &(row, text) in group.attempts.diagnostics() {
                let row = row as usize;
                let Some(text) = app.strings.get(text) else { continue };
                let Some(kind) = kind_of_attempt(group, row, text) else { continue };
                attempts.insert((group.kind, row));
                add_attempt(&mut by_node, &hosts, group, row, kind, text);
            }
        }
        for executor in
            app.spark.iter().flat_map(|spark| &spark.executors).filter(|executor| executor.was_lost())
        {
            let reason = executor.removed_reason.as_deref();
            let kind = reason.and_then(|reason| FaultKind::of(reason).or_else(|| loss(reason)));
            if let (Some(node), Some(at), Some(kind)) = (executor.host, executor.removed_at, kind) {
                let fault = Fault { at, kind, message: reason.map(str::to_owned) };
                by_node.entry(node).or_default().insert(fault);
            }
        }
        let sorted = |(node, faults): (Symbol, BTreeSet<Fault>)| (node, faults.into_iter().collect());
        Self { by_node: by_node.into_iter().map(sorted).collect(), attempts }
    }

    /// Whether an attempt ended for a reason outside its task. Then its time says nothing about the task,
    /// because the attempt also waited, for example for a lost node or for data that it could not fetch.
    pub(crate) fn ended(&self, group: &TaskGroup, row: usize) -> bool {
        let reason = group.attempts.end_reason(row);
        matches!(
            reason,
            Some(
                EndReason::ExecutorLost
                    | EndReason::ResultLost
                    | EndReason::FetchFailed
                    | EndReason::OutOfMemory
                    | EndReason::ContainerOverMemory
            )
        ) || self.attempts.contains(&(group.kind, row))
    }

    /// The number of failures of each node; lost executors do not count.
    pub fn counts(&self) -> impl Iterator<Item = (Symbol, u64)> {
        let other = |fault: &&Fault| fault.kind != FaultKind::ExecutorLost;
        self.by_node.iter().map(move |(&node, faults)| (node, faults.iter().filter(other).count() as u64))
    }

    /// The failures of a node from `start` to `finish`, earliest first.
    pub(crate) fn within(
        &self,
        node: Symbol,
        start: Timestamp,
        finish: Timestamp,
    ) -> impl Iterator<Item = &Fault> {
        let of_node = self.by_node.get(&node).into_iter().flatten();
        of_node.filter(move |fault| start <= fault.at && fault.at <= finish)
    }
}

/// The hosts of the executors that were lost, not because of memory and not on purpose.
pub fn hosts_of_lost_executors(app: &Application) -> impl Iterator<Item = Symbol> {
    let executors =
        app.spark.iter().flat_map(|spark| &spark.executors).filter(|executor| executor.was_lost());
    let blamed = |reason: &str| FaultKind::of(reason).or_else(|| loss(reason)).is_some();
    executors.filter(move |it| it.removed_reason.as_deref().is_some_and(blamed)).filter_map(|it| it.host)
}

/// Every node that ran an attempt, by name.
fn hosts(app: &Application) -> BTreeMap<String, Symbol> {
    let nodes = app
        .groups
        .iter()
        .flat_map(|group| (0..group.attempts.len()).filter_map(|row| group.attempts.node(row)));
    let nodes: BTreeSet<Symbol> = nodes.collect();
    nodes.into_iter().filter_map(|node| Some((app.strings.get(node)?.to_ascii_lowercase(), node))).collect()
}

/// The fault that ended an attempt.
fn kind_of_attempt(group: &TaskGroup, row: usize, text: &str) -> Option<FaultKind> {
    // An attempt killed because another attempt succeeded, or whose end is not logged, counts as a failure
    // only by its message: a cluster manager also kills everything that ran on a lost node.
    if group.attempts.outcome(row) == Outcome::Succeeded {
        return None;
    }
    match group.attempts.end_reason(row) {
        Some(EndReason::FetchFailed) => Some(FaultKind::FetchFailure),
        Some(EndReason::ExecutorLost) => FaultKind::of(text).or_else(|| loss(text)),
        _ => FaultKind::of(text),
    }
}

fn add_attempt(
    by_node: &mut BTreeMap<Symbol, BTreeSet<Fault>>,
    hosts: &BTreeMap<String, Symbol>,
    group: &TaskGroup,
    row: usize,
    kind: FaultKind,
    text: &str,
) {
    let attempts = &group.attempts;
    let Some(at) = attempts.time(row, TimePoint::Finish) else { return };
    let named = named_host(hosts, text);
    // The node that failed to fetch is not the node that failed.
    let own = attempts.node(row).filter(|_| attempts.end_reason(row) != Some(EndReason::FetchFailed));
    if let Some(node) = named.or(own) {
        by_node.entry(node).or_default().insert(Fault { at, kind, message: Some(text.to_owned()) });
    }
}

/// Kind of fault of a lost executor; `None` if memory or the user is the reason.
fn loss(reason: &str) -> Option<FaultKind> {
    const OTHER_REASONS: [&str; 9] = [
        "memory",
        "oom",
        "code 52",
        "code: 52",
        "killed by driver",
        "preempt",
        "decommission",
        "idle",
        "scale down",
    ];
    let reason = reason.to_ascii_lowercase();
    (!OTHER_REASONS.iter().any(|other| reason.contains(other))).then_some(FaultKind::ExecutorLost)
}

fn named_host(hosts: &BTreeMap<String, Symbol>, text: &str) -> Option<Symbol> {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let words =
        text.split(move |c: char| !word(c)).map(|word| word.trim_end_matches('.').to_ascii_lowercase());
    words.filter(|word| !word.is_empty()).find_map(|word| hosts.get(&word).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logged_messages_are_classified() {
        for (text, kind) in [
            ("AttemptID:attempt_1_0001_m_000001_0 Timed out after 600 secs", Some(FaultKind::TimedOut)),
            ("Task attempt failed to report status for 601 seconds. Killing!", Some(FaultKind::TimedOut)),
            ("TaskAttempt killed because it ran on unusable node n1:8041", Some(FaultKind::NodeLost)),
            ("Container released on a *lost* node", Some(FaultKind::NodeLost)),
            ("Too many fetch failures.Failing the attempt", Some(FaultKind::FetchFailure)),
            ("java.io.IOException: No space left on device", Some(FaultKind::DiskError)),
            ("Error: java.io.IOException: bad record in split of task 1", None),
            ("java.util.concurrent.TimeoutException: Futures timed out after [300 seconds]", None),
            ("java.net.ConnectException: Failed to connect to db:3306", None),
            ("Executor heartbeat timed out after 125000 ms", Some(FaultKind::TimedOut)),
            ("Error: Java heap space", None),
            ("Speculation: attempt_1 succeeded first!", None),
            ("Container exited with exit code 137", None),
        ] {
            assert_eq!(FaultKind::of(text), kind, "{text}");
        }
        assert_eq!(loss("Command exited with code 137"), Some(FaultKind::ExecutorLost));
        assert_eq!(loss("Container killed by YARN for exceeding physical memory limits"), None);
        assert_eq!(loss("Command exited with code 52"), None);
    }

    #[test]
    fn host_names_match_as_a_whole() {
        let hosts: BTreeMap<String, Symbol> =
            [("n1".to_owned(), Symbol::from_index(1)), ("10.0.0.1".to_owned(), Symbol::from_index(2))].into();
        assert_eq!(named_host(&hosts, "Failed to connect to /10.0.0.1:3821"), Some(Symbol::from_index(2)));
        assert_eq!(named_host(&hosts, "lost N1."), Some(Symbol::from_index(1)));
        assert_eq!(named_host(&hosts, "lost n12 at 10.0.0.11"), None);
        assert_eq!(named_host(&hosts, ""), None);
    }
}
