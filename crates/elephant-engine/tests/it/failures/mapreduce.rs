//! Why jobs of MapReduce failed or were killed.

use elephant_base::severity::Severity;
use elephant_model::diagnosis::FailureKind as Kind;
use elephant_model::model::conf::Property;
use elephant_model::model::table::{Outcome, TaskGroup, TaskKind};
use elephant_model::model::{Application, Engine, Status};
use elephant_rule::finding::{Finding, TroubleKind};

const RULE: &str = "job-exception";
const HEAP: &str = "Error: java.lang.OutOfMemoryError: Java heap space";
const ERROR: &str = "Error: java.io.IOException: bad record\n\tat a.B.c(B.java:1)";
const KILLED: &str = "Task KILL is received. Killing attempt!";

/// A job that ended with this status, with the attempts of each map task.
fn job(status: Status, tasks: &[&[(Outcome, &str)]]) -> Application {
    let mut app = Application::new(Engine::MapReduce);
    "job_1_1".clone_into(&mut app.id);
    app.status = status;
    let mut group = TaskGroup::new(TaskKind::Map);
    for (number, attempts) in (0..).zip(tasks) {
        let task = group.tasks.push(number);
        let failed = attempts.iter().all(|(outcome, _)| *outcome == Outcome::Failed);
        group.tasks.set_outcome(task, if failed { Outcome::Failed } else { attempts.last().unwrap().0 });
        for (try_, (outcome, text)) in (0..).zip(*attempts) {
            let row = group.attempts.push(u32::try_from(task).unwrap(), try_);
            group.attempts.set_outcome(row, *outcome);
            group.attempts.set_diagnostics(row, app.strings.intern(text).unwrap());
        }
    }
    app.groups.push(group);
    app
}

fn set(app: &mut Application, name: &str, value: &str) {
    app.conf.insert(name.to_owned(), Property { value: value.to_owned(), is_final: false });
}

fn finding(app: &Application) -> Finding {
    elephant_sample::evaluate(app, RULE, false).findings.remove(0)
}

fn kind(app: &Application) -> Option<Kind> {
    finding(app).failure.map(|failure| failure.kind)
}

#[test]
fn the_most_specific_error_of_the_failed_task_is_the_root_cause() {
    let failed = |texts: [&'static str; 4]| texts.map(|text| (Outcome::Failed, text));
    // The other tasks were killed with the job, or recovered.
    let killed: &[(Outcome, &str)] = &[(Outcome::Killed, KILLED)];
    let recovered: &[(Outcome, &str)] =
        &[(Outcome::Failed, "Timed out after 600 secs"), (Outcome::Succeeded, "")];
    let app = job(
        Status::Failed,
        &[&failed([ERROR, ERROR, HEAP, ERROR]), killed, killed, recovered, recovered, recovered],
    );
    let found = finding(&app);
    let failure = found.failure.unwrap();
    assert_eq!(failure.kind, Kind::HeapSpace);
    assert_eq!(failure.exception.as_deref(), Some("java.lang.OutOfMemoryError"));
    assert_eq!(found.message, "the job failed: Error: java.lang.OutOfMemoryError: Java heap space");
    assert_eq!((found.severity, found.tells), (Severity::Severe, TroubleKind::Failures));
    let kind = found.evidence.iter().find(|(key, _)| key == "failure_kind_text").unwrap();
    assert_eq!(kind.1.to_string(), "heap-space");
}

#[test]
fn consequences_are_not_the_root_cause() {
    let of = |texts: &[&'static str]| {
        let attempts: Vec<_> = texts.iter().map(|text| (Outcome::Failed, *text)).collect();
        kind(&job(Status::Failed, &[&attempts]))
    };
    let fetch =
        "Error: org.apache.hadoop.mapreduce.task.reduce.Shuffle$ShuffleError: error in shuffle in fetcher#1";
    let lost = "Container released on a *lost* node";
    assert_eq!(of(&[fetch, fetch, fetch, lost]), Some(Kind::NodeLost));
    assert_eq!(of(&[KILLED, KILLED, KILLED, ERROR]), Some(Kind::UserCode));
    assert_eq!(of(&[fetch, fetch, fetch, fetch]), Some(Kind::FetchFailure));
    assert_eq!(of(&["nothing known"]), None);
}

#[test]
fn the_most_frequent_root_cause_of_tasks_counts() {
    let failed = |text| [(Outcome::Failed, text); 4];
    let app = job(Status::Failed, &[&failed(HEAP), &failed(ERROR), &failed(ERROR)]);
    assert_eq!(kind(&app), Some(Kind::UserCode));
}

#[test]
fn the_job_says_what_its_attempts_do_not() {
    let killed: &[(Outcome, &str)] = &[(Outcome::Killed, KILLED)];
    let mut app = job(Status::Failed, &[killed]);
    app.diagnostics = Some(
        "Application application_1_1 failed 2 times due to AM Container exited with exitCode: -104".into(),
    );
    let found = finding(&app);
    let failure = found.failure.unwrap();
    assert_eq!((failure.kind, failure.exit_code), (Kind::ContainerMemory, Some(-104)));
    assert!(
        found
            .message
            .contains("exit code -104 (the container used more physical memory than it had requested)"),
        "{}",
        found.message
    );
    let code = found.evidence.iter().find(|(key, _)| key == "exit_code_number").unwrap();
    assert_eq!(code.1.to_string(), "-104");
    // "Task failed task_1_1_m_000000" does not.
    let mut app = job(Status::Failed, &[&[(Outcome::Failed, ERROR)]]);
    app.diagnostics = Some("Task failed task_1_1_m_000000\nJob failed as tasks failed. failedMaps:1".into());
    assert_eq!(kind(&app), Some(Kind::UserCode));
}

#[test]
fn killed_jobs_have_not_failed() {
    let mut app = job(Status::Killed, &[&[(Outcome::Failed, HEAP), (Outcome::Killed, KILLED)]]);
    app.diagnostics =
        Some("Kill job job_1_1 received from alice (auth:SIMPLE) at 10.0.0.1\nJob received Kill".into());
    let found = finding(&app);
    assert_eq!((found.severity, found.tells), (Severity::Low, TroubleKind::Cancelled));
    assert_eq!(found.failure.unwrap().kind, Kind::UserKill);
    assert!(
        found.message.starts_with("the job was killed: Kill job job_1_1 received from alice"),
        "{}",
        found.message
    );
}

#[test]
fn remedies_propose_settings() {
    let settings = |app: &Application| -> Vec<String> {
        finding(app).advice.iter().flat_map(|advice| &advice.settings).map(ToString::to_string).collect()
    };
    let mut app = job(Status::Failed, &[&[(Outcome::Failed, HEAP)]]);
    set(&mut app, "mapreduce.map.java.opts", "-Xmx1000m -XX:+UseG1GC");
    set(&mut app, "mapreduce.map.memory.mb", "1536");
    assert_eq!(
        settings(&app),
        [
            "mapreduce.map.java.opts -Xmx1000m -XX:+UseG1GC → -XX:+UseG1GC -Xmx1500m",
            "mapreduce.map.memory.mb 1536 → 2048"
        ]
    );
    assert_eq!(
        finding(&app).advice[0],
        "-Xmx in mapreduce.map.java.opts 1000m → 1500m, and mapreduce.map.memory.mb 1536 → 2048"
    );
    let timeout = "AttemptID:attempt_1_1_m_000000_0 Timed out after 600 secs";
    let app = job(Status::Failed, &[&[(Outcome::Failed, timeout)]]);
    assert_eq!(settings(&app), ["mapreduce.task.timeout → 1200000"]);
    assert!(finding(&app).advice[0].conditional);
    let memory =
        "Container [pid=1,containerID=c] is running beyond physical memory limits. Current usage: 1.1 GB";
    let mut app = job(Status::Failed, &[&[(Outcome::Failed, memory)]]);
    set(&mut app, "mapreduce.map.memory.mb", "1024");
    assert_eq!(settings(&app), ["mapreduce.map.memory.mb 1024 → 1536"]);
    let disk = "Error: java.io.IOException: No space left on device";
    assert_eq!(
        settings(&job(Status::Failed, &[&[(Outcome::Failed, disk)]])),
        ["mapreduce.map.output.compress → true"]
    );
}
