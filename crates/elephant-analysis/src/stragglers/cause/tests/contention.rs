//! CPU time, and neighbours on the same node.

use super::*;

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
    // The other tasks wait most of their time as well, or compute in processes whose CPU time is not logged.
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
fn a_delay_of_milliseconds_is_no_contention() {
    // The same ratios with durations of 10 s and of 10 ms.
    let scaled = |secs: i64, cpu: i64| usual(secs).with(Counter::CpuMilliseconds, cpu);
    let of = |divisor: i64| {
        let mut tasks = vec![scaled(10, 5000 / divisor).on("n3"); 6];
        tasks.push(scaled(40, 5000 / divisor));
        let mut app = maps(&tasks);
        let attempts = &mut app.groups[0].attempts;
        for (row, task) in tasks.iter().enumerate() {
            let finish = Timestamp::from_millis(START + 1000 * task.secs / divisor);
            attempts.set_time(row, TimePoint::Finish, Some(finish));
            attempts.set_counter(row, Counter::GcTimeMillis, Some(0));
        }
        verdict(&app).0
    };
    assert_eq!(of(1), Cause::Contention);
    assert_eq!(of(1000), Cause::Unexplained);
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
    // Tasks of another core that follow each other show that the node was as fast as usual: of two of them, at least half
    // ran during the straggler.
    let mut tasks = vec![usual(10).on("n2"); 6];
    tasks.extend([0, 10, 20].map(|start| Task { start, ..usual(10) }));
    tasks.push(Task { start: 5, ..usual(21) });
    assert_eq!(verdict(&maps(&tasks)), (Cause::Unexplained, None));
}
