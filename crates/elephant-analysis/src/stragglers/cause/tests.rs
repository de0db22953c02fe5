//! Tests each rule on a group of its own, and the order of the rules.

mod attempts;
mod contention;
mod nodes;
mod warm_up;

use proptest::prelude::*;

use super::*;
use crate::node_metrics::NodeMetrics;
use crate::stragglers::cause::evidence::Fact;
use crate::stragglers::executions::Basis;
use crate::stragglers::group::GroupStragglers;
use crate::stragglers::labels::Labelling;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::StageAttempt;
use elephant_model::model::table::{EndReason, Outcome, TaskGroup, TaskKind, TimePoint};
use elephant_model::model::{Application, Engine, ProgressSplits};

/// 2026-11-21T10:00:00Z.
const START: i64 = 1_795_255_200_000;

/// A task that succeeded.
#[derive(Debug, Clone)]
struct Task {
    node: &'static str,
    executor: Option<&'static str>,
    start: i64,
    secs: i64,
    counters: Vec<(Counter, i64)>,
}

impl Task {
    fn with(mut self, counter: Counter, value: i64) -> Self {
        self.counters.retain(|(known, _)| *known != counter);
        self.counters.push((counter, value));
        self
    }

    fn on(self, node: &'static str) -> Self {
        Self { node, ..self }
    }
}

fn task(secs: i64) -> Task {
    Task { node: "n1", executor: None, start: 0, secs, counters: Vec::new() }
}

/// A task with 100 bytes of input, half a second of garbage collection and 5 seconds of CPU time.
fn usual(secs: i64) -> Task {
    task(secs)
        .with(Counter::HdfsBytesRead, 100)
        .with(Counter::InputBytes, 100)
        .with(Counter::GcTimeMillis, 500)
        .with(Counter::CpuMilliseconds, 5000)
}

fn app(kind: TaskKind, tasks: &[Task]) -> Application {
    let spark = matches!(kind, TaskKind::Stage(_));
    let mut app = Application::new(if spark { Engine::Spark } else { Engine::MapReduce });
    let mut group = TaskGroup::new(kind);
    for (number, spec) in (0..).zip(tasks) {
        let task = group.tasks.push(number);
        let row = group.attempts.push(number, 0);
        group.attempts.set_node(row, app.strings.intern(spec.node));
        group.attempts.set_executor(row, spec.executor.and_then(|id| app.strings.intern(id)));
        let at = |secs: i64| Some(Timestamp::from_millis(START + 1000 * secs));
        group.attempts.set_time(row, TimePoint::Start, at(spec.start));
        group.attempts.set_time(row, TimePoint::Finish, at(spec.start + spec.secs));
        group.attempts.set_outcome(row, Outcome::Succeeded);
        for &(counter, value) in &spec.counters {
            group.attempts.set_counter(row, counter, Some(value));
        }
        group.tasks.set_outcome(task, Outcome::Succeeded);
        group.tasks.set_representative(task, Some(row));
    }
    app.groups.push(group);
    app
}

fn maps(tasks: &[Task]) -> Application {
    app(TaskKind::Map, tasks)
}

fn stage(tasks: &[Task]) -> Application {
    app(TaskKind::Stage(StageAttempt { stage: 0, attempt: 0 }), tasks)
}

fn causes(app: &Application, metrics: Option<&NodeMetrics>) -> Vec<StragglerCause> {
    let groups = GroupStragglers::of_application(app, Labelling::MEDIAN, Basis::Wall);
    let labelled: Vec<LabelledGroup<'_>> = groups
        .iter()
        .map(|view| LabelledGroup {
            group: view.group,
            executions: &view.executions,
            basis: Basis::Wall,
            stragglers: &view.labels.stragglers,
        })
        .collect();
    attribute(app, &labelled, metrics, &Params::default()).concat()
}

fn only(app: &Application, metrics: Option<&NodeMetrics>) -> StragglerCause {
    let mut causes = causes(app, metrics);
    assert_eq!(causes.len(), 1, "{causes:?}");
    causes.remove(0)
}

fn verdict(app: &Application) -> (Cause, Option<Confidence>) {
    let cause = only(app, None);
    (cause.primary, cause.confidence)
}

/// Six usual tasks and a straggler. The usual tasks run on another node, so they prove nothing about the
/// straggler's node.
fn six_usual_and(straggler: Task) -> Vec<Task> {
    let mut tasks = vec![usual(10).on("n3"); 6];
    tasks.push(straggler);
    tasks
}

#[test]
fn garbage_collection_is_measured() {
    let app = maps(&six_usual_and(usual(40).with(Counter::GcTimeMillis, 28_000)));
    let cause = only(&app, None);
    assert_eq!((cause.task, cause.primary, cause.confidence), (6, Cause::Gc, Some(Confidence::Measured)));
    let fact = &cause.evidence[0].fact;
    assert_eq!(fact.to_string(), "garbage collection took 28 s of 40 s (12 s without it, slow from 14.25 s)");
    assert_eq!((fact.name(), fact.value().unwrap().unit()), ("gc-time", "ms"));
    assert_eq!(fact.limit(), Some(evidence::Measure::Time(Millis::new(14_250))));
}

#[test]
fn large_input_is_data_skew_only_if_the_task_is_fast_for_it() {
    let skewed = usual(40).with(Counter::HdfsBytesRead, 400);
    assert_eq!(verdict(&maps(&six_usual_and(skewed.clone()))), (Cause::DataSkew, Some(Confidence::Measured)));
    let cause = only(&maps(&six_usual_and(skewed.clone().with(Counter::CpuMilliseconds, 20_000))), None);
    assert_eq!(cause.evidence.len(), 1, "more time for more input is not a cause of its own: {cause:?}");
    let slow =
        maps(&six_usual_and(skewed.with(Counter::HdfsBytesRead, 200).with(Counter::GcTimeMillis, 28_000)));
    let cause = only(&slow, None);
    assert_eq!(cause.primary, Cause::Gc);
    assert!(cause.evidence.iter().any(|e| e.cause == Cause::DataSkew && e.confidence == Confidence::Weak));
}

#[test]
fn missing_data_explains_nothing() {
    assert_eq!(verdict(&maps(&[task(10), task(10), task(10), task(40)])), (Cause::Unexplained, None));
    assert!(causes(&maps(&[]), None).is_empty());
    assert!(causes(&maps(&[task(10), task(10)]), None).is_empty());
    assert!(causes(&Application::new(Engine::Spark), None).is_empty());
}

#[test]
fn spark_task_metrics_explain_stragglers() {
    for (counter, expected) in [
        (Counter::ShuffleFetchWaitTime, Cause::Network),
        (Counter::ShuffleWriteTime, Cause::Disk),
        (Counter::ExecutorDeserializeTime, Cause::ColdStart),
    ] {
        let quiet = |secs| usual(secs).with(counter, 100);
        let mut tasks = vec![quiet(10); 6];
        tasks.push(quiet(40).with(counter, 29_000));
        assert_eq!(verdict(&stage(&tasks)), (expected, Some(Confidence::Measured)), "{counter:?}");
    }
}

#[test]
fn the_component_with_the_largest_excess_is_primary() {
    let mut straggler =
        usual(60).with(Counter::GcTimeMillis, 46_000).with(Counter::ShuffleFetchWaitTime, 49_000);
    let mut tasks = vec![usual(10).with(Counter::ShuffleFetchWaitTime, 0); 6];
    tasks.push(straggler.clone());
    let cause = only(&stage(&tasks), None);
    assert_eq!(cause.primary, Cause::Network);
    assert_eq!(cause.evidence[1].cause, Cause::Gc);
    straggler = straggler.with(Counter::GcTimeMillis, 51_000);
    tasks.truncate(6);
    tasks.push(straggler);
    assert_eq!(verdict(&stage(&tasks)).0, Cause::Gc);
}

#[test]
fn spills_and_failed_fetches_are_inferred() {
    let spilling = |secs, records| {
        task(secs).with(Counter::SpilledRecords, records).with(Counter::MapOutputRecords, 100)
    };
    let app = maps(&[spilling(10, 100), spilling(10, 100), spilling(10, 100), spilling(40, 300)]);
    let cause = only(&app, None);
    assert_eq!((cause.primary, cause.confidence), (Cause::Disk, Some(Confidence::Inferred)));
    let text = cause.evidence[0].fact.to_string();
    assert_eq!(text, "spilled 3.0× the median (high from 1.5×)");
    let none = maps(&[spilling(10, 0), spilling(10, 0), spilling(10, 0), spilling(40, 300)]);
    assert_eq!(verdict(&none), (Cause::Disk, Some(Confidence::Inferred)));
    let same = maps(&[spilling(10, 100), spilling(10, 100), spilling(10, 100), spilling(40, 100)]);
    assert_eq!(verdict(&same).0, Cause::Unexplained);
    let failed = app_of_reduces(&[task(10), task(10), task(10), task(40).with(Counter::FailedShuffle, 3)]);
    assert_eq!(verdict(&failed), (Cause::Network, Some(Confidence::Inferred)));
}

fn app_of_reduces(tasks: &[Task]) -> Application {
    app(TaskKind::Reduce, tasks)
}

#[test]
fn slow_starts_on_many_nodes_are_only_a_hint() {
    let mut tasks = vec![task(12); 8];
    tasks.extend([task(40).on("n2"), task(40).on("n3"), task(40).on("n4")]);
    let mut app = maps(&tasks);
    for row in 0..tasks.len() {
        let first = if row < 8 { 1000 } else { 29_000 };
        let clock_ms = std::iter::once(first).chain([1000; 11]).collect();
        app.groups[0].attempts.set_progress(row, &ProgressSplits { clock_ms, ..ProgressSplits::default() });
    }
    let causes = causes(&app, None);
    assert_eq!(causes.len(), 3);
    for cause in causes {
        assert_eq!(cause.primary, Cause::Unexplained);
        let evidence = &cause.evidence[0];
        assert_eq!((evidence.cause, evidence.confidence), (Cause::SlowFileSystem, Confidence::Weak));
    }
}

#[test]
fn names_are_unique() {
    let names: std::collections::BTreeSet<_> = Cause::ALL.iter().map(|cause| cause.name()).collect();
    assert_eq!(names.len(), Cause::ALL.len());
    let components: std::collections::BTreeSet<_> =
        components::Component::ALL.iter().map(|component| component.name()).collect();
    assert_eq!(components.len(), components::Component::ALL.len());
}

fn any_task() -> impl Strategy<Value = Task> {
    const COUNTERS: [Counter; 8] = [
        Counter::InputBytes,
        Counter::GcTimeMillis,
        Counter::CpuMilliseconds,
        Counter::ShuffleFetchWaitTime,
        Counter::ShuffleWriteTime,
        Counter::ExecutorRunTime,
        Counter::ExecutorDeserializeTime,
        Counter::DiskBytesSpilled,
    ];
    let counters = prop::collection::vec((prop::sample::select(COUNTERS.to_vec()), -1i64..60_000), 0..8);
    let nodes = prop::sample::select(vec!["n1", "n2", "n3"]);
    (nodes, prop::option::of(prop::sample::select(vec!["1", "2"])), 0i64..50, -1i64..60, counters)
        .prop_map(|(node, executor, start, secs, counters)| Task { node, executor, start, secs, counters })
}

proptest! {
    #[test]
    fn every_straggler_has_one_cause_and_its_evidence_comes_first(
        tasks in prop::collection::vec(any_task(), 0..25),
    ) {
        let app = stage(&tasks);
        let stragglers: u64 = GroupStragglers::of_application(&app, Labelling::MEDIAN, Basis::Wall)
            .iter()
            .map(|group| group.labels.count())
            .sum();
        let causes = causes(&app, None);
        prop_assert_eq!(causes.len() as u64, stragglers);
        for cause in &causes {
            prop_assert_eq!(cause.confidence.is_none(), cause.primary == Cause::Unexplained);
            if let Some(confidence) = cause.confidence {
                let first = &cause.evidence[0];
                prop_assert_eq!((first.cause, first.confidence), (cause.primary, confidence));
            }
            for evidence in &cause.evidence {
                let finite = |measure: evidence::Measure| measure.value().is_finite();
                prop_assert!(evidence.fact.value().is_none_or(finite));
                prop_assert!(evidence.fact.limit().is_none_or(finite));
                prop_assert!(!evidence.fact.to_string().contains("NaN"));
            }
        }
        let mut counts = CauseCounts::default();
        counts.add(&causes);
        prop_assert_eq!(counts.stragglers(), stragglers);
    }

    #[test]
    fn missing_data_never_explains(tasks in prop::collection::vec((1i64..60, 0i64..50), 2..20)) {
        let tasks: Vec<Task> = tasks.iter().map(|&(secs, start)| Task { start, ..task(secs) }).collect();
        for cause in causes(&maps(&tasks), None) {
            prop_assert_eq!(cause.primary, Cause::Unexplained);
        }
    }
}
