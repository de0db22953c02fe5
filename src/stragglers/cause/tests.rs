//! Tests each rule on a group of its own, and the order of the rules.

use proptest::prelude::*;

use super::*;
use crate::model::counters::Counter;
use crate::model::spark::StageAttempt;
use crate::model::table::{Outcome, TaskGroup, TaskKind, TimePoint};
use crate::model::{Application, Engine, ProgressSplits};
use crate::node_metrics::NodeMetrics;
use crate::stragglers::cause::evidence::Fact;
use crate::stragglers::executions::Basis;
use crate::stragglers::group::GroupStragglers;
use crate::stragglers::labels::Labelling;
use crate::units::{Millis, Timestamp};

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

/// The usual ones run on another node, so that they say nothing about the straggler's.
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
    assert_eq!(fact.to_string(), "garbage collection took 28 s of 40 s (12 s without it, slow from 14.2 s)");
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
fn cpu_time_distinguishes_more_work_from_contention() {
    let more = usual(40).with(Counter::CpuMilliseconds, 34_000);
    assert_eq!(verdict(&maps(&six_usual_and(more))), (Cause::MoreWork, Some(Confidence::Inferred)));
    assert_eq!(verdict(&maps(&six_usual_and(usual(40)))), (Cause::Contention, Some(Confidence::Inferred)));
    // Three times the CPU time, but that does not explain 30 s more.
    let little = usual(40).with(Counter::CpuMilliseconds, 9000);
    assert_eq!(verdict(&maps(&six_usual_and(little))), (Cause::Contention, Some(Confidence::Weak)));
    let some = usual(40).with(Counter::CpuMilliseconds, 16_000);
    assert_eq!(verdict(&maps(&six_usual_and(some))).0, Cause::Unexplained);
}

#[test]
fn cpu_time_explains_no_more_than_the_delay() {
    // Several threads: 85 s more CPU time in 30 s more.
    let threads = usual(40).with(Counter::CpuMilliseconds, 90_000);
    let causes = causes(&maps(&six_usual_and(threads)), None);
    let share = causes[0].evidence.iter().find_map(|evidence| match evidence.fact {
        Fact::CpuTime { share_of_delay, .. } => Some(share_of_delay),
        _ => None,
    });
    assert_eq!(share, Some(100.0));
}

#[test]
fn waiting_is_contention_only_where_tasks_compute() {
    // The others wait most of their time as well, or compute in processes whose CPU time is not logged.
    let waiting = |task: Task| task.with(Counter::CpuMilliseconds, 2000);
    let mut tasks = vec![waiting(usual(10).on("n3")); 6];
    tasks.push(waiting(usual(40)));
    assert_eq!(verdict(&maps(&tasks)), (Cause::Unexplained, None));
    // Its CPU time alone makes a task of 16 s slow: it did not wait for a CPU.
    let mut tasks = vec![usual(10).on("n3").with(Counter::CpuMilliseconds, 9500); 6];
    tasks.push(usual(16).with(Counter::CpuMilliseconds, 11_000));
    assert_eq!(verdict(&maps(&tasks)).0, Cause::Unexplained);
}

#[test]
fn a_node_is_blamed_only_for_its_excess() {
    // 1 of 12 tasks is slow on other nodes, so one of the six slow tasks on n3 would have been expected.
    let mut tasks = vec![task(10).on("n2"); 11];
    tasks.push(task(40).on("n2"));
    // At another time, so that they do not show that the node was as fast as usual.
    tasks.extend(vec![Task { start: 100, ..task(10).on("n3") }; 6]);
    tasks.extend([41, 42, 43, 44, 45, 46].map(|secs| task(secs).on("n3")));
    let causes = causes(&maps(&tasks), None);
    let blamed: Vec<(usize, bool)> =
        causes.iter().map(|cause| (cause.task, cause.primary == Cause::Hardware)).collect();
    let expected = [(11, false), (18, false), (19, true), (20, true), (21, true), (22, true), (23, true)];
    assert_eq!(blamed, expected);
    let other = &causes[1];
    assert_eq!(other.primary, Cause::Unexplained);
    assert_eq!((other.evidence[0].cause, other.evidence[0].confidence), (Cause::Hardware, Confidence::Weak));
}

#[test]
fn usual_neighbours_refute_contention() {
    let beside = |count: usize| {
        let apart = usual(10).on("n2");
        let mut tasks = vec![apart; 6];
        tasks.iter_mut().take(count).for_each(|task| task.node = "n1");
        tasks.push(usual(40));
        verdict(&maps(&tasks))
    };
    assert_eq!(beside(1), (Cause::Contention, Some(Confidence::Inferred)));
    assert_eq!(beside(2), (Cause::Unexplained, None));
    // Tasks that ran there at another time prove nothing.
    let later = |task: Task| Task { start: 100, ..task };
    let mut tasks = vec![later(usual(10)); 6];
    tasks.push(usual(40));
    assert_eq!(verdict(&maps(&tasks)).0, Cause::Contention);
    // Neither do tasks that took longer than usual themselves.
    let mut tasks = vec![usual(10).on("n2"); 6];
    tasks.extend([usual(13), usual(13), usual(40)]);
    assert_eq!(verdict(&maps(&tasks)).0, Cause::Contention);
}

#[test]
fn tasks_that_only_touch_a_straggler_do_not_refute_contention() {
    // Eight cores of n1 stand still from 12 s to 62 s: tasks end just before, and start just after.
    let mut tasks: Vec<Task> = (0..8).map(|core| Task { start: core / 2, ..usual(10) }).collect();
    tasks.extend((0..8).map(|core| Task { start: 10 + core / 2, ..usual(60) }));
    tasks.extend((0..8).map(|core| Task { start: 70 + core / 2, ..usual(10) }));
    tasks.extend(vec![usual(10).on("n2"); 16]);
    let causes = causes(&maps(&tasks), None);
    assert_eq!(causes.len(), 8);
    for cause in &causes {
        assert!(matches!(cause.primary, Cause::Contention | Cause::Hardware), "{cause:?}");
    }
    // Tasks of another core that follow each other show that the node was as fast as usual, although none of them ran
    // during the straggler only.
    let mut tasks = vec![usual(10).on("n2"); 6];
    tasks.extend([0, 10, 20].map(|start| Task { start, ..usual(10) }));
    tasks.push(Task { start: 5, ..usual(21) });
    assert_eq!(verdict(&maps(&tasks)), (Cause::Unexplained, None));
}

fn fail(app: &mut Application, node: &str, secs: i64, message: &str) {
    let (node, message) = (app.strings.intern(node), app.strings.intern(message).unwrap());
    let group = &mut app.groups[0];
    let row = group.attempts.push(0, 1);
    group.attempts.set_node(row, node);
    group.attempts.set_time(row, TimePoint::Start, Some(Timestamp::from_millis(START)));
    group.attempts.set_time(row, TimePoint::Finish, Some(Timestamp::from_millis(START + 1000 * secs)));
    group.attempts.set_outcome(row, Outcome::Failed);
    group.attempts.set_diagnostics(row, message);
}

#[test]
fn a_node_error_ranks_before_measured_times() {
    let timeout = "AttemptID:attempt_1_0001_m_000000_1 Timed out after 20 secs";
    let straggler = usual(40).with(Counter::GcTimeMillis, 28_000).on("n2");
    for (node, secs, message, expected) in [
        ("n2", 20, timeout, Cause::Hardware),
        ("n1", 20, timeout, Cause::Gc),
        ("n2", 41, timeout, Cause::Gc),
        ("n2", 20, "Error: java.io.IOException: bad record", Cause::Gc),
        ("n1", 20, "Too many fetch failures from n2:13562", Cause::Hardware),
    ] {
        let mut app = maps(&six_usual_and(straggler.clone()));
        fail(&mut app, node, secs, message);
        let cause = only(&app, None);
        assert_eq!(cause.primary, expected, "{node} {secs} {message}");
        assert!(cause.evidence.iter().any(|evidence| evidence.cause == Cause::Gc));
    }
}

#[test]
fn a_node_is_compared_with_others_within_each_stage() {
    // 30 % of the tasks of the second stage are slow on each node. n1 runs most of them, and few of the first stage.
    let nodes = ["n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8"];
    let fast: Vec<Task> = (0..80).map(|place| task(10).on(nodes[place % 8])).collect();
    let mixed: Vec<Task> = (0..68)
        .map(|place| {
            let node = if place < 40 { "n1" } else { nodes[1 + (place - 40) % 7] };
            Task {
                start: 100 + 50 * i64::try_from(place).unwrap(),
                ..task(if place % 10 < 3 { 30 } else { 10 })
            }
            .on(node)
        })
        .collect();
    let mut app = stage(&fast);
    let strings = stage(&mixed);
    let mut second = strings.groups.into_iter().next().unwrap();
    second.kind = TaskKind::Stage(StageAttempt { stage: 1, attempt: 0 });
    for row in 0..second.attempts.len() {
        let node = mixed.get(row).and_then(|task| app.strings.intern(task.node));
        second.attempts.set_node(row, node);
    }
    app.groups.push(second);
    let causes = causes(&app, None);
    assert!(causes.len() > 15);
    for cause in &causes {
        assert!(cause.evidence.iter().all(|evidence| evidence.cause != Cause::Hardware), "{cause:?}");
    }
}

#[test]
fn a_slow_node_is_suspected() {
    let mut tasks = vec![usual(10); 9];
    tasks.extend(vec![usual(10).on("n2"); 9]);
    tasks.extend(vec![usual(40).on("n3"); 4]);
    let causes = causes(&maps(&tasks), None);
    assert_eq!(causes.len(), 4);
    for cause in &causes {
        assert_eq!((cause.primary, cause.confidence), (Cause::Hardware, Some(Confidence::Inferred)));
        let text = cause.evidence[0].fact.to_string();
        assert!(text.starts_with("4 of 4 tasks on n3 were stragglers, on the other nodes 0 of 18"), "{text}");
    }
}

#[test]
fn tasks_with_more_data_or_collections_do_not_make_their_node_slow() {
    let skewed = || usual(40).with(Counter::HdfsBytesRead, 400);
    let collecting = || usual(40).with(Counter::GcTimeMillis, 28_000);
    for (explained, cause) in [(skewed(), Cause::DataSkew), (collecting(), Cause::Gc)] {
        let mut tasks = vec![usual(10); 20];
        // At another time, so that they do not show that the node was as fast as usual.
        tasks.extend(vec![Task { start: 100, ..usual(10).on("n2") }; 10]);
        tasks.extend(vec![explained.on("n2"); 5]);
        tasks.push(usual(30).on("n2"));
        let causes = causes(&maps(&tasks), None);
        let primary: Vec<Cause> = causes.iter().map(|cause| cause.primary).collect();
        assert_eq!(primary[..5], [cause; 5]);
        let evidence = causes.iter().flat_map(|cause| &cause.evidence);
        assert!(evidence.into_iter().all(|evidence| evidence.cause != Cause::Hardware), "{causes:?}");
    }
}

#[test]
fn the_node_metric_farthest_above_its_limit_is_the_cause() {
    let metrics = |rows: &str| {
        NodeMetrics::of_text(&format!("ts_ms,node,cpu_util,disk_util,dfs_latency_ms,net_retrans_pct\n{rows}"))
            .unwrap()
    };
    let straggler = maps(&six_usual_and(usual(40).on("n2.example.com")));
    let end = START + 40_000;
    let primary = |values: &str| only(&straggler, Some(&metrics(&format!("{end},n2,{values}\n")))).primary;
    assert_eq!(primary("85,99,0,0"), Cause::Disk);
    assert_eq!(primary("99,85,0,0"), Cause::Cpu);
    assert_eq!(primary("80,80,401,0.5"), Cause::SlowFileSystem);
    assert_eq!(primary("80,80,0,0"), Cause::Cpu);
    assert_eq!(primary("99,99,400,3"), Cause::Network);
    assert_eq!(primary("79,79,400,0.9"), Cause::Contention);
    // Too early to apply to the task.
    let before = format!("{START},n2,99,99,999,99\n");
    assert_eq!(only(&straggler, Some(&metrics(&before))).primary, Cause::Contention);
}

#[test]
fn first_tasks_of_executors_are_slow_together() {
    let on = |executor, start, secs| Task { executor: Some(executor), start, ..task(secs) };
    let tasks =
        [on("1", 0, 10), on("2", 0, 11), on("1", 10, 2), on("2", 11, 2), on("1", 12, 2), on("2", 13, 2)];
    let causes = causes(&stage(&tasks), None);
    let primary: Vec<_> = causes.iter().map(|cause| (cause.task, cause.primary)).collect();
    assert_eq!(primary, [(0, Cause::ColdStart), (1, Cause::ColdStart)]);
    // Spark launches the next task before it records the end of the first.
    let early = tasks.clone().map(|task| Task { start: task.start * 9 / 10, ..task });
    assert!(super::tests::causes(&stage(&early), None).iter().all(|cause| cause.primary == Cause::ColdStart));
    // Each map task has a process of its own.
    assert!(
        super::tests::causes(&maps(&tasks.map(|task| Task { executor: None, ..task })), None)
            .iter()
            .all(|cause| cause.primary == Cause::Unexplained)
    );
}

#[test]
fn the_first_tasks_of_a_late_executor_warm_up() {
    let on = |executor, node, start, secs| Task { executor: Some(executor), start, ..task(secs).on(node) };
    let mut tasks = Vec::new();
    // Two executors run for long, without any warm-up to see.
    for start in [0, 10, 20, 30, 40, 50] {
        tasks.extend([on("1", "n1", start, 10), on("1", "n1", start, 10)]);
        tasks.extend([on("2", "n2", start, 10), on("2", "n2", start, 10)]);
    }
    // A third one joins. Its two first tasks take longer than its later ones.
    tasks.extend([on("3", "n3", 30, 22), on("3", "n3", 30, 23)]);
    tasks.extend([on("3", "n3", 53, 10), on("3", "n3", 53, 10), on("3", "n3", 63, 10)]);
    let primary = |tasks: &[Task]| -> Vec<(Cause, Option<Confidence>)> {
        causes(&stage(tasks), None).iter().map(|cause| (cause.primary, cause.confidence)).collect()
    };
    assert_eq!(primary(&tasks), [(Cause::ColdStart, Some(Confidence::Inferred)); 2]);
    // A single slow task may be chance.
    let one: Vec<Task> = tasks.iter().filter(|task| task.node != "n3" || task.secs != 22).cloned().collect();
    assert_eq!(primary(&one), [(Cause::ColdStart, Some(Confidence::Weak))]);
    // All tasks of the executor are slow: that is the node.
    let slow: Vec<Task> = tasks
        .iter()
        .map(|task| if task.node == "n3" { Task { secs: 22, ..task.clone() } } else { task.clone() })
        .collect();
    assert_eq!(primary(&slow), [(Cause::Hardware, Some(Confidence::Inferred)); 5]);
}

#[test]
fn a_first_task_that_is_slow_among_first_tasks_is_not_explained_by_warm_up() {
    let on = |executor, node, start, secs| Task { executor: Some(executor), start, ..task(secs).on(node) };
    let mut tasks = Vec::new();
    for (executor, node) in [("1", "n1"), ("2", "n2"), ("3", "n3")] {
        tasks.extend([on(executor, node, 0, 20), on(executor, node, 0, 20)]);
        tasks.extend([20, 30, 40, 50].map(|start| on(executor, node, start, 10)));
    }
    tasks.extend([on("4", "n4", 0, 45), on("4", "n4", 0, 45)]);
    tasks.extend([45, 55, 65].map(|start| on("4", "n4", start, 10)));
    let causes = causes(&stage(&tasks), None);
    let warm = causes.iter().filter(|cause| cause.primary == Cause::ColdStart).count();
    assert_eq!((causes.len(), warm), (8, 6), "{causes:?}");
}

#[test]
fn first_tasks_of_a_later_stage_warm_up_as_well() {
    let on = |executor, start, secs| Task { executor: Some(executor), start, ..task(secs) };
    let later =
        [on("1", 60, 10), on("2", 60, 11), on("1", 70, 2), on("2", 71, 2), on("1", 72, 2), on("2", 73, 2)];
    let mut app = stage(&[on("1", 0, 5), on("2", 0, 5)]);
    let mut second = stage(&later).groups.remove(0);
    second.kind = TaskKind::Stage(StageAttempt { stage: 1, attempt: 0 });
    app.groups.push(second);
    let primary: Vec<_> = causes(&app, None).iter().map(|cause| cause.primary).collect();
    assert_eq!(primary, [Cause::ColdStart, Cause::ColdStart]);
}

/// Adds a copy of the last task, launched `start` seconds after it.
fn copy(app: &mut Application, node: &str, start: i64, secs: i64, wins: bool) {
    let node = app.strings.intern(node);
    let group = &mut app.groups[0];
    let task = group.tasks.len() - 1;
    let original = group.tasks.representative(task).unwrap();
    let row = group.attempts.push(u32::try_from(task).unwrap(), 1);
    let at = |secs: i64| Some(Timestamp::from_millis(START + 1000 * secs));
    group.attempts.set_node(row, node);
    group.attempts.set_speculative(row, Some(true));
    group.attempts.set_time(row, TimePoint::Start, at(start));
    group.attempts.set_time(row, TimePoint::Finish, at(start + secs));
    let (winner, loser) = if wins { (row, original) } else { (original, row) };
    group.attempts.set_outcome(winner, Outcome::Succeeded);
    group.attempts.set_outcome(loser, Outcome::Killed);
    group.tasks.set_representative(task, Some(winner));
}

#[test]
fn another_attempt_distinguishes_a_slow_node_from_a_slow_task() {
    let tasks = [task(10).on("n3"), task(10).on("n3"), task(10).on("n3"), task(40)];
    let mut app = maps(&tasks);
    copy(&mut app, "n2", 31, 9, true);
    let cause = only(&app, None);
    assert_eq!((cause.primary, cause.attempt), (Cause::Contention, 3));
    assert_eq!(
        cause.evidence[0].fact.to_string(),
        "another attempt of the task took 9 s on n2 (slow from 15 s)"
    );
    let mut app = maps(&tasks);
    copy(&mut app, "n2", 15, 25, false);
    assert_eq!(verdict(&app), (Cause::EveryAttempt, Some(Confidence::Inferred)));
    // A retry on another node proves the same: the task took long, failed, and took long again.
    let mut app = maps(&tasks);
    copy(&mut app, "n2", -30, 20, false);
    app.groups[0].attempts.set_speculative(4, Some(false));
    app.groups[0].attempts.set_outcome(4, Outcome::Failed);
    assert_eq!(verdict(&app), (Cause::EveryAttempt, Some(Confidence::Inferred)));
    // An attempt that failed at once proves nothing.
    let mut app = maps(&tasks);
    copy(&mut app, "n2", -30, 5, false);
    app.groups[0].attempts.set_outcome(4, Outcome::Failed);
    assert_eq!(verdict(&app).0, Cause::Unexplained);
    // On the same node, or killed too early, it proves nothing.
    let mut app = maps(&tasks);
    copy(&mut app, "n1", 15, 25, false);
    assert_eq!(verdict(&app).0, Cause::Unexplained);
    let mut app = maps(&tasks);
    copy(&mut app, "n2", 30, 10, false);
    assert_eq!(verdict(&app).0, Cause::Unexplained);
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
