//! First tasks of executors.

use super::*;

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
    assert!(super::causes(&stage(&early), None).iter().all(|cause| cause.primary == Cause::ColdStart));
    // Each map task has a process of its own.
    assert!(
        super::causes(&maps(&tasks.map(|task| Task { executor: None, ..task })), None)
            .iter()
            .all(|cause| cause.primary == Cause::Unexplained)
    );
}

#[test]
fn the_first_tasks_of_a_late_executor_warm_up() {
    let on = |executor, node, start, secs| Task { executor: Some(executor), start, ..task(secs).on(node) };
    let mut tasks = Vec::new();
    // Two executors run for a long time, without visible warm-up.
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
    // It is chance if its executor has run other stages, or was as quick to load classes as the others.
    let mut warm = stage(&one);
    let executors = ["1", "2", "3"];
    let mut earlier = stage(&executors.map(|executor| on(executor, "n1", 0, 9))).groups.remove(0);
    earlier.kind = TaskKind::Stage(StageAttempt { stage: 9, attempt: 0 });
    for (row, executor) in executors.into_iter().enumerate() {
        earlier.attempts.set_executor(row, warm.strings.intern(executor));
    }
    warm.groups.push(earlier);
    let found = |app: &Application| causes(app, None).iter().map(|cause| cause.primary).collect::<Vec<_>>();
    assert_eq!(found(&warm), [Cause::Unexplained]);
    let loaded =
        |task: &Task| task.clone().with(Counter::ExecutorDeserializeTime, 50).with(Counter::GcTimeMillis, 30);
    assert_eq!(found(&stage(&one.iter().map(loaded).collect::<Vec<Task>>())), [Cause::Unexplained]);
    // All tasks of the executor are slow, so the node is the cause.
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

#[test]
fn the_only_task_of_a_new_executor_warms_up_if_it_loaded_classes() {
    let on = |executor, start, secs| Task { executor: Some(executor), start, ..task(secs) };
    let of = |task: Task, deserialize: i64, gc: i64| {
        task.with(Counter::ExecutorDeserializeTime, deserialize).with(Counter::GcTimeMillis, gc)
    };
    let with = |straggler: Task| {
        let executor = |task: i64| if task % 2 == 0 { "1" } else { "2" };
        let usual = (0..8).map(|task| of(on(executor(task), 60 + 5 * (task / 2), 5), 50, 30));
        let mut app = stage(&[on("1", 0, 5), on("2", 0, 5), on("1", 10, 5), on("2", 10, 5)]);
        let mut second = stage(&usual.chain([straggler]).collect::<Vec<Task>>()).groups.remove(0);
        second.kind = TaskKind::Stage(StageAttempt { stage: 1, attempt: 0 });
        app.groups.push(second);
        app
    };
    // It computed more, too, because its code was not compiled yet.
    let cold = with(of(on("3", 60, 12), 1000, 900).with(Counter::CpuMilliseconds, 9000));
    assert_eq!(verdict(&cold), (Cause::ColdStart, Some(Confidence::Inferred)));
    assert!(matches!(only(&cold, None).evidence[0].fact, Fact::NewExecutor { .. }));
    // A new executor on a slow node: loading took no longer than the rest.
    let slow = with(of(on("3", 60, 12), 120, 72));
    assert_ne!(verdict(&slow).0, Cause::ColdStart);
}
