//! Other attempts of the same task.

use super::*;

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
    // An attempt proves nothing either if it was lost with its executor or node, or failed because of other
    // tasks' data: it waited, too.
    for (reason, message) in [
        (
            Some(EndReason::ExecutorLost),
            "ExecutorLostFailure (executor 1 exited unrelated to the running tasks)",
        ),
        (Some(EndReason::FetchFailed), "FetchFailed(BlockManagerId(2, n4, 7337))"),
        (None, "Container released on a *lost* node"),
        (None, "AttemptID:attempt_1_0001_m_000003_0 Timed out after 20 secs"),
    ] {
        let mut app = maps(&tasks);
        copy(&mut app, "n2", -30, 20, false);
        let message = app.strings.intern(message).unwrap();
        app.groups[0].attempts.set_outcome(4, Outcome::Failed);
        app.groups[0].attempts.set_end_reason(4, reason);
        app.groups[0].attempts.set_diagnostics(4, message);
        assert_eq!(verdict(&app).0, Cause::Unexplained);
    }
    // On the same node, or killed too early, it proves nothing.
    let mut app = maps(&tasks);
    copy(&mut app, "n1", 15, 25, false);
    assert_eq!(verdict(&app).0, Cause::Unexplained);
    let mut app = maps(&tasks);
    copy(&mut app, "n2", 30, 10, false);
    assert_eq!(verdict(&app).0, Cause::Unexplained);
}
