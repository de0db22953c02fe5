//! Nodes: errors, metrics, and more stragglers than on other nodes.

use super::*;

#[test]
fn a_node_is_blamed_only_for_its_excess() {
    // 1 of 12 tasks is slow on other nodes, so one of the six slow tasks on n3 would have been expected.
    let mut tasks = vec![task(10).on("n2"); 11];
    tasks.push(task(40).on("n2"));
    // Usual tasks there at the same time do not clear it: a node may slow down only some of its tasks.
    tasks.extend(vec![task(10).on("n3"); 6]);
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
        tasks.extend(vec![usual(10).on("n2"); 10]);
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
    // A sample from before the task's start does not apply to the task.
    let before = format!("{START},n2,99,99,999,99\n");
    assert_eq!(only(&straggler, Some(&metrics(&before))).primary, Cause::Contention);
}
