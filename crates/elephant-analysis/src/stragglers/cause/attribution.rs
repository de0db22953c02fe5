//! Combines the rules: collects the evidence on each straggler, and takes the first in rule order as the
//! primary cause.

mod excess;
mod found;
mod grounds;
mod group;
mod neighbours;
mod warm_up;

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::components::Component;
use super::counterfactual::{Comparison, ComponentTimes, Scale};
use super::evidence::{Evidence, Fact, millis};
use super::faults::{Fault, Faults};
use super::{Cause, Confidence, Params, hints};
use crate::node_metrics::{NodeMetric, NodeMetrics};
use crate::stragglers::executions::{Basis, Certainty, Execution, Executions, InputUnit};
use elephant_base::state::State;
use elephant_base::units::Timestamp;
use elephant_model::model::counters::Counter;
use elephant_model::model::table::{TaskGroup, TaskKind, TimePoint};
use elephant_model::model::{Application, Symbol};
use excess::slow_on_any_node;
use found::Found;
use grounds::Blame;
pub use grounds::Grounds;
use group::{Group, is_estimated, last_end};
use warm_up::{Place, WarmUp};

/// A group with the judged execution and the label of each of its tasks.
#[derive(Debug, Clone, Copy)]
pub struct LabelledGroup<'a> {
    /// The group.
    pub group: &'a TaskGroup,
    /// The executions.
    pub executions: &'a Executions,
    /// The clock that their durations are read from.
    pub basis: Basis,
    /// Whether each is a straggler, in the order of the executions; `None` if unknown.
    pub stragglers: &'a [Option<bool>],
}

/// Why one task was a straggler.
#[derive(Debug, Clone, PartialEq, State)]
#[non_exhaustive]
pub struct StragglerCause {
    /// The task's row in its group.
    pub task: usize,
    /// The row of the attempt that was judged.
    pub attempt: usize,
    /// The cause.
    pub primary: Cause,
    /// Confidence of the primary cause; `None` if nothing explains the task.
    pub confidence: Option<Confidence>,
    /// Evidence for causes, starting with the primary cause.
    pub evidence: Vec<Evidence>,
}

/// Finds the cause of every straggler of an application. Returns one list for each of `groups`, in task
/// order.
///
/// The primary cause is the first of these that holds:
///
/// 1. data skew: large input, and no more time than others take for that input,
/// 2. a logged failure of the node while the task ran,
/// 3. the component with the largest excess of those that explain the task,
/// 4. another attempt, on another node, was slow as well: then nothing about the node is a cause,
/// 5. the node metric that exceeds its limit the most,
/// 6. a node with significantly more stragglers than the other nodes in the same groups, if the effect is not
///    small. The node is blamed only for the excess, and never for stragglers that input, garbage collection
///    or warm-up explains,
/// 7. warm-up; spills and failed fetches without a time of their own,
/// 8. contention, if nothing above holds and an attempt on another node was not slow,
/// 9. more CPU time for the same input,
/// 10. contention: the task did the same work as others and still took longer.
///
/// Tasks of the group that ran on the node at the same time, and took as long as usual, refute 8 and 10
/// (`neighbours`).
#[must_use]
pub fn attribute(
    app: &Application,
    groups: &[LabelledGroup<'_>],
    metrics: Option<&NodeMetrics>,
    params: &Params,
) -> Vec<Vec<StragglerCause>> {
    attribute_on(&Grounds::of(app, groups, params), app, groups, metrics, params)
}

/// [`attribute`], on known grounds.
#[must_use]
pub fn attribute_on(
    grounds: &Grounds,
    app: &Application,
    groups: &[LabelledGroup<'_>],
    metrics: Option<&NodeMetrics>,
    params: &Params,
) -> Vec<Vec<StragglerCause>> {
    let Grounds { faults, blame, warm } = grounds;
    let last_map = app.group(TaskKind::Map).and_then(last_end);
    let context = Context { app, metrics, params, faults, blame, warm, last_map };
    let mut causes = context.groups(groups);
    if blame.slow_nodes.is_empty() {
        return causes;
    }
    let mut explained: FxHashSet<Place> = warm.keys().copied().collect();
    explained.extend(slow_on_any_node(groups, &causes));
    if explained.len() == warm.len() {
        return causes;
    }
    let again = Blame::of(groups, &explained, params);
    let suspects: FxHashSet<Symbol> =
        blame.slow_nodes.keys().chain(again.slow_nodes.keys()).copied().collect();
    let context = Context { blame: &again, ..context };
    for (number, (labelled, causes)) in groups.iter().zip(&mut causes).enumerate() {
        let ran_on_suspect = |cause: &StragglerCause| {
            labelled.group.attempts.node(cause.attempt).is_some_and(|node| suspects.contains(&node))
        };
        // A group without a straggler on a suspect node keeps its causes.
        if causes.iter().any(ran_on_suspect) {
            *causes = context.group(number, *labelled);
        }
    }
    causes
}

/// Data shared by all groups of an application.
struct Context<'a> {
    app: &'a Application,
    metrics: Option<&'a NodeMetrics>,
    params: &'a Params,
    faults: &'a Faults,
    blame: &'a Blame,
    /// The stragglers that warm-up explains.
    warm: &'a FxHashMap<Place, WarmUp>,
    last_map: Option<Timestamp>,
}

impl Context<'_> {
    fn groups(&self, groups: &[LabelledGroup<'_>]) -> Vec<Vec<StragglerCause>> {
        groups.iter().enumerate().map(|(number, group)| self.group(number, *group)).collect()
    }

    fn group(&self, number: usize, labelled: LabelledGroup<'_>) -> Vec<StragglerCause> {
        let labels = labelled.stragglers.iter().enumerate();
        let places: Vec<usize> =
            labels.filter(|(_, label)| **label == Some(true)).map(|(place, _)| place).collect();
        // Most groups have no stragglers, and there may be a hundred thousand groups.
        if places.is_empty() {
            return Vec::new();
        }
        let group = Group::of(self, number, labelled, &places);
        let beginnings = hints::slow_beginnings(&group.slow_at_beginning(&places));
        let cause = |&place: &usize| self.straggler(&group, place, beginnings.get(&place).copied());
        places.iter().filter_map(cause).collect()
    }

    fn straggler(&self, group: &Group<'_>, place: usize, beginnings: Option<u64>) -> Option<StragglerCause> {
        let execution = group.labelled.executions.tasks.get(place)?;
        let (slow_other, usual_other) = match self.other_attempt(group, execution) {
            Some((fact, true)) => (Some(fact), None),
            other => (None, other.map(|(fact, _)| fact)),
        };
        let mut found = Found {
            evidence: Vec::new(),
            hints: Vec::new(),
            estimated: is_estimated(execution),
            slow_elsewhere: slow_other.is_some(),
            usual_neighbours: self
                .window(group, execution)
                .is_some_and(|(node, _, start, finish)| group.neighbours.refute(node, start, finish)),
            delay: group.delay(place),
        };
        self.input(group, place, &mut found);
        // With data skew, extra time follows from the extra input and is not a cause of its own.
        let skewed = !found.evidence.is_empty();
        self.node_faults(group, execution, &mut found);
        if !skewed {
            self.components(group, place, &mut found);
        }
        match slow_other {
            Some(fact) if skewed => found.hint(Cause::EveryAttempt, fact),
            Some(fact) => found.add(Cause::EveryAttempt, Confidence::Inferred, fact),
            None => {}
        }
        self.node_load(group, execution, &mut found);
        self.slow_node(group, place, execution, &mut found);
        if !skewed {
            self.rules_of_thumb(group, place, execution, usual_other, &mut found);
        }
        if let Some(fact) = hints::remote_input(group.labelled.group, execution, group.local_share) {
            found.hint(Cause::Network, fact);
        }
        let beginning = group.beginning.as_ref().and_then(|times| group.comparison.without(place, times));
        if let Some((nodes, time)) = beginnings.zip(beginning.and_then(|beginning| millis(beginning.time))) {
            found.hint(Cause::SlowFileSystem, Fact::SlowBeginnings { time, nodes });
        }
        Some(found.into_cause(execution))
    }

    /// Rules without a measurement of the lost time. `other` is an attempt on another node that was not slow.
    fn rules_of_thumb(
        &self,
        group: &Group<'_>,
        place: usize,
        execution: &Execution,
        other: Option<Fact>,
        found: &mut Found,
    ) {
        if let Some(WarmUp { confidence, fact }) = self.warm.get(&(group.number, place)) {
            found.add(Cause::ColdStart, *confidence, fact.clone());
        }
        self.spills_and_fetches(group, place, execution, found);
        let alone = found.evidence.is_empty();
        match other {
            Some(fact) if alone => found.add_contention(self.params, Confidence::Inferred, fact),
            Some(fact) if !found.usual_neighbours => found.hint(Cause::Contention, fact),
            Some(_) | None => {}
        }
        self.cpu_time(group, place, alone, found);
    }

    fn input(&self, group: &Group<'_>, place: usize, found: &mut Found) {
        let Some(task) = group.labelled.executions.tasks.get(place) else { return };
        let limit = self.params.input_factor;
        let fact = |(unit, comparison): (InputUnit, &Comparison)| {
            let ratio = comparison.input_ratio(place).filter(|ratio| *ratio >= limit)?;
            let (input, rate_ratio) = (comparison.input(place)?, comparison.rate_ratio(place));
            let explains =
                comparison.verdict(place).explained_by_input() && task.certainty != Certainty::AtLeast;
            Some((explains, Fact::Input { input, unit, ratio, limit, rate_ratio }))
        };
        let facts: Vec<(bool, Fact)> = group.inputs().filter_map(fact).collect();
        // Report bytes or records, whichever explains the time.
        let Some((explains, fact)) = facts.iter().find(|(explains, _)| *explains).or(facts.first()) else {
            return;
        };
        if *explains {
            found.add(Cause::DataSkew, Confidence::Measured, fact.clone());
        } else {
            found.hint(Cause::DataSkew, fact.clone());
        }
    }

    fn node_faults(&self, group: &Group<'_>, execution: &Execution, found: &mut Found) {
        let Some((node, name, start, finish)) = self.window(group, execution) else { return };
        let mut kinds: BTreeMap<_, (u64, &Fault)> = BTreeMap::new();
        for fault in self.faults.within(node, start, finish) {
            kinds.entry(fault.kind).and_modify(|(count, _)| *count += 1).or_insert((1, fault));
        }
        for (kind, (count, first)) in kinds {
            let fact = Fact::Fault { kind, node: name.to_owned(), count, message: first.message.clone() };
            found.add_of_node(Cause::Hardware, Confidence::Inferred, fact);
        }
    }

    fn components(&self, group: &Group<'_>, place: usize, found: &mut Found) {
        let without = |(component, times): &(Component, ComponentTimes)| {
            Some((*component, group.comparison.without(place, times)?))
        };
        let mut all: Vec<_> = group.components.iter().filter_map(without).collect();
        all.sort_by(|(a, one), (b, other)| other.excess.total_cmp(&one.excess).then(a.cmp(b)));
        let delay = group.delay(place).unwrap_or(f64::INFINITY);
        for (component, without) in all {
            let Some(fact) = Fact::of_component(component, &without) else { continue };
            if without.explains() && without.excess > 0.0 {
                found.add(component.cause(), component.confidence(), fact);
            } else if without.excess >= self.params.reported_share * delay {
                found.hint(component.cause(), fact);
            }
        }
    }

    fn node_load(&self, group: &Group<'_>, execution: &Execution, found: &mut Found) {
        let Some((metrics, (_, name, start, finish))) = self.metrics.zip(self.window(group, execution))
        else {
            return;
        };
        let loaded = |metric| {
            let value = metrics.mean(name, metric, start, finish)?;
            self.params.is_loaded(metric, value).then(|| (metric, value, self.params.node_limit(metric)))
        };
        let mut loads: Vec<_> = NodeMetric::ALL.into_iter().filter_map(loaded).collect();
        // The sort is stable: ties stay in the order of S2's types.
        loads.sort_by(|one, other| (other.1 / other.2).total_cmp(&(one.1 / one.2)));
        for (metric, value, limit) in loads {
            let cause = match metric {
                NodeMetric::CpuUtil => Cause::Cpu,
                NodeMetric::DiskUtil => Cause::Disk,
                NodeMetric::DfsLatency => Cause::SlowFileSystem,
                NodeMetric::NetRetrans => Cause::Network,
            };
            found.add_of_node(cause, Confidence::Measured, Fact::NodeLoad { metric, value, limit });
        }
    }

    fn slow_node(&self, group: &Group<'_>, place: usize, execution: &Execution, found: &mut Found) {
        let node = group.labelled.group.attempts.node(execution.attempt());
        let test =
            node.and_then(|node| Some((self.app.strings.get(node)?, *self.blame.slow_nodes.get(&node)?)));
        if let Some((name, test)) = test {
            let limit = self.params.false_discovery_rate;
            let fact = Fact::SlowNode { node: name.to_owned(), test, limit };
            if self.blame.stragglers.contains(&(group.number, place)) {
                found.add_of_node(Cause::Hardware, Confidence::Inferred, fact);
            } else {
                found.hint(Cause::Hardware, fact);
            }
        }
    }

    fn spills_and_fetches(&self, group: &Group<'_>, place: usize, execution: &Execution, found: &mut Found) {
        if let Some(scale) = group.comparison.scale(place) {
            // Outside Spark the spill value is already per record.
            let scale =
                if matches!(group.labelled.group.kind, TaskKind::Stage(_)) { scale } else { Scale::Duration };
            let own = group.spill.value(place).filter(|spilled| *spilled > 0.0);
            let excess = group.comparison.excess(place, &group.spill, scale);
            let ratio = group.comparison.ratio(place, &group.spill, scale);
            let limit = self.params.spill_factor;
            if own.is_some() && excess.is_some() && ratio.is_none_or(|ratio| ratio >= limit) {
                found.add(Cause::Disk, Confidence::Inferred, Fact::Spill { ratio, limit });
            }
        }
        let failed = group.labelled.group.attempts.count(execution.attempt(), Counter::FailedShuffle);
        if let Some(count) = failed.filter(|count| *count > 0) {
            found.add(Cause::Network, Confidence::Inferred, Fact::FailedFetches { count });
        }
    }

    /// Distinguishes more work from contention by CPU time for the input. `alone`: nothing else explains the task.
    fn cpu_time(&self, group: &Group<'_>, place: usize, alone: bool, found: &mut Found) {
        let Some(cpu) = group.cpu_time(place) else { return };
        let for_input = group.comparison.scale(place) == Some(Scale::Input);
        let share_of_delay = 100.0 * cpu.share_of_delay;
        let fact = |limit| Fact::CpuTime { ratio: cpu.ratio, limit, share_of_delay, for_input };
        if cpu.ratio >= self.params.more_cpu_factor && cpu.share_of_delay >= HALF {
            found.add(Cause::MoreWork, Confidence::Inferred, fact(self.params.more_cpu_factor));
        } else if alone
            && cpu.share_of_delay < HALF
            && cpu.is_far_below(self.params)
            && group.io_share(place) < HALF
        {
            let same = cpu.ratio <= self.params.same_cpu_factor;
            let confidence = if same { Confidence::Inferred } else { Confidence::Weak };
            // Slightly more CPU time does not cause a long delay.
            if same || cpu.share_of_delay <= LITTLE {
                found.add_contention(self.params, confidence, fact(self.params.same_cpu_factor));
            }
        }
    }

    /// Evidence from another attempt of the task, and whether that was slow as well; `None` if it proves
    /// nothing.
    fn other_attempt(&self, group: &Group<'_>, execution: &Execution) -> Option<(Fact, bool)> {
        let LabelledGroup { group: tasks, .. } = group.labelled;
        let attempts = group.attempts.of_task(execution.task());
        let attempts = attempts.filter(|&row| !self.faults.ended(tasks, row));
        let other = hints::other_attempt(tasks, execution, attempts)?;
        let limit = group.comparison.slow_from().and_then(millis)?;
        let slow = other.time >= limit;
        let node = self.app.strings.get(other.node)?.to_owned();
        (slow || other.succeeded).then_some((Fact::OtherAttempt { node, time: other.time, limit }, slow))
    }

    /// Node, host name, start and end of the judged attempt.
    fn window(
        &self,
        group: &Group<'_>,
        execution: &Execution,
    ) -> Option<(Symbol, &str, Timestamp, Timestamp)> {
        let attempts = &group.labelled.group.attempts;
        let node = attempts.node(execution.attempt())?;
        let start = attempts.time(execution.attempt(), TimePoint::Start)?;
        let finish = attempts.time(execution.attempt(), TimePoint::Finish);
        let finish = finish.or_else(|| attempts.time(execution.winner(), TimePoint::Finish))?;
        Some((node, self.app.strings.get(node)?, start, finish))
    }
}

/// A part of a delay from this share on counts as its cause.
const HALF: f64 = 0.5;

/// A part of a delay up to this share does not matter.
const LITTLE: f64 = 0.2;
