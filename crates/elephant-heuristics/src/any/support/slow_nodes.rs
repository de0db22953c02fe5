//! Nodes on which most of an application's stragglers ran, and what they cost.

use std::collections::{BTreeMap, BTreeSet};

use super::groups::subject;
use crate::mapreduce::ReplayedJob;
use crate::shown::NAMES;
use elephant_analysis::replay::mapreduce::{self, Kind};
use elephant_analysis::stragglers::cause::evidence::Fact;
use elephant_analysis::stragglers::cause::{Cause, Confidence, StragglerCause};
use elephant_analysis::stragglers::executions::Execution;
use elephant_analysis::stragglers::group::GroupStragglers;
use elephant_base::stats::descriptive::median;
use elephant_base::units::{Millis, three_digits};
use elephant_model::model::table::{Outcome, TaskGroup};
use elephant_model::model::{Application, Symbol};
use elephant_rule::finding::{Phrase, Subject};
use elephant_rule::wording::plural;

/// A slow node.
const SLOW: &str = "{host} is slow: {stragglers} of its {tasks} took at least {factor}× the median of their \
    group, typically {times}×";

/// The nodes that are blamed for stragglers.
#[derive(Default)]
pub(in crate::any) struct SlowNodes {
    /// Nodes with far more stragglers than the others, the one that cost most time first.
    nodes: Vec<Node>,
    /// Seconds of all stragglers that their input does not explain, beyond the median of their groups.
    beyond: f64,
    /// Seconds of all judged tasks.
    work: f64,
    /// The stages, or kinds of tasks, with stragglers that are blamed on them.
    slowed: BTreeSet<Subject>,
    /// Whether attempts failed on a node that is blamed, for errors or for its stragglers.
    has_failures: bool,
}

/// A node with far more stragglers than the others.
struct Node {
    name: String,
    tasks: u64,
    stragglers: u64,
    /// Time of its stragglers over the median of their groups.
    times_usual: Vec<f64>,
    /// Seconds of its stragglers beyond the median of their groups.
    beyond: f64,
}

impl SlowNodes {
    /// The nodes that `causes` blame. `causes` has the causes of the stragglers of each view in `views`.
    pub(in crate::any) fn of(
        app: &Application,
        views: &[GroupStragglers<'_>],
        causes: &[Vec<StragglerCause>],
    ) -> Self {
        let mut nodes: BTreeMap<String, Node> = BTreeMap::new();
        let (mut blamed, mut slowed) = (BTreeSet::<Symbol>::new(), BTreeSet::new());
        for (view, causes) in views.iter().zip(causes) {
            for cause in causes.iter().filter(|cause| cause.primary == Cause::Hardware) {
                blamed.extend(view.group.attempts.node(cause.attempt));
                let Some((node, beyond, times)) = Node::of(view, cause) else { continue };
                slowed.insert(subject(view.group.kind));
                let known = nodes.entry(node.name.clone()).or_insert(node);
                known.beyond += beyond;
                known.times_usual.push(times);
            }
        }
        let mut nodes: Vec<Node> = nodes.into_values().collect();
        nodes.sort_by(|a, b| b.beyond.total_cmp(&a.beyond).then_with(|| a.name.cmp(&b.name)));
        let (beyond, work) = beyond_and_work(views);
        let has_failures = !blamed.is_empty() && app.groups.iter().any(|group| has_failed_on(group, &blamed));
        Self { nodes, beyond, work, slowed, has_failures }
    }

    /// Whether stragglers on these nodes account for most of the time that stragglers took beyond the median of their
    /// groups.
    pub(in crate::any) fn are_the_trouble(&self) -> bool {
        !self.nodes.is_empty() && 2.0 * self.own_beyond() > self.beyond
    }

    /// The nodes, and the parts of the application that they slowed down.
    pub(in crate::any) fn subjects(&self) -> Vec<Subject> {
        let nodes = self.nodes.iter().map(|node| Subject::Node(node.name.clone()));
        nodes.chain(self.slowed.iter().cloned()).collect()
    }

    /// Whether attempts failed on a node that is blamed.
    pub(in crate::any) const fn has_failures(&self) -> bool {
        self.has_failures
    }

    /// The part of `span`, the time in which tasks ran, that the slow nodes cost: of a job of MapReduce, what a replay
    /// without stragglers saves, if it can be replayed. Otherwise, on nodes like the others, the same cores would have done
    /// that much more work.
    pub(in crate::any) fn lost(&self, app: &Application, span: Millis) -> Millis {
        if let Some(lost) = lost_in_replay(app) {
            return lost.min(span);
        }
        let share = if self.work > 0.0 { self.own_beyond() / self.work } else { 0.0 };
        Millis::from_f64((span.as_f64() * share).round()).unwrap_or_default()
    }

    /// "node3 and node7"; empty if there are no slow nodes.
    pub(in crate::any) fn names(&self) -> String {
        let named: Vec<&str> = self.nodes.iter().take(NAMES).map(|node| node.name.as_str()).collect();
        let more = self.nodes.len().saturating_sub(NAMES);
        match named.split_last() {
            Some(_) if more > 0 => format!("{} and {}", named.join(", "), plural(more as u64, "other node")),
            Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
            _ => named.concat(),
        }
    }

    /// Each node with the number of its stragglers. They took at least `factor` times the median.
    pub(in crate::any) fn in_words(&self, factor: &dyn std::fmt::Display) -> Phrase {
        let words = |node: &Node| {
            let times = median(&node.times_usual).map(three_digits).unwrap_or_default();
            Phrase::new(
                SLOW,
                &[
                    ("host", &node.name),
                    ("stragglers", &node.stragglers),
                    ("tasks", &plural(node.tasks, "task")),
                    ("factor", factor),
                    ("times", &times),
                ],
            )
        };
        Phrase::list("; ", self.nodes.iter().take(NAMES).map(words))
    }

    fn own_beyond(&self) -> f64 {
        self.nodes.iter().map(|node| node.beyond).sum()
    }
}

impl Node {
    /// The node that is blamed for a straggler, without its times; the straggler's seconds beyond the median of its
    /// group; and its time as a multiple of that median. `None` if no node is blamed.
    fn of(view: &GroupStragglers<'_>, cause: &StragglerCause) -> Option<(Self, f64, f64)> {
        let (name, test) = cause.evidence.iter().find_map(|evidence| match &evidence.fact {
            // Weak evidence is no reason to blame a node.
            Fact::SlowNode { node, test, .. } if evidence.confidence > Confidence::Weak => Some((node, test)),
            _ => None,
        })?;
        let usual = view.labels.limit?.reference;
        let tasks = &view.executions.tasks;
        let place = tasks.binary_search_by_key(&cause.task, Execution::task).ok()?;
        let duration = tasks.get(place)?.duration;
        let node = Self {
            name: name.clone(),
            tasks: test.own.tasks,
            stragglers: test.own.stragglers,
            times_usual: Vec::new(),
            beyond: 0.0,
        };
        (usual > 0.0).then_some((node, duration - usual, duration / usual))
    }
}

/// What a job saves in a replay without stragglers; `None` for Spark, or if the job cannot be replayed.
fn lost_in_replay(app: &Application) -> Option<Millis> {
    let job = ReplayedJob::of(app)?;
    let causes = Kind::ALL.into_iter().map(mapreduce::Cause::Stragglers);
    let causes: Vec<mapreduce::Cause> = causes.filter(|cause| job.plan.without(&[*cause]).is_ok()).collect();
    job.lost(&causes).map(|lost| lost.time)
}

/// Seconds that stragglers took beyond the median of their groups, if their input does not explain it; and seconds of
/// all tasks.
pub(in crate::any) fn beyond_and_work(views: &[GroupStragglers<'_>]) -> (f64, f64) {
    views.iter().fold((0.0, 0.0), |(beyond, work), view| {
        let usual = view.labels.limit.map_or(f64::INFINITY, |limit| limit.reference);
        let own: f64 = view.unexplained().map(|task| (task.duration - usual).max(0.0)).sum();
        let all: f64 = view.executions.tasks.iter().map(|task| task.duration).sum();
        (beyond + own, work + all)
    })
}

/// Whether attempts of a group failed on one of these nodes.
fn has_failed_on(group: &TaskGroup, nodes: &BTreeSet<Symbol>) -> bool {
    let attempts = &group.attempts;
    (0..attempts.len()).any(|row| {
        attempts.outcome(row) == Outcome::Failed
            && attempts.node(row).is_some_and(|node| nodes.contains(&node))
    })
}
