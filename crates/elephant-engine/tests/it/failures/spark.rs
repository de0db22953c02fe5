//! Why stages, jobs and applications of Spark failed.

use elephant_base::severity::Severity;
use elephant_engine::results::ApplicationReport;
use elephant_model::diagnosis::FailureKind as Kind;
use elephant_model::model::Status;
use elephant_rule::finding::{Finding, TroubleKind};
use elephant_sample::judge::{judge, rules};
use elephant_testing::spark_log::{App, Ending, Job, Stage, Task};
use serde_json::json;

const STAGES: &str = "spark-stages-with-failed-tasks";
const JOBS: &str = "spark-job-metrics";
const LOST: &str = "Command exited with code 137";
const FETCH: &str = "org.apache.spark.shuffle.FetchFailedException: Connection refused";
const HEAP: Ending = Ending::Exception("java.lang.OutOfMemoryError", "Java heap space");
const ERROR: Ending = Ending::Exception("java.io.IOException", "no such record");

fn report(app: &App) -> ApplicationReport {
    judge(app, &rules(&[], ""))
}

/// The findings of a rule that are more than none.
fn found(report: &ApplicationReport, rule: &str) -> Vec<Finding> {
    let found = report.findings.iter().filter(|finding| finding.rule == rule);
    found.filter(|finding| finding.raw_severity > Severity::None).cloned().collect()
}

fn kind(finding: &Finding) -> Option<Kind> {
    finding.failure.as_ref().map(|failure| failure.kind)
}

fn attempt(index: u32, attempt: u32, executor: &str, ending: Ending) -> Task {
    Task { index: Some(index), attempt, ..Task::new(executor, 1000).ending(ending) }
}

/// A job with one stage, which failed with this text. In Spark 3, the application failed with it.
fn failing(tasks: Vec<Task>, failure: &str) -> App {
    let stage = Stage { failure: Some(failure.to_owned()), ..Stage::new(0, tasks) };
    let job = Job { id: 0, stages: vec![stage], failed: true, ..Job::default() };
    App { jobs: vec![job], ..App::with(&[("spark.executor.memory", "2g")], 4, 2) }
}

const ABORTED: &str = "Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times, most recent failure: Lost \
                       task 0.3 in stage 0.0 (TID 9) (worker1 executor 1): java.io.IOException: no such record";

/// The end of job 0 with this message, in place of the usual one.
fn ended_with(mut app: App, message: &str) -> App {
    app.jobs.pop();
    app.extra = vec![
        (
            0,
            json!({"Event": "SparkListenerJobStart", "Job ID": 0, "Submission Time": 1_700_000_000_000_i64,
                "Stage Infos": [], "Stage IDs": [], "Properties": {}}),
        ),
        (
            10,
            json!({"Event": "SparkListenerJobEnd", "Job ID": 0, "Completion Time": 1_700_000_000_010_i64,
                "Job Result": {"Result": "JobFailed", "Exception": {"Message": message, "Stack Trace": []}}}),
        ),
    ];
    app
}

#[test]
fn a_lost_executor_is_the_root_of_failed_fetches_retries_and_jobs() {
    let mut tasks: Vec<Task> =
        (0..6).map(|index| attempt(index, 0, "2", Ending::FetchFailed(FETCH))).collect();
    tasks.push(attempt(6, 0, "1", Ending::ExecutorLost(LOST)));
    tasks.push(attempt(7, 0, "3", Ending::Success));
    let mut app = failing(tasks, FETCH);
    app.executors[0].removed = Some((900, LOST.to_owned()));
    let report = report(&app);
    assert_eq!(report.status, Status::Failed);
    let stages = found(&report, STAGES);
    let of_stage = stages.iter().find(|finding| finding.subject.name() == "stage 0.0").unwrap();
    let of_job = &found(&report, JOBS)[0];
    for finding in [of_stage, of_job] {
        let failure = finding.failure.as_ref().unwrap();
        assert_eq!(
            (failure.kind, failure.exit_code),
            (Kind::ContainerMemory, Some(137)),
            "{}",
            finding.message
        );
        let root = "root cause: executor 1 on worker1 was lost 900 ms after it was added: exit code 137 (SIGKILL: killed \
                    from outside, usually for using too much memory)";
        assert!(finding.message.ends_with(root), "{}", finding.message);
        assert_eq!(finding.tells, TroubleKind::Failures);
        let settings: Vec<&str> = finding
            .advice
            .iter()
            .flat_map(|advice| &advice.settings)
            .map(|change| change.setting.as_str())
            .collect();
        assert_eq!(settings[0], "spark.executor.memoryOverhead", "{:?}", finding.advice);
    }
    assert!(of_job.raw_severity >= Severity::Severe);
}

#[test]
fn exit_codes_are_explained_without_the_removal_of_the_executor() {
    for (reason, kind, words) in [
        (
            "Command exited with code 143",
            Kind::ResourceManagerKill,
            "exit code 143 (SIGTERM: another process",
        ),
        (
            "Command exited with code 52",
            Kind::HeapSpace,
            "exit code 52 (an OutOfMemoryError ended the executor)",
        ),
        (
            "Command exited with code 56",
            Kind::HeartbeatTimeout,
            "exit code 56 (the executor could not send heartbeats",
        ),
    ] {
        let tasks =
            vec![attempt(0, 0, "1", Ending::ExecutorLost(reason)), attempt(1, 0, "2", Ending::Success)];
        let found = found(&report(&failing(tasks, ABORTED)), STAGES);
        let stage = found.iter().find(|finding| finding.subject.name() == "stage 0.0").unwrap();
        assert!(stage.message.contains(&format!("; root cause: {words}")), "{}", stage.message);
        assert_eq!(self::kind(stage), Some(kind));
    }
}

#[test]
fn a_failed_application_says_why() {
    let tasks: Vec<Task> =
        (0..4).map(|try_| attempt(0, try_, "1", if try_ == 2 { HEAP } else { ERROR })).collect();
    let report = report(&failing(tasks, ABORTED));
    let job = &found(&report, JOBS)[0];
    assert_eq!(kind(job), Some(Kind::HeapSpace));
    assert!(job.raw_severity >= Severity::Severe);
    assert!(job.message.starts_with("the application failed, 1 of 1 job failed, 100 % ("), "{}", job.message);
    assert_eq!(job.advice[0], "give tasks more heap: --conf spark.executor.memory=4g (now 2g)");
    assert_eq!(job.advice[0].settings[0].to, "4g");
    // Dr. Elephant judges only the share of failed jobs.
    let preset = judge(&failing(vec![attempt(0, 0, "1", ERROR)], ABORTED), &rules(&["dr-elephant"], ""));
    assert!(found(&preset, JOBS)[0].message.starts_with("1 of 1 job failed, 100 %"));
}

#[test]
fn one_failed_job_of_many_is_severe_unless_it_was_repeated() {
    let job = |id: u32, name: &str, failed| Job {
        id,
        stages: vec![Stage { name: name.to_owned(), ..Stage::new(id, vec![Task::new("1", 1000)]) }],
        failed,
        ..Job::default()
    };
    let app = |again: &str| {
        let others = (2..30).map(|id| job(id, "count at App.scala:1", false));
        let jobs =
            [job(0, "save at App.scala:9", true), job(1, again, false)].into_iter().chain(others).collect();
        App { jobs, ..App::with(&[], 1, 1) }
    };
    let severity = |again| found(&report(&app(again)), JOBS).first().map(|finding| finding.raw_severity);
    assert_eq!(severity("count at App.scala:1"), Some(Severity::Severe));
    assert_eq!(severity("save at App.scala:9"), None);
}

#[test]
fn cancelled_jobs_have_not_failed() {
    let report =
        report(&ended_with(failing(Vec::new(), ""), "Job 0 cancelled because SparkContext was shut down"));
    assert_eq!(report.status, Status::Killed);
    let job = &found(&report, JOBS)[0];
    assert_eq!(
        (job.raw_severity, job.tells, kind(job)),
        (Severity::Low, TroubleKind::Cancelled, Some(Kind::UserKill))
    );
    assert_eq!(
        job.message,
        "1 of 1 job was cancelled: \"Job 0 cancelled because SparkContext was shut down\""
    );
}

/// Job 0 of an SQL execution that ended with this error, cancelled with its group.
fn cancelled_in_query(error: &str) -> ApplicationReport {
    let cancelled = "[SPARK_JOB_CANCELLED] Job 0 cancelled part of cancelled job group 7b1d4f2e";
    let mut app = ended_with(failing(Vec::new(), ""), cancelled);
    if let Some((_, start)) = app.extra.first_mut() {
        start["Properties"] = json!({"spark.sql.execution.id": "0"});
    }
    let event = |name: &str, at: i64, other: (&str, serde_json::Value)| {
        let event = format!("org.apache.spark.sql.execution.ui.SparkListenerSQLExecution{name}");
        let mut event = json!({"Event": event, "executionId": 0, "time": 1_700_000_000_000_i64 + at});
        event[other.0] = other.1;
        (at, event)
    };
    let plan =
        json!({"nodeName": "Project", "simpleString": "", "children": [], "metadata": {}, "metrics": []});
    app.extra.insert(0, event("Start", 0, ("sparkPlanInfo", plan)));
    app.extra.push(event("End", 11, ("errorMessage", error.into())));
    report(&app)
}

#[test]
fn a_query_that_failed_by_itself_was_not_cancelled() {
    let timeout = "org.apache.spark.SparkException: Could not execute broadcast in 300 secs. You can increase the timeout \
                   for broadcasts via spark.sql.broadcastTimeout";
    let report = cancelled_in_query(timeout);
    assert_eq!(report.status, Status::Failed);
    let job = &found(&report, JOBS)[0];
    assert_eq!((job.tells, kind(job)), (TroubleKind::Failures, Some(Kind::BroadcastTooLarge)));
    // A user's cancellation ends the query, too.
    let report =
        cancelled_in_query("[SPARK_JOB_CANCELLED] Job 0 cancelled as part of cancellation of all jobs");
    assert_eq!(report.status, Status::Killed);
}

#[test]
fn a_class_that_only_one_node_lacks_is_a_trouble_of_the_node() {
    let missing = Ending::Exception("java.lang.ClassNotFoundException", "com.example.Parser");
    let tasks = (0..8).flat_map(|index| {
        let done = attempt(index, 1, "2", Ending::Success);
        if index < 3 { vec![attempt(index, 0, "1", missing), done] } else { vec![done] }
    });
    let stage = Stage::new(0, tasks.collect());
    let job = Job { id: 0, stages: vec![stage], ..Job::default() };
    let report = report(&App { jobs: vec![job], ..App::with(&[], 2, 2) });
    let stage = &found(&report, STAGES)[0];
    assert_eq!(kind(stage), Some(Kind::BadNode));
    let advice: Vec<&str> = stage.advice.iter().map(|advice| &**advice).collect();
    assert_eq!(
        advice,
        [
            "all 3 failures happened on worker1: check disks, memory, installed libraries and logs there; other nodes did \
          the same work"
        ]
    );
}

#[test]
fn losses_with_one_reason_are_told_once() {
    let tasks = |executor: u32| (0..2).map(move |_| Task::new(&executor.to_string(), 1000));
    let stage = Stage::new(0, (1..=6).flat_map(tasks).collect());
    let job = Job { id: 0, stages: vec![stage], ..Job::default() };
    let mut app = App { jobs: vec![job], ..App::with(&[], 6, 2) };
    for (place, reason) in
        [(0, LOST), (1, "Executor heartbeat timed out after 143217 ms"), (2, LOST), (3, LOST)]
    {
        app.executors[place].removed = Some((100, reason.to_owned()));
    }
    let report = report(&app);
    let message = &found(&report, STAGES)[0].message;
    assert!(
        message.contains(
            ": 3 with exit code 137 (SIGKILL: killed from outside, usually for using too much memory), the first executor \
             1 on worker1 100 ms after it was added; executor 2 on worker2 was lost 100 ms after it was added: Executor \
             heartbeat timed out after 143217 ms"
        ),
        "{message}"
    );
}

#[test]
fn cancelled_stages_have_not_failed() {
    let mut tasks: Vec<Task> = (0..200).map(|index| attempt(index, 0, "1", Ending::Success)).collect();
    tasks.extend([attempt(0, 1, "1", ERROR), attempt(1, 1, "1", ERROR)]);
    let judged = |failure: &str| {
        let app = failing(tasks.clone(), failure);
        found(&report(&app), STAGES).first().map(|finding| (finding.raw_severity, finding.tells))
    };
    assert_eq!(judged("Job 0 cancelled "), Some((Severity::Low, TroubleKind::Cancelled)));
    assert_eq!(judged(ABORTED), Some((Severity::Critical, TroubleKind::Failures)));
}

#[test]
fn results_that_are_too_large_are_the_cause_although_no_task_failed() {
    let message = "Job aborted due to stage failure: Total size of serialized results of 9 tasks (1100.0 MiB) is bigger \
                   than spark.driver.maxResultSize (1024.0 MiB)";
    let report = report(&ended_with(failing(Vec::new(), ""), message));
    assert_eq!(report.status, Status::Failed);
    let job = &found(&report, JOBS)[0];
    assert_eq!(kind(job), Some(Kind::ResultTooLarge));
    let conditional: Vec<_> = job.advice.iter().filter(|advice| advice.conditional).collect();
    assert_eq!(conditional[0].settings[0].setting, "spark.driver.maxResultSize");
}

#[test]
fn an_exit_code_of_the_driver_fails_the_application() {
    let mut app = App::with(&[], 1, 1).stage(vec![Task::new("1", 1000)]);
    app.unfinished = true;
    app.extra = vec![(
        5000,
        json!({"Event": "SparkListenerApplicationEnd", "Timestamp": 1_700_000_005_000_i64, "ExitCode": 1}),
    )];
    let report = report(&app);
    assert_eq!(report.status, Status::Failed);
    let job = &found(&report, JOBS)[0];
    assert_eq!(job.raw_severity, Severity::Severe);
    assert_eq!(job.failure.as_ref().unwrap().exit_code, Some(1));
    assert!(
        job.message.starts_with("the application failed (severe for a failed application): exit code 1"),
        "{}",
        job.message
    );
}

#[test]
fn failures_and_losses_on_one_node_are_told() {
    let mut tasks: Vec<Task> =
        (0..40).map(|index| attempt(index, 0, &(index % 4 + 1).to_string(), Ending::Success)).collect();
    tasks.extend((0..4).map(|index| attempt(index, 1, "3", ERROR)));
    let mut app = App::with(&[], 4, 2).stage(tasks);
    for (place, executor) in app.executors.iter_mut().enumerate() {
        executor.host = if place < 2 { "bad".to_owned() } else { format!("worker{place}") };
    }
    for executor in app.executors.iter_mut().take(2) {
        executor.removed = Some((500, "Executor heartbeat timed out after 125000 ms".to_owned()));
    }
    let report = report(&app);
    let found = found(&report, STAGES);
    let whole = found.iter().find(|finding| finding.subject.name() == "application").unwrap();
    assert!(
        whole.message.ends_with(
            "2 because the driver heard nothing from an executor for too long, the first executor 1 on bad 500 ms after it \
             was added; 2 of them on bad"
        ),
        "{}",
        whole.message
    );
    assert_eq!(kind(whole), Some(Kind::HeartbeatTimeout));
    let stage = found.iter().find(|finding| finding.subject.name() == "stage 0.0").unwrap();
    assert!(stage.message.contains("; 4 of them on executor 3 on worker2"), "{}", stage.message);
}

#[test]
fn excluded_executors_and_nodes_are_told() {
    let event = |name: &str, id: &str, value: &str, count: &str| {
        (
            500,
            json!({"Event": format!("org.apache.spark.scheduler.SparkListener{name}"), "time": 1_700_000_000_500_i64,
            id: value, count: 4}),
        )
    };
    let healthy = App::with(&[], 2, 2).stage(vec![Task::new("1", 1000)]);
    assert!(found(&report(&healthy), STAGES).is_empty());
    for (executor, node) in
        [("ExecutorExcluded", "NodeExcluded"), ("ExecutorBlacklistedForStage", "NodeBlacklistedForStage")]
    {
        let mut app = healthy.clone();
        app.extra = vec![
            event(executor, "executorId", "1", "taskFailures"),
            event(node, "hostId", "worker1", "executorFailures"),
        ];
        if node.ends_with("ForStage") {
            app.extra[1].1["stageId"] = json!(0);
        }
        let found = found(&report(&app), STAGES);
        assert_eq!(found.len(), 1, "{executor}");
        assert_eq!(found[0].raw_severity, Severity::Low);
        assert_eq!(
            found[0].message,
            "node worker1 was excluded after failures on 4 executors; executor 1 on worker1 was excluded after 4 task failures"
        );
        let preset = judge(&app, &rules(&["dr-elephant"], ""));
        assert!(
            preset
                .findings
                .iter()
                .all(|finding| finding.rule != STAGES || finding.raw_severity == Severity::None)
        );
    }
}

#[test]
fn a_place_with_all_failures_is_the_cause_rather_than_the_code() {
    const BROKEN: Ending = Ending::Exception("java.io.IOException", "Input/output error");
    let mut tasks: Vec<Task> =
        (0..40).map(|index| attempt(index, 1, &(index % 4 + 1).to_string(), Ending::Success)).collect();
    tasks.extend((0..6).map(|index| attempt(index, 0, "3", BROKEN)));
    let mut app = App::with(&[], 4, 2).stage(tasks);
    app.extra = vec![(
        900,
        json!({"Event": "org.apache.spark.scheduler.SparkListenerNodeExcluded", "time": 1_700_000_000_900_i64,
            "hostId": "worker3", "executorFailures": 1}),
    )];
    let report = report(&app);
    let trouble = report.troubles.iter().find(|it| it.kind == TroubleKind::Failures).unwrap();
    let ending =
        "; 6 of them on executor 3 on worker3; node worker3 was excluded after failures on 1 executor";
    assert!(trouble.cause.ends_with(ending), "{}", trouble.cause);
    assert!(
        trouble.advice[0].starts_with("all 6 failures happened on worker3: check disks"),
        "{:?}",
        trouble.advice
    );
    assert!(trouble.advice.iter().all(|line| !line.contains("fix the error")), "{:?}", trouble.advice);
    assert_eq!(trouble.failure.as_ref().map(|failure| failure.kind), Some(Kind::BadNode));
    // The findings on the job and the stage say the same as that of the stages with failed tasks.
    let failed = report
        .findings
        .iter()
        .filter(|finding| finding.failure.is_some() && finding.raw_severity > Severity::None);
    let rules: Vec<&str> = failed.clone().map(|finding| &*finding.rule).collect();
    assert!(rules.contains(&"spark-job-metrics"), "{rules:?}");
    for finding in failed {
        let kind = finding.failure.as_ref().map(|failure| failure.kind);
        assert_eq!(kind, Some(Kind::BadNode), "{}", finding.rule);
        assert!(finding.advice[0].starts_with("all 6 failures happened on worker3"), "{:?}", finding.advice);
    }
}

/// On a node where nothing works, tasks fail until the stage fails. Their records are not to blame: tasks of other records
/// fail there, too.
#[test]
fn a_place_where_nothing_works_is_the_cause_of_a_failed_stage() {
    const BROKEN: Ending = Ending::Exception("java.io.IOException", "Input/output error");
    let advice = |works: bool| {
        let mut tasks: Vec<Task> = (4..40)
            .map(|index| attempt(index, 0, &[1, 2, 4][index as usize % 3].to_string(), Ending::Success))
            .collect();
        tasks.extend((0..4).flat_map(|index| (0..4).map(move |retry| attempt(index, retry, "3", BROKEN))));
        if works {
            tasks.push(attempt(40, 0, "3", Ending::Success));
        }
        let report = report(&failing(tasks, ABORTED));
        assert_eq!(report.status, Status::Failed);
        let trouble = report.troubles.into_iter().find(|it| it.kind == TroubleKind::Failures).unwrap();
        let kind = trouble.failure.map(|failure| failure.kind);
        let lines: Vec<String> = trouble.advice.iter().map(|line| line.text.clone()).collect();
        (kind, lines)
    };
    let (kind, lines) = advice(false);
    assert_eq!(kind, Some(Kind::BadNode));
    let of_place = lines.iter().filter(|line| line.contains("happened on worker3")).count();
    assert_eq!(of_place, 1, "{lines:?}");
    assert!(lines.iter().all(|line| !line.contains("fix the error")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("spark.excludeOnFailure.enabled=true")), "{lines:?}");
    // Where other tasks succeed, both may be the cause.
    let (kind, lines) = advice(true);
    assert_eq!(kind, Some(Kind::UserCode));
    assert!(lines.iter().any(|line| line.contains("fix the error")), "{lines:?}");
}

#[test]
fn a_host_of_all_lost_executors_is_the_cause_rather_than_the_code() {
    let tasks =
        (0..40).map(|index| attempt(index, 0, &(index % 6 + 1).to_string(), Ending::Success)).collect();
    let mut app = App::with(&[], 6, 2).stage(tasks);
    for executor in app.executors.iter_mut().take(2) {
        executor.host = "bad".to_owned();
        executor.removed = Some((500, "Command exited with code 1".to_owned()));
    }
    let found = found(&report(&app), STAGES);
    let whole = found.iter().find(|finding| finding.subject.name() == "application").unwrap();
    assert!(
        whole.advice[0].starts_with("all 2 lost executors ran on bad: check disks"),
        "{:?}",
        whole.advice
    );
    assert!(whole.advice.iter().all(|line| !line.contains("fix the error")), "{:?}", whole.advice);
}

#[test]
fn executors_released_while_idle_are_not_lost() {
    let mut app =
        App::with(&[("spark.dynamicAllocation.enabled", "true")], 4, 1).stage(vec![Task::new("1", 1000)]);
    let reasons = [
        "Executor 2 has been idle for 60 s",
        "Executor killed by driver.",
        "Executor decommission: by the driver",
    ];
    for (executor, reason) in app.executors.iter_mut().skip(1).zip(reasons) {
        executor.removed = Some((500, reason.to_owned()));
    }
    app.executors[0].removed = Some((1500, "Command exited with code 0".to_owned()));
    assert!(found(&report(&app), STAGES).is_empty());
}

/// The message on the worst stage with these failures, and its severity: numbers of completed tasks, of exceptions and of
/// attempts out of memory. With `again`, a later attempt did the work of `again` tasks.
fn judged(done: u32, exceptions: u32, memory: u32, again: u32) -> (Severity, String) {
    let fetches = u32::from(again > 0);
    let ends =
        [(done, Ending::Success), (exceptions, ERROR), (memory, HEAP), (fetches, Ending::FetchFailed(FETCH))];
    let ends = ends.into_iter().flat_map(|(count, ending)| (0..count).map(move |_| ending));
    let tasks: Vec<Task> = (0..).zip(ends).map(|(index, ending)| attempt(index, 0, "1", ending)).collect();
    let failure = (again > 0).then(|| FETCH.to_owned());
    let first = Stage { failure, ..Stage::new(0, tasks) };
    let rest = (done..done + again).map(|index| attempt(index, 0, "2", Ending::Success)).collect();
    let second = Stage { attempt: 1, ..Stage::new(0, rest) };
    let stages = [Some(first), (again > 0).then_some(second)].into_iter().flatten().collect();
    let app = App { jobs: vec![Job { stages, ..Job::default() }], ..App::with(&[], 2, 4) };
    let found = found(&report(&app), STAGES).into_iter().find(|it| it.subject.name() == "stage 0.0").unwrap();
    (found.raw_severity, found.message)
}

#[test]
fn the_limit_of_a_stage_is_that_of_the_share_that_decided() {
    let has = |judged: (Severity, String), severity, text: &str| {
        assert_eq!(judged.0, severity, "{}", judged.1);
        assert!(judged.1.contains(text), "{}", judged.1);
    };
    // One attempt out of memory does not decide among many failures.
    has(judged(300, 110, 1, 0), Severity::Severe, "27 % (severe from 20 %)");
    has(judged(370, 30, 1, 0), Severity::Moderate, "7.73 % (moderate from 5 %)");
    has(judged(197, 0, 3, 0), Severity::Moderate, "1.5 % (moderate for any task out of memory)");
    let both = "4 % (4 out of memory beside 192 completed tasks, 2.08 %: severe from 2 %)";
    has(judged(192, 4, 4, 0), Severity::Severe, both);
    // The later attempt completed the other tasks.
    let all = "(4 out of memory beside 105 completed tasks, 3.81 %: severe from 2 %)";
    has(judged(100, 0, 4, 5), Severity::Severe, all);
}
