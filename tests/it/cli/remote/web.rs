//! Files of web servers.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{HISTORY, RangeServer, Reply, Request, analyze, errors, history, json, problem, report};

const NAME: &str = "job_201311192236_0042_etl_nightly+sessions";

/// The report on the history in a folder without other files.
fn expected() -> String {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join(NAME);
    std::fs::copy(HISTORY, &copy).unwrap();
    report(&analyze(&[copy.to_str().unwrap()]), folder.path().to_str().unwrap())
}

fn from(server: &RangeServer) -> String {
    let output = analyze(&[&server.url(NAME)]);
    assert!(output.status.success(), "{}", errors(&output));
    report(&output, &format!("http://{}", server.host))
}

/// A server with the history, and with nothing else.
fn only(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> RangeServer {
    RangeServer::start(
        move |request| if request.path.ends_with(NAME) { answer(request) } else { Reply::status(404) },
    )
}

#[test]
fn a_file_of_a_web_server_gives_the_bytes_of_the_file() {
    let file = history();
    let server = only(move |request| Reply::of(&file, request));
    assert_eq!(from(&server), expected());
    assert!(
        server.requests().iter().all(|request| request.method == "GET" && request.authorization.is_none())
    );
}

#[test]
fn servers_without_ranges_are_read_whole() {
    let file = history();
    let server = only(move |_| Reply::whole(&file));
    assert_eq!(from(&server), expected());
    let file = history();
    let server = only(move |_| Reply { is_chunked: true, ..Reply::whole(&file) });
    assert_eq!(from(&server), expected());
}

#[test]
fn large_files_of_servers_without_ranges_are_copied_once() {
    // More than the first range, so that the rest is asked for.
    let packed = std::fs::read("testdata/spark/3.5.9/skew/app-20261121094318-0000.zstd").unwrap();
    let file = zstd::decode_all(&packed[..]).unwrap();
    assert!(file.len() > 200_000);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("app"), &file).unwrap();
    let place = folder.path().to_str().unwrap();
    let expected = report(&analyze(&[&format!("{place}/app")]), place);
    let served = file.clone();
    let server = RangeServer::start(move |_| Reply::whole(&served));
    let output = analyze(&[&server.url("app")]);
    assert_eq!(report(&output, &format!("http://{}", server.host)), expected);
    // The requests: whether it is a page, its size, the first range (twice), the second range, and the copy.
    assert!(server.requests().len() <= 6, "{:?}", server.requests());
}

#[test]
fn broken_connections_and_passing_failures_are_tried_again() {
    let (file, count) = (history(), AtomicUsize::new(0));
    let server = only(move |request| match count.fetch_add(1, Ordering::Relaxed) {
        0 => Reply::status(503),
        1 => Reply::of(&file, request),
        // Each answer breaks off later than the one before.
        count if count < 6 => Reply { cut: Some(700 * count), ..Reply::of(&file, request) },
        _ => Reply::of(&file, request),
    });
    assert_eq!(from(&server), expected());
    let starts: Vec<usize> = server.requests().iter().filter_map(|asked| Some(asked.range?.0)).collect();
    assert!(starts.iter().any(|start| *start >= 1400), "it reads on where the connection broke: {starts:?}");
}

#[test]
fn an_answer_that_always_breaks_off_is_a_failure_and_no_short_history() {
    let file = history();
    let server = only(move |request| Reply { cut: Some(0), ..Reply::of(&file, request) });
    let output = analyze(&[&server.url(NAME)]);
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    let (_, message) = problem(&output);
    assert!(message.contains("all attempts failed") && message.contains("attempts"), "{message}");
    assert_eq!(json(&output)["summary"]["applications"], 0);
}

#[test]
fn a_file_that_is_replaced_while_it_is_read_is_one_problem() {
    let (file, count) = (history(), AtomicUsize::new(0));
    let server = only(move |request| {
        // The first two requests ask what it is.
        let version = usize::from(count.fetch_add(1, Ordering::Relaxed) >= 2);
        Reply::of(&file, request).header("ETag", &format!("\"{version}\""))
    });
    let output = analyze(&[&server.url(NAME)]);
    let (_, message) = problem(&output);
    assert!(message.contains("it was replaced while it was being read"), "{message}");
    assert_eq!(json(&output)["summary"]["applications"], 0);
}

#[test]
fn refusals_say_what_to_do_and_are_not_repeated() {
    for (status, expected) in [
        (
            401,
            "access was denied (status 401); if it asks for a user and a password, write USER:PASSWORD@ before the host",
        ),
        (403, "access was denied (status 403)"),
        (404, "it does not exist (status 404); check the spelling"),
        (400, "status 400"),
    ] {
        let server = RangeServer::start(move |_| Reply::status(status));
        let output = analyze(&[&server.url(NAME)]);
        assert_eq!(output.status.code(), Some(2), "{status}: {}", errors(&output));
        let (_, message) = problem(&output);
        assert!(message.contains(expected), "{status}: {message}");
        assert!(server.requests().len() <= 4, "{status}: {:?}", server.requests());
    }
    let server = RangeServer::start(|_| Reply::status(500));
    let (_, message) = problem(&analyze(&[&server.url(NAME)]));
    assert!(message.contains("all attempts failed (status 500, 6 attempts)"), "{message}");
}

#[test]
fn a_server_that_is_silent_takes_no_longer_than_max_time() {
    let server = RangeServer::start(|_| Reply { is_silent: true, ..Reply::status(200) });
    let begun = std::time::Instant::now();
    let output = analyze(&["--max-time", "1s", &server.url(NAME)]);
    assert!(begun.elapsed().as_secs() < 15, "{:?}", begun.elapsed());
    let (code, message) = problem(&output);
    assert_eq!(code, "limit-reached", "{message}");
}

#[test]
fn passwords_and_signatures_are_sent_and_not_shown() {
    let file = history();
    let server = only(move |request| Reply::of(&file, request));
    let signed = format!("http://bob:secret@{}/x?sig=hidden&f=/{NAME}", server.host);
    let output = analyze(&[&signed]);
    assert!(output.status.success(), "{}", errors(&output));
    let text = report(&output, "nothing") + &errors(&output);
    assert!(!text.contains("secret") && !text.contains("hidden") && !text.contains("bob@"), "{text}");
    let asked = server.requests();
    assert!(
        asked.iter().any(|asked| asked.authorization.as_deref() == Some("Basic Ym9iOnNlY3JldA==")),
        "{asked:?}"
    );
    assert!(asked.iter().any(|asked| asked.path.contains("sig=hidden")), "{asked:?}");
    let output = analyze(&[&format!("http://bob:secret@{}/missing?token=hidden", server.host)]);
    let text = report(&output, "nothing") + &errors(&output);
    assert!(!text.contains("secret") && !text.contains("hidden"), "{text}");
}

#[test]
fn folders_of_web_servers_are_not_listed() {
    let server = RangeServer::start(|_| Reply::whole(b"<html>").header("Content-Type", "text/html"));
    let output = analyze(&[&server.url("logs/")]);
    assert_eq!(output.status.code(), Some(2));
    let (_, message) = problem(&output);
    assert!(message.contains("web servers do not list their files"), "{message}");
}

/// A server of Hadoop with its pages and answers.
fn of_hadoop(info: &'static str) -> RangeServer {
    RangeServer::start(move |request| {
        let answer = |json: &str| Reply::whole(json.as_bytes()).header("Content-Type", "application/json");
        match request.path.as_str() {
            "/ws/v1/history/info" if info.contains("historyInfo") => answer(info),
            "/ws/v1/cluster/info" if info.contains("clusterInfo") => answer(info),
            "/ws/v1/history/mapreduce/jobs?limit=1" => {
                answer(r#"{"jobs":{"job":[{"id":"job_1_7","state":"SUCCEEDED"}]}}"#)
            }
            "/ws/v1/history/mapreduce/jobs/job_1_7/conf" => answer(
                r#"{"conf":{"path":"hdfs://nn:8020/done/2026/11/20/000000/job_1_7_conf.xml","property":[{"name":"a","value":"b"}]}}"#,
            ),
            path if path.starts_with("/ws/") && !path.contains("jobs") => Reply::status(404),
            path if path.contains("/api/v1/") => Reply::status(404),
            _ => Reply::whole(b"<html>").header("Content-Type", "text/html"),
        }
    })
}

#[test]
fn servers_of_hadoop_are_told_with_the_folder_to_read() {
    let server = of_hadoop(r#"{"historyInfo":{"hadoopVersion":"3.4.0"}}"#);
    for (page, read) in [
        ("", "read the folder of the job histories instead: hdfs://nn:8020/done"),
        ("jobhistory", "read the folder of the job histories instead: hdfs://nn:8020/done"),
        ("ws/v1/history", "read the folder of the job histories instead: hdfs://nn:8020/done"),
        ("ws/v1/history/mapreduce/jobs", "read the folder of the job histories instead: hdfs://nn:8020/done"),
        ("jobhistory/job/job_1_7", "--app job_1_7 hdfs://nn:8020/done/2026/11/20/000000"),
        ("jobhistory/job/job_1_8", "such as hdfs://NAMENODE:8020/mr-history/done"),
    ] {
        let output = analyze(&[&server.url(page)]);
        assert_eq!(output.status.code(), Some(2), "{page}");
        let (_, message) = problem(&output);
        assert!(message.contains("it is MapReduce's history server"), "{page}: {message}");
        assert!(message.ends_with(read), "{page}: {message}");
    }
    let server = of_hadoop(r#"{"clusterInfo":{"state":"STARTED"}}"#);
    for page in ["", "cluster/apps", "ws/v1/cluster/apps"] {
        let (_, message) = problem(&analyze(&[&server.url(page)]));
        assert!(
            message.contains("it is YARN's resource manager, which has no histories"),
            "{page}: {message}"
        );
    }
}
