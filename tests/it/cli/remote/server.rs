//! Spark's history servers.

use serde_json::json;

use super::{RangeServer, Reply, Request, analyze, errors, json, output, problem, report};
use elephant_testing::make::Zip;

/// Applications with their logs and the second in which they began.
const APPS: [(&str, &str, i64); 2] = [
    ("app-20261121094318-0000", "testdata/spark/3.5.9/skew/app-20261121094318-0000.zstd", 1_795_254_198),
    ("app-20261121090043-0000", "testdata/spark/3.5.9/failures/app-20261121090043-0000.zstd", 1_795_251_643),
];

/// The logs of an application as a server sends them: made while they are sent.
fn logs(path: &str) -> Reply {
    let bytes = std::fs::read(path).unwrap();
    let name = path.rsplit('/').next().unwrap();
    Reply { is_chunked: true, ..Reply::whole(&Zip::new().member(name, &bytes).finish()) }
}

fn answer(request: &Request) -> Reply {
    let path = request.path.as_str();
    match path {
        "/api/v1/version" => return Reply::whole(br#"{"spark":"3.5.9"}"#),
        "/api/v1/applications" => {
            let list: Vec<_> = APPS
                .iter()
                .map(|(id, _, second)| {
                    json!({"id": id, "name": "x", "attempts": [{
                        "sparkUser": "bob", "startTimeEpoch": second * 1000, "lastUpdatedEpoch": second * 1000 + 9,
                        "completed": true,
                    }]})
                })
                .collect();
            return Reply::whole(json!(list).to_string().as_bytes());
        }
        "/" => return Reply::whole(b"<html>").header("Content-Type", "text/html"),
        _ => {}
    }
    let id = path.strip_prefix("/api/v1/applications/").and_then(|rest| rest.strip_suffix("/logs"));
    match APPS.iter().find(|(app, ..)| Some(*app) == id) {
        Some((_, file, _)) => logs(file),
        None => Reply::status(404),
    }
}

fn ids(output: &std::process::Output) -> Vec<String> {
    assert!(!output.stdout.is_empty(), "{}", errors(output));
    let apps = json(output)["applications"].as_array().unwrap().clone();
    let mut ids: Vec<String> = apps.iter().map(|app| app["id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

fn logs_read(server: &RangeServer) -> usize {
    server.requests().iter().filter(|asked| asked.path.ends_with("/logs")).count()
}

#[test]
fn all_applications_of_a_history_server_are_read_once() {
    let server = RangeServer::start(answer);
    let folder = tempfile::tempdir().unwrap();
    // The same names, so that the reports differ in places only.
    for (id, file, _) in APPS {
        let name = file.rsplit('/').next().unwrap();
        let zip = Zip::new().member(name, &std::fs::read(file).unwrap()).finish();
        let place = folder.path().join("api/v1/applications").join(id);
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("logs"), zip).unwrap();
    }
    let place = folder.path().to_str().unwrap();
    let expected = report(&analyze(&[place]), place);
    for page in ["", "history/", "history", "api/v1/applications"] {
        let before = logs_read(&server);
        let output = analyze(&[&server.url(page)]);
        assert!(output.status.success(), "{}", errors(&output));
        assert_eq!(report(&output, &format!("http://{}", server.host)), expected, "{page}");
        assert_eq!(logs_read(&server) - before, 2, "each log is sent once");
    }
}

#[test]
fn only_applications_that_are_read_are_fetched() {
    let server = RangeServer::start(answer);
    let [skew, failures] = [APPS[0].0, APPS[1].0];
    for (filter, expected) in [
        (["--app", skew], vec![skew]),
        (["--app", "app-2026112109*"], vec![failures, skew]),
        (["--since", "2026-11-21T09:30:00Z"], vec![skew]),
        (["--until", "2026-11-21T09:30:00Z"], vec![failures]),
    ] {
        let before = logs_read(&server);
        let output = analyze(&[filter[0], filter[1], &server.url("")]);
        assert_eq!(ids(&output), expected, "{filter:?}");
        assert_eq!(logs_read(&server) - before, expected.len(), "{filter:?}");
        // As for a folder, what is left out counts, and so does its file.
        let summary = &json(&output)["summary"];
        let (files, left_out) = (&summary["files"], APPS.len() - expected.len());
        let counts = [&files["found"], &files["skipped"], &summary["applications_left_out"]];
        assert_eq!(counts, [APPS.len(), left_out, left_out], "{filter:?}");
    }
}

#[test]
fn the_page_of_an_application_stands_for_its_logs() {
    let server = RangeServer::start(answer);
    for page in ["history/app-20261121094318-0000/jobs/", "api/v1/applications/app-20261121094318-0000"] {
        let output = analyze(&[&server.url(page)]);
        assert_eq!(ids(&output), [APPS[0].0], "{page}");
    }
    let output = analyze(&[&server.url("history/app-1")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(problem(&output).1.contains("it does not exist (status 404)"), "{}", problem(&output).1);
}

#[test]
fn logs_that_break_off_are_sent_again_from_the_start() {
    let count = std::sync::atomic::AtomicUsize::new(0);
    let server = RangeServer::start(move |request| match answer(request) {
        reply
            if request.path.ends_with("/logs")
                && count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < 2 =>
        {
            Reply { cut: Some(5000), ..reply }
        }
        reply => reply,
    });
    let output = analyze(&[&server.url("history/app-20261121094318-0000")]);
    assert_eq!(ids(&output), [APPS[0].0]);
    assert_eq!((json(&output)["applications"][0]["complete"].clone(), logs_read(&server)), (true.into(), 3));
}

#[test]
fn an_archive_without_its_end_is_requested_again() {
    let seen = std::sync::Mutex::new(std::collections::BTreeSet::new());
    let server = RangeServer::start(move |request| {
        let mut reply = answer(request);
        if request.path.ends_with("/logs") && seen.lock().unwrap().insert(request.path.clone()) {
            // The answer is whole, and the archive in it is not.
            reply.body.truncate(reply.body.len() / 2);
        }
        reply
    });
    let output = analyze(&[&server.url("")]);
    assert_eq!(ids(&output), [APPS[1].0, APPS[0].0]);
    assert_eq!((output.status.code(), logs_read(&server)), (Some(0), 4), "{}", errors(&output));
}

#[test]
fn a_list_that_breaks_off_is_told() {
    let server = RangeServer::start(|request| match answer(request) {
        reply if request.path.ends_with("/applications") => Reply { cut: Some(250), ..reply },
        reply => reply,
    });
    let output = analyze(&[&server.url("")]);
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    let told = json(&output)["problems"].to_string();
    assert!(told.contains("its list of applications cannot be read to the end"), "{told}");
}

#[test]
fn copies_are_removed_at_the_end() {
    let server = RangeServer::start(answer);
    let folder = tempfile::tempdir().unwrap();
    let mut command = super::command(&["analyze", "--quiet", &server.url("")]);
    command.env("TMPDIR", folder.path());
    assert!(output(command).status.success());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_server_that_fails_at_first_is_still_a_history_server() {
    let count = std::sync::atomic::AtomicUsize::new(0);
    let server =
        RangeServer::start(move |request| match count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0 | 2 => Reply::status(503),
            _ => answer(request),
        });
    assert_eq!(ids(&analyze(&[&server.url("")])).len(), 2);
    let refusing = RangeServer::start(|_| Reply::status(401));
    let (_, message) = problem(&analyze(&[&refusing.url("")]));
    assert!(message.contains("access was denied (status 401)"), "{message}");
}

/// As a server whose proxy asks for a login now and then.
fn with_logins(is_login: impl Fn(&str) -> bool + Send + Sync + 'static) -> RangeServer {
    RangeServer::start(move |request| {
        if request.path.ends_with("/logs") && is_login(&request.path) {
            let page =
                Reply::whole(b"<!DOCTYPE html><html>Log in</html>").header("Content-Type", "text/html");
            return Reply { is_chunked: true, ..page };
        }
        answer(request)
    })
}

#[test]
fn another_answer_than_logs_is_a_failure() {
    let server = with_logins(|path| path.contains(APPS[0].0));
    let output = analyze(&[&server.url("")]);
    assert_eq!(ids(&output), [APPS[1].0]);
    assert_eq!(json(&output)["summary"]["files"]["failed"], 1);
    let (_, message) = problem(&output);
    assert!(message.contains(&format!("applications/{}/logs", APPS[0].0)), "{message}");
    assert!(
        message.contains("a zip archive, but a web page came; open the address in a browser"),
        "{message}"
    );
    let text = RangeServer::start(|request| match answer(request) {
        reply if request.path.ends_with("/logs") => Reply { body: b"come\nback later".to_vec(), ..reply },
        reply => reply,
    });
    let (_, message) = problem(&analyze(&[&text.url("history/app-20261121094318-0000")]));
    assert!(message.contains("but \"come back later\" came"), "{message}");
}

#[cfg(feature = "store")]
#[test]
fn logs_that_did_not_come_are_read_by_the_next_ingest() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    let is_login = Arc::new(AtomicBool::new(true));
    let login = Arc::clone(&is_login);
    let server = with_logins(move |_| login.load(Ordering::Relaxed));
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("x.db");
    let ingest = || {
        let store = store.to_str().unwrap();
        let output = output(super::command(&["ingest", "--no-progress", "--store", store, &server.url("")]));
        (output.status.code(), String::from_utf8(output.stdout.clone()).unwrap(), errors(&output))
    };
    let (code, line, told) = ingest();
    assert!(code == Some(2) && line.contains("0 applications stored"), "{line}");
    assert!(told.contains("a web page came"), "{told}");
    is_login.store(false, Ordering::Relaxed);
    let (code, line, told) = ingest();
    assert!(code == Some(0) && line.contains("2 applications stored"), "{line}{told}");
    assert!(ingest().1.contains("2 unchanged"));
}
