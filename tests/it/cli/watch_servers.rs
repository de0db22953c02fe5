//! `elephant-rs watch` on servers: a resource manager, an application master, a driver, and a webhook.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::fake_server::FakeServer;

/// When the application began.
const BEGIN: i64 = 1_763_900_000_000;
/// The time by which the server's clock advances between two questions, in milliseconds.
const STEP: i64 = 5000;
const TASKS: i64 = 20;
/// The task that takes long.
const SLOW: i64 = 7;
/// Far more than any machine needs.
const PATIENCE: Duration = Duration::from_secs(120);

const fn takes(task: i64) -> i64 {
    if task == SLOW { 300_000 } else { 60_000 + 500 * task }
}

fn watch(arguments: &[&str]) -> (Option<i32>, Vec<Value>, String) {
    watch_with(arguments, &[])
}

/// The same with these environment variables.
fn watch_with(arguments: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, Vec<Value>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_elephant-rs"));
    command.envs(variables.iter().copied()).env("LC_ALL", "C.UTF-8").arg("watch").args([
        "--format",
        "ndjson",
        "--ask-every",
        "5ms",
    ]);
    command.args(["--interval", "5ms"]).args(arguments).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > PATIENCE {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (output.status.code(), lines, String::from_utf8(output.stderr).unwrap())
}

fn of_type<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["type"] == kind).collect()
}

/// The state of a job with one wave of map tasks, `elapsed` ms after its begin.
fn mapreduce(path: &str, elapsed: i64) -> (u16, String) {
    let is_over = elapsed > 320_000;
    let tasks = (0..TASKS).map(|task| {
        let ran = elapsed.min(takes(task));
        let done = ran == takes(task);
        json!({
            "id": format!("task_1763900000000_0001_m_{task:06}"), "type": "MAP",
            "state": if done { "SUCCEEDED" } else { "RUNNING" }, "startTime": BEGIN,
            "finishTime": if done { BEGIN + ran } else { 0 }, "elapsedTime": ran,
            "progress": 100.0 * ran as f64 / takes(task) as f64,
        })
    });
    let job = json!({
        "id": "job_1763900000000_0001", "name": "word count", "user": "alice", "startTime": BEGIN,
        "finishTime": if is_over { BEGIN + 300_000 } else { 0 }, "mapsTotal": TASKS, "reducesTotal": 0,
        "state": if is_over { "SUCCEEDED" } else { "RUNNING" },
    });
    let answer = match path {
        "/ws/v1/mapreduce/info" => json!({"info": {"appId": "application_1763900000000_0001"}}),
        "/ws/v1/mapreduce/jobs" => json!({"jobs": {"job": [job]}}),
        "/ws/v1/mapreduce/jobs/job_1763900000000_0001/tasks" => {
            json!({"tasks": {"task": tasks.collect::<Vec<_>>()}})
        }
        "/ws/v1/mapreduce/jobs/job_1763900000000_0001/tasks/task_1763900000000_0001_m_000007/attempts" => {
            json!({"taskAttempts": {"taskAttempt": [{
                "id": "attempt_1763900000000_0001_m_000007_0", "state": "RUNNING",
                "nodeHttpAddress": "worker3.example.com:8042",
            }]}})
        }
        _ => return (404, "{}".to_owned()),
    };
    (200, answer.to_string())
}

/// An application master, whose time passes with the questions about its tasks.
fn master() -> FakeServer {
    FakeServer::start(progress())
}

fn progress() -> impl Fn(&str, &str, &str) -> (u16, String) {
    let clock = AtomicI64::new(0);
    move |_, path, _| {
        let elapsed = clock.fetch_add(if path.ends_with("/tasks") { STEP } else { 0 }, Ordering::Relaxed);
        mapreduce(path, elapsed)
    }
}

/// Flags of the slow task only, among them that of `detector`.
fn assert_slow_task(lines: &[Value], detector: &str) {
    let flags = of_type(lines, "flag");
    assert!(flags.iter().any(|flag| flag["detector"] == detector), "{flags:#?}");
    for flag in flags {
        assert_eq!((&flag["task"], &flag["group"]), (&SLOW.into(), &"map".into()), "{flag:#}");
        assert_eq!(
            (&flag["node"], &flag["task_attempt"]),
            (&"worker3.example.com".into(), &0.into()),
            "{flag:#}"
        );
    }
}

#[test]
fn an_application_master_shows_the_progress_of_tasks() {
    let master = master();
    let (status, lines, errors) =
        watch(&["--detector", "default", "--detector", "mantri", "--detector", "spark-3", &master.address]);
    assert_eq!((status, errors.as_str()), (Some(0), ""));
    for detector in ["default", "mantri", "spark-3"] {
        assert_slow_task(&lines, detector);
    }
    let detectors: Vec<&str> =
        of_type(&lines, "flag").iter().map(|flag| flag["detector"].as_str().unwrap()).collect();
    let mut once = detectors.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), detectors.len(), "a detector flags a task once");
    let end = of_type(&lines, "end");
    assert_eq!(
        (&end[0]["application"], &end[0]["user"]),
        (&"job_1763900000000_0001".into(), &"alice".into())
    );
}

#[test]
fn models_of_earlier_runs_make_more_detectors_speak() {
    let folder = tempfile::tempdir().unwrap();
    let models = folder.path().join("models");
    // Usually a map task takes a minute and a half. What is known of progress is up to five seconds old.
    let points: Vec<(f64, f64)> = (1..=20).map(|k| (4.5 * f64::from(k), f64::from(k) / 20.0)).collect();
    let run = json!({
        "job": "mapreduce · word count", "group": "map", "application": "job_1763800000000_0009",
        "durations_ms": vec![60_000; 20], "progress": points,
    });
    std::fs::write(&models, format!("{{\"models_version\":1}}\n{run}\n")).unwrap();
    let detectors = ["--detector", "offline", "--detector", "combined"];
    let (status, lines, errors) =
        watch(&[&detectors[..], &["--models", models.to_str().unwrap(), &master().address]].concat());
    assert_eq!((status, errors.as_str()), (Some(0), ""));
    let silent = &of_type(&lines, "watch")[0]["silent"];
    let silent: Vec<&str> = silent.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(silent, ["hierarchical", "dos-index", "flink"]);
    for detector in ["offline", "combined"] {
        assert_slow_task(&lines, detector);
    }
    for flag in of_type(&lines, "flag") {
        let threshold = &flag["threshold"];
        assert_eq!(threshold["measure"], "progress");
        assert!(threshold["value"].as_f64() < threshold["limit"].as_f64(), "{threshold}");
    }
    let (status, _, errors) = watch(&[&detectors[..], &[&master().address]].concat());
    assert_eq!(status, Some(2));
    assert!(errors.contains("for which --models is missing"), "{errors}");
}

#[test]
fn each_flag_of_an_application_master_has_its_threshold() {
    let (_, lines, _) = watch(&[&master().address]);
    let flags = of_type(&lines, "flag");
    let mut measures: Vec<&str> =
        flags.iter().map(|flag| flag["threshold"]["measure"].as_str().unwrap()).collect();
    measures.sort_unstable();
    measures.dedup();
    assert_eq!(measures, ["elapsed_ms", "progress", "progress_per_s", "time_left_ms"]);
}

#[test]
fn a_server_that_hangs_does_not_hold_up_others() {
    let hangs = FakeServer::start(|_, _, _| {
        std::thread::sleep(Duration::from_secs(600));
        (500, String::new())
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_elephant-rs"));
    command.args(["watch", "--format", "ndjson", "--ask-every", "5ms", "--interval", "5ms"]);
    let master = master();
    let mut child = command.args([&hangs.address, &master.address]).stdout(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    let reader = std::io::BufReader::new(child.stdout.take().unwrap());
    for line in std::io::BufRead::lines(reader) {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if line["type"] == "end" {
            break;
        }
    }
    // A question waits ten seconds for its answer.
    let took = begun.elapsed();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(took < Duration::from_secs(9), "{took:?}");
}

#[test]
fn history_servers_are_refused() {
    let attempt = |updated: &str, completed: bool| json!([{"startTime": "2026-11-21T09:39:02.692GMT", "lastUpdated": updated, "completed": completed}]);
    let started = "2026-11-21T09:39:02.692GMT";
    let one = |attempts: Value| json!([{"id": "app-1", "attempts": attempts}]);
    let two = json!([{"id": "a", "attempts": attempt(started, false)}, {"id": "b", "attempts": []}]);
    for listed in [one(attempt(started, true)), one(attempt("2026-11-21T09:40:00.000GMT", false)), two] {
        let server = FakeServer::start(move |_, path, _| match path {
            "/api/v1/applications" => (200, listed.to_string()),
            _ => (404, "{}".to_owned()),
        });
        let (status, lines, _) = watch(&[&server.address]);
        assert_eq!(status, Some(2));
        let message = of_type(&lines, "problem")[0]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("it is a history server"), "{message}");
    }
    let server = FakeServer::start(|_, path, _| {
        if path == "/ws/v1/history/info" { (200, "{}".to_owned()) } else { (404, "{}".to_owned()) }
    });
    let (_, lines, _) = watch(&[&server.address]);
    assert!(of_type(&lines, "problem")[0]["message"].as_str().unwrap().contains("it is a history server"));
}

#[test]
fn a_resource_manager_leads_to_the_applications_that_run() {
    let clock = Arc::new(AtomicI64::new(0));
    let server = FakeServer::start(move |_, path, _| {
        let app = |id: &str, kind: &str, user: &str| {
            let mut app = json!({"id": id, "applicationType": kind, "user": user, "startedTime": BEGIN});
            app["queue"] = "q".into();
            app
        };
        let proxied = path.strip_prefix("/proxy/application_1763900000000_0001");
        let answer = match (path, proxied) {
            ("/ws/v1/cluster/info", _) => json!({"clusterInfo": {}}),
            ("/ws/v1/cluster/apps?states=RUNNING", _) => json!({"apps": {"app": [
                app("application_1763900000000_0001", "MAPREDUCE", "alice"),
                app("application_1763900000000_0002", "MAPREDUCE", "bob"),
                app("application_1763900000000_0003", "TEZ", "alice"),
            ]}}),
            (_, Some(path)) => {
                let step = if path.ends_with("/tasks") { STEP } else { 0 };
                return mapreduce(path, clock.fetch_add(step, Ordering::Relaxed));
            }
            _ => return (500, "{}".to_owned()),
        };
        (200, answer.to_string())
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_elephant-rs"));
    command.args([
        "watch",
        "--format",
        "ndjson",
        "--ask-every",
        "5ms",
        "--interval",
        "5ms",
        "--user",
        "alice",
    ]);
    command.args(["--detector", "default"]);
    let mut child = command.arg(&server.address).stdout(Stdio::piped()).spawn().unwrap();
    // A resource manager is asked until the command is stopped.
    let mut lines = Vec::new();
    let reader = std::io::BufReader::new(child.stdout.take().unwrap());
    for line in std::io::BufRead::lines(reader) {
        lines.push(serde_json::from_str::<Value>(&line.unwrap()).unwrap());
        if lines.last().unwrap()["type"] == "end" {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_slow_task(&lines, "default");
    assert_eq!(of_type(&lines, "application").len(), 1);
    assert!(of_type(&lines, "problem").is_empty(), "{lines:#?}");
}

#[test]
fn a_driver_shows_tasks_and_the_records_that_they_read() {
    let clock = AtomicI64::new(0);
    let driver = FakeServer::start(move |_, path, _| {
        let is_list = path.contains("/taskList");
        let elapsed = clock.fetch_add(if is_list { STEP } else { 0 }, Ordering::Relaxed);
        let at = |ms: i64| {
            let seconds = (BEGIN + ms) / 1000;
            let text = chrono::DateTime::from_timestamp(seconds, 0).unwrap();
            text.format("%Y-%m-%dT%H:%M:%S.000GMT").to_string()
        };
        let is_over = elapsed > 320_000;
        let answer = if is_list {
            let asked = path.split_once("offset=").unwrap().1;
            let (from, rest) = asked.split_once('&').unwrap();
            assert_eq!(rest, "length=5000&sortBy=ID");
            // Tasks at the beginning that have ended are not asked for again.
            let from: i64 = from.parse().unwrap();
            assert!(from <= SLOW);
            let task = |task: i64| {
                let ran = elapsed.min(takes(task));
                let status = if ran == takes(task) { "SUCCESS" } else { "RUNNING" };
                json!({
                    "taskId": 100 + task, "index": task, "attempt": 0, "launchTime": at(0), "duration": ran,
                    "executorId": "1", "host": "worker3.example.com", "status": status, "speculative": false,
                    "taskMetrics": {"inputMetrics": {"recordsRead": 1000 * ran / takes(task)}},
                })
            };
            json!((from..TASKS).map(task).collect::<Vec<_>>())
        } else if path.ends_with("/stages?status=active") {
            if elapsed > 300_000 {
                json!([])
            } else {
                json!([{"stageId": 4, "attemptId": 0, "numTasks": TASKS, "name": "join at Orders.scala:120"}])
            }
        } else if path == "/api/v1/applications" {
            json!([{"id": "app-1", "name": "orders", "attempts": [
                {"startTime": at(0), "sparkUser": "alice", "completed": is_over},
            ]}])
        } else {
            return (404, "{}".to_owned());
        };
        (200, answer.to_string())
    });
    let (status, lines, errors) = watch(&[&driver.address]);
    assert_eq!((status, errors.as_str()), (Some(0), ""));
    let flags = of_type(&lines, "flag");
    let by: Vec<&str> = flags.iter().map(|flag| flag["detector"].as_str().unwrap()).collect();
    assert_eq!(by, ["spark-3", "spark-3.4", "spark-4"], "{flags:#?}");
    for flag in flags {
        assert_eq!((&flag["task"], &flag["group"]), (&SLOW.into(), &"stage 4.0".into()));
        assert_eq!((&flag["node"], &flag["task_id"]), (&"worker3.example.com".into(), &107.into()));
    }
}

#[test]
fn a_webhook_gets_each_flag_once_although_it_fails_at_first() {
    let master = master();
    let got: Arc<Mutex<Vec<Value>>> = Arc::default();
    let tries = AtomicU32::new(0);
    let heard = Arc::clone(&got);
    let webhook = FakeServer::start(move |method, path, body| {
        assert_eq!((method, path), ("POST", "/alert?team=etl"));
        if tries.fetch_add(1, Ordering::Relaxed) < 2 {
            return (503, String::new());
        }
        heard.lock().unwrap().push(serde_json::from_str(body).unwrap());
        (200, String::new())
    });
    let hook = format!("{}/alert?team=etl", webhook.address);
    let (status, lines, errors) = watch(&["--webhook", &hook, &master.address]);
    assert_eq!(status, Some(0));
    assert_eq!(errors.matches("it will be sent again").count(), 1, "{errors}");
    let flags: Vec<Value> = of_type(&lines, "flag").into_iter().cloned().collect();
    assert!(flags.len() > 3);
    assert_eq!(*got.lock().unwrap(), flags);
}

#[test]
fn what_a_webhook_did_not_get_is_sent_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let log = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/spark/3.5.9/skew/app-20261121094318-0000.zstd");
    let eager = ["--state", state.to_str().unwrap(), "--quantile", "0.3", "--multiplier", "1.05", log];
    // No server listens there any more.
    let gone = FakeServer::start(|_, _, _| (500, String::new()));
    let hook = format!("{}/hook", gone.address);
    let mut command = Command::new(env!("CARGO_BIN_EXE_elephant-rs"));
    command.args(["watch", "--format", "ndjson", "--webhook", &hook]).args(eager);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut said = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut flags = Vec::new();
    loop {
        let mut line = String::new();
        std::io::BufRead::read_line(&mut said, &mut line).unwrap();
        let line: Value = serde_json::from_str(&line).unwrap();
        match line["type"].as_str() {
            Some("flag") => flags.push(line),
            Some("end") => break,
            _ => {}
        }
    }
    // The state is written while it waits for the webhook.
    let begun = Instant::now();
    while std::fs::read_to_string(&state).unwrap().matches("{\"queued\":").count() < flags.len() {
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();

    let got: Arc<Mutex<Vec<Value>>> = Arc::default();
    let heard = Arc::clone(&got);
    let webhook = FakeServer::start(move |_, _, body| {
        heard.lock().unwrap().push(serde_json::from_str(body).unwrap());
        (200, String::new())
    });
    let hook = format!("{}/hook", webhook.address);
    let (status, lines, errors) = watch(&[&["--webhook", &hook][..], &eager].concat());
    assert_eq!((status, errors.as_str()), (Some(0), ""));
    assert!(of_type(&lines, "flag").is_empty());
    assert_eq!(*got.lock().unwrap(), flags);
    let (_, _, _) = watch(&[&["--webhook", &hook][..], &eager].concat());
    assert_eq!(got.lock().unwrap().len(), flags.len());
}

#[test]
fn servers_that_do_not_answer_as_expected_are_told_about() {
    let other = FakeServer::start(|_, _, _| (404, "{}".to_owned()));
    let (status, lines, _) = watch(&["--once", &other.address]);
    assert_eq!(status, Some(2));
    let problems = of_type(&lines, "problem");
    let message = problems[0]["message"].as_str().unwrap();
    assert!(message.contains("404") && !message.contains("asked again"), "{problems:#?}");
    let html = FakeServer::start(|_, _, _| (200, "<html>".to_owned()));
    let (status, lines, _) = watch(&["--once", &html.address]);
    assert_eq!(status, Some(2));
    let message = of_type(&lines, "problem")[0]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("not the expected JSON"), "{message}");
}

#[test]
#[cfg(not(feature = "remote"))]
fn a_build_without_tls_says_so() {
    let (status, _, errors) = watch(&["https://127.0.0.1:1"]);
    assert_eq!(status, Some(2));
    assert!(errors.contains("install it with --features http,remote"), "{errors}");
}

/// A server with a certificate for 127.0.0.1 in `folder`; `None` without openssl.
#[cfg(feature = "remote")]
fn server_config(folder: &std::path::Path) -> Option<std::sync::Arc<rustls::ServerConfig>> {
    use rustls::pki_types::pem::PemObject as _;
    let (certificate, key) = elephant_testing::certificate::certificate(folder)?;
    let chain = vec![rustls::pki_types::CertificateDer::from_pem_file(certificate).unwrap()];
    let key = rustls::pki_types::PrivateKeyDer::from_pem_file(key).unwrap();
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Some(config.unwrap().with_no_client_auth().with_single_cert(chain, key).unwrap().into())
}

#[test]
#[cfg(feature = "remote")]
fn servers_behind_tls_are_asked_if_their_certificate_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let Some(config) = server_config(folder.path()) else { return };
    let flags = Arc::new(Mutex::new(Vec::new()));
    let webhook = FakeServer::start_tls(Arc::clone(&config), {
        let flags = Arc::clone(&flags);
        move |_, _, body| {
            flags.lock().unwrap().push(body.to_owned());
            (200, String::new())
        }
    });
    let master = FakeServer::start_tls(config, progress());
    let arguments = ["--detector", "spark-3", "--webhook", &webhook.address, &master.address];
    let known = folder.path().join("cert.pem");
    let (status, lines, errors) = watch_with(&arguments, &[("SSL_CERT_FILE", known.to_str().unwrap())]);
    assert_eq!(status, Some(0), "{errors}");
    assert_slow_task(&lines, "spark-3");
    assert_eq!(flags.lock().unwrap().len(), of_type(&lines, "flag").len());
    // The same server is not trusted without its certificate.
    let (status, lines, _) = watch_with(&["--once", &master.address], &[("SSL_CERT_FILE", "/dev/null")]);
    assert_eq!(status, Some(2));
    let problem = of_type(&lines, "problem")[0]["message"].as_str().unwrap().to_owned();
    assert!(problem.contains("certificate"), "{problem}");
}
