//! Object stores that speak the protocol of S3.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::{PATIENCE, RangeServer, Reply, Request, command, errors, json, output, problem, report};
use elephant_testing::{files_below, skipped};

/// With this variable, a missing moto fails the tests.
const REQUIRED: &str = "ELEPHANT_MOTO";

pub(super) fn with_endpoint(endpoint: &str, args: &[&str]) -> Output {
    let mut command = command(args);
    command.env("AWS_ENDPOINT_URL", endpoint).env("AWS_REGION", "us-east-1");
    command.env("AWS_ACCESS_KEY_ID", "id").env("AWS_SECRET_ACCESS_KEY", "secret");
    output(command)
}

fn analyze(endpoint: &str, args: &[&str]) -> Output {
    with_endpoint(endpoint, &[&["analyze", "--format", "json", "--no-progress"], args].concat())
}

/// A server of moto, which ends with the test.
struct Moto {
    process: Child,
    host: String,
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Moto {
    /// `None` if moto is not installed.
    fn start() -> Option<Self> {
        // Free a moment ago; nothing else asks for ports here.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
        let mut server = Command::new("moto_server");
        server.args(["-H", "127.0.0.1", "-p", &port]).stdin(Stdio::null());
        let process = server.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let Ok(process) = process else {
            assert!(
                std::env::var_os(REQUIRED).is_none(),
                "moto_server is missing: pip install 'moto[server,s3]'"
            );
            skipped::note("moto_server is not installed (pip install 'moto[server,s3]')");
            return None;
        };
        let mut moto = Self { process, host: format!("127.0.0.1:{port}") };
        let begun = Instant::now();
        while TcpStream::connect(&moto.host).is_err() {
            assert!(begun.elapsed() < PATIENCE, "moto_server does not listen");
            // The launcher of another Python may be there without moto.
            if moto.process.try_wait().unwrap().is_some() {
                assert!(std::env::var_os(REQUIRED).is_none(), "moto_server does not start");
                skipped::note("moto_server does not start (pip install 'moto[server,s3]')");
                return None;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Some(moto)
    }

    fn put(&self, path: &str, body: &[u8]) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let length = body.len();
        let host = &self.host;
        write!(
            stream,
            "PUT {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
        )
        .unwrap();
        stream.write_all(body).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }

    fn endpoint(&self) -> String {
        format!("http://{}", self.host)
    }
}

/// The files that are put into the bucket.
const FOLDERS: [&str; 5] =
    ["testdata/done", "testdata/hadoop1", "testdata/intermediate", "testdata/spark", "testdata/broken"];

/// A name as a part of an address.
fn escaped(path: &Path) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    path.to_str().unwrap().bytes().map(escape).collect()
}

fn with_histories(moto: &Moto) {
    moto.put("/bucket", b"");
    moto.put("/bucket/testdata/spark/", b"");
    for file in FOLDERS.into_iter().flat_map(|folder| files_below(Path::new(folder))) {
        moto.put(&format!("/bucket/{}", escaped(&file)), &std::fs::read(&file).unwrap());
    }
}

/// The report without the beginning of its addresses.
fn without(output: &Output, beginning: &str) -> String {
    assert!(!output.stdout.is_empty(), "{}", errors(output));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.replace(beginning, "")
}

#[test]
fn objects_of_a_store_give_the_bytes_of_the_folder() {
    let Some(moto) = Moto::start() else { return };
    with_histories(&moto);
    let job = "testdata/hadoop1/jt1_1386370000000_job_201311192236_0042_etl_nightly+sessions";
    for paths in [&FOLDERS[..], &["testdata/spark/3.5.9"], &[job]] {
        for scheme in ["s3", "s3a"] {
            let local = super::analyze(paths);
            let addresses: Vec<String> =
                paths.iter().map(|path| format!("{scheme}://bucket/{path}")).collect();
            let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
            let remote = analyze(&moto.endpoint(), &addresses);
            assert_eq!(remote.status.code(), local.status.code(), "{}", errors(&remote));
            assert_eq!(
                without(&remote, &format!("{scheme}://bucket/")),
                without(&local, "s3://"),
                "{paths:?}"
            );
        }
    }
}

#[test]
fn other_commands_and_lists_take_addresses_too() {
    let Some(moto) = Moto::start() else { return };
    with_histories(&moto);
    let place = "s3://bucket/testdata/spark";
    for command in ["nodes", "stragglers", "whatif"] {
        let args = |path| [command, "--format", "json", "--quiet", path];
        let local = output(super::command(&args("testdata/spark")));
        let remote = with_endpoint(&moto.endpoint(), &args(place));
        assert_eq!(without(&remote, "s3://bucket/"), without(&local, "s3://"), "{command}");
    }
    let list = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(list.path(), format!("{place}\ns3://bucket/missing\n")).unwrap();
    let remote = analyze(&moto.endpoint(), &["--files-from", list.path().to_str().unwrap()]);
    assert_eq!(remote.status.code(), Some(2));
    let told = json(&remote)["problems"].to_string();
    assert!(told.contains("there is no object of that name") && told.contains("in line 2 of"), "{told}");
    let missing = analyze(&moto.endpoint(), &["s3://other/x"]);
    assert!(problem(&missing).1.contains("there is no such bucket"), "{}", problem(&missing).1);
}

#[cfg(feature = "store")]
#[test]
fn a_second_ingest_opens_no_object() {
    let Some(moto) = Moto::start() else { return };
    with_histories(&moto);
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("x.db");
    let ingest = || {
        let args = ["ingest", "--store", store.to_str().unwrap(), "s3://bucket/testdata/spark"];
        let output = with_endpoint(&moto.endpoint(), &args);
        assert!(output.status.success(), "{}", errors(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let first = ingest();
    assert!(first.contains(" 0 unchanged") || !first.contains("unchanged"), "{first}");
    let second = ingest();
    assert!(second.contains("unchanged") && !second.contains(" 0 unchanged"), "{second}");
    moto.put(
        "/bucket/testdata/spark/new",
        &std::fs::read(format!("{}/app-20261121094318-0000.zstd", "testdata/spark/3.5.9/skew")).unwrap(),
    );
    assert_ne!(ingest(), second);
}

const KEY: &str = "logs/job_201311192236_0042_etl_nightly+sessions";

/// A store with one object, and with answers that a test changes.
fn fake(change: impl Fn(&Request, Reply) -> Reply + Send + Sync + 'static) -> RangeServer {
    fake_of(super::history(), change)
}

pub(super) fn fake_of(
    file: Vec<u8>,
    change: impl Fn(&Request, Reply) -> Reply + Send + Sync + 'static,
) -> RangeServer {
    RangeServer::start(move |request| {
        let size = file.len();
        let reply = if request.path.contains("list-type=2") {
            let list = format!(
                "<?xml version=\"1.0\"?><ListBucketResult><Name>bucket</Name><KeyCount>1</KeyCount><IsTruncated>false\
                 </IsTruncated><Contents><Key>{KEY}</Key><LastModified>2026-11-20T10:00:00.000Z</LastModified><ETag>\
                 \"v1\"</ETag><Size>{size}</Size></Contents></ListBucketResult>"
            );
            Reply::whole(list.as_bytes())
        } else if request.path.contains("comp=list") {
            let list = format!(
                "<?xml version=\"1.0\"?><EnumerationResults><Blobs><Blob><Name>{KEY}</Name><Properties><Last-Modified>Fri, \
                 20 Nov 2026 10:00:00 GMT</Last-Modified><Etag>v1</Etag><Content-Length>{size}</Content-Length>\
                 <Content-Type>text/plain</Content-Type></Properties></Blob></Blobs><NextMarker/></EnumerationResults>"
            );
            Reply::whole(list.as_bytes())
        } else if request.path.ends_with("nightly%2Bsessions") || request.path.ends_with("nightly+sessions") {
            Reply::of(&file, request)
                .header("ETag", "\"v1\"")
                .header("Last-Modified", "Fri, 20 Nov 2026 10:00:00 GMT")
        } else {
            Reply::status(404)
        };
        change(request, reply)
    })
}

pub(super) fn is_object(request: &Request) -> bool {
    request.method == "GET" && request.path.contains("nightly")
}

#[test]
fn stores_that_break_off_or_ignore_ranges_give_the_same_bytes() {
    let plain = fake(|_, reply| reply);
    let expected = analyze(&plain.url(""), &["s3://bucket/logs"]);
    assert!(expected.status.success(), "{}", errors(&expected));
    assert_eq!(json(&expected)["summary"]["applications"], 1);
    let count = std::sync::atomic::AtomicUsize::new(0);
    let breaking = fake(move |request, reply| {
        if !is_object(request) {
            return reply;
        }
        match count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0 => Reply::status(503),
            count if count < 5 => Reply { cut: Some(900 * count), ..reply },
            _ => reply,
        }
    });
    let whole = super::history();
    let without_ranges = fake(move |request, reply| {
        if is_object(request) {
            Reply { status: 200, body: whole.clone(), headers: reply.headers[1..].to_vec(), ..reply }
        } else {
            reply
        }
    });
    for server in [&breaking, &without_ranges] {
        let output = analyze(&server.url(""), &["s3://bucket/logs"]);
        assert_eq!(report(&output, "nothing"), report(&expected, "nothing"), "{}", errors(&output));
    }
    let requests = |server: &RangeServer| server.requests().iter().filter(|asked| is_object(asked)).count();
    assert_eq!(requests(&without_ranges), requests(&plain) + 1, "only the first range is asked for twice");
}

#[test]
fn a_list_that_ends_early_is_requested_again() {
    let expected = analyze(&fake(|_, reply| reply).url(""), &["s3://bucket/logs"]);
    let is_cut = std::sync::atomic::AtomicBool::new(true);
    let server = fake(move |request, mut reply| {
        let is_list = request.path.contains("list-type=2");
        if is_list && is_cut.swap(false, std::sync::atomic::Ordering::Relaxed) {
            reply.body.truncate(reply.body.len() / 2);
        }
        reply
    });
    let output = analyze(&server.url(""), &["s3://bucket/logs"]);
    assert_eq!(report(&output, "nothing"), report(&expected, "nothing"), "{}", errors(&output));
    let cut = fake(|request, mut reply| {
        if request.path.contains("list-type=2") {
            reply.body.truncate(reply.body.len() / 2);
        }
        reply
    });
    let (_, message) = problem(&analyze(&cut.url(""), &["s3://bucket/logs"]));
    assert!(
        message.contains("the list of objects ended early") && message.contains("try again"),
        "{message}"
    );
}

#[test]
fn refusals_and_failures_of_stores_are_told() {
    let refused = "<Error><Code>InvalidAccessKeyId</Code><Message>The key does not exist.</Message></Error>";
    let server = RangeServer::start(move |_| Reply { body: refused.into(), ..Reply::status(403) });
    for path in ["s3://bucket/logs", "s3://bucket"] {
        let refusal = analyze(&server.url(""), &[path]);
        assert_eq!(refusal.status.code(), Some(2));
        let (_, message) = problem(&refusal);
        assert!(message.contains("access was denied") && message.contains("AWS_ACCESS_KEY_ID"), "{message}");
        assert!(!message.contains("127.0.0.1"), "{message}");
    }
    let failing = fake(|request, reply| if is_object(request) { Reply::status(500) } else { reply });
    let output = analyze(&failing.url(""), &["s3://bucket/logs"]);
    assert_eq!(json(&output)["summary"]["applications"], 0);
    let (_, message) = problem(&output);
    assert!(message.contains("all attempts failed (status 500"), "{message}");
    let changed = fake(|request, reply| {
        if !is_object(request) {
            return reply;
        }
        Reply { headers: vec![reply.headers[0].clone()], ..reply }
            .header("ETag", "\"v2\"")
            .header("Last-Modified", "Fri, 20 Nov 2026 10:00:00 GMT")
    });
    let (_, message) = problem(&analyze(&changed.url(""), &["s3://bucket/logs"]));
    assert!(message.contains("it was replaced while it was being read"), "{message}");
}

/// The client is that of S3 with other requests; real stores were not at hand.
#[test]
fn stores_of_google_and_azure_give_the_same_bytes() {
    let server = fake(|_, reply| reply);
    let s3 = analyze(&server.url(""), &["s3://bucket/logs"]);
    assert_eq!(json(&s3)["summary"]["applications"], 1, "{}", errors(&s3));
    let endpoint = format!("http://{}", server.host);
    for (place, variables) in [
        ("gs://bucket/", [("GOOGLE_BASE_URL", endpoint.as_str()), ("GOOGLE_SKIP_SIGNATURE", "true")]),
        (
            "abfss://bucket@account.dfs.core.windows.net/",
            [("AZURE_ENDPOINT", endpoint.as_str()), ("AZURE_SKIP_SIGNATURE", "true")],
        ),
    ] {
        for name in ["logs", KEY] {
            let mut command =
                command(&["analyze", "--format", "json", "--no-progress", &format!("{place}{name}")]);
            command.envs(variables);
            let output = output(command);
            assert_eq!(report(&output, place), report(&s3, "s3://bucket/"), "{}", errors(&output));
        }
    }
}

/// A list of the object and of others, with what follows.
fn listed(others: &[&str], rest: &str) -> Reply {
    let item = |key: &str| {
        format!(
            "<Contents><Key>{key}</Key><LastModified>2026-11-20T10:00:00.000Z</LastModified><ETag>\"v1\"</ETag><Size>{}\
             </Size></Contents>",
            super::history().len()
        )
    };
    let items: String = others.iter().copied().chain([KEY]).map(item).collect();
    Reply::whole(format!("<ListBucketResult>{items}{rest}</ListBucketResult>").as_bytes())
}

/// The report on the one object that can be read of a list, with the only problem.
#[track_caller]
fn partial_list(page: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> String {
    let server =
        fake(move |request, reply| if request.path.contains("list-type=2") { page(request) } else { reply });
    let output = analyze(&server.url(""), &["s3://bucket/logs"]);
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    assert_eq!(json(&output)["summary"]["applications"], 1);
    problem(&output).1
}

#[test]
fn objects_that_a_list_leaves_out_are_told() {
    let message = partial_list(|_| listed(&[], "<IsTruncated>true</IsTruncated><NextMarker>x</NextMarker>"));
    assert!(message.contains("IsTruncated without NextContinuationToken"), "{message}");
    assert!(
        message.contains("it knows only version 1 of the list") && message.contains("--files-from"),
        "{message}"
    );
    let message = partial_list(|_| {
        let next = "<IsTruncated>true</IsTruncated><NextContinuationToken>0</NextContinuationToken>";
        listed(&[], next)
    });
    assert!(message.contains("the store repeats a part of its list"), "{message}");
}

#[test]
fn an_answer_that_is_no_list_does_not_end_one() {
    let error = "<?xml version=\"1.0\"?><Error><Code>InternalError</Code><Message>Wait</Message></Error>";
    let is_first = |request: &Request| {
        !request.path.contains("continuation-token") && !request.path.contains("start-after")
    };
    let more = "<IsTruncated>true</IsTruncated><NextContinuationToken>0</NextContinuationToken>";
    for other in [error, "<html>oops</html>"] {
        let other = other.to_owned();
        let message =
            partial_list(
                move |request| {
                    if is_first(request) { listed(&[], more) } else { Reply::whole(other.as_bytes()) }
                },
            );
        assert!(message.contains("something else came instead of a list of objects"), "{message}");
        assert!(message.contains("InternalError: Wait") || message.contains("oops"), "{message}");
        assert!(message.contains("6 attempts"), "{message}");
    }
    // An error may pass.
    let fails = std::sync::atomic::AtomicBool::new(true);
    let server = fake(move |request, reply| {
        let is_list = request.path.contains("list-type=2");
        if is_list && fails.swap(false, std::sync::atomic::Ordering::Relaxed) {
            return Reply::whole(error.as_bytes());
        }
        reply
    });
    let output = analyze(&server.url(""), &["s3://bucket/logs"]);
    assert!(output.status.success(), "{}", errors(&output));
    assert_eq!(json(&output)["summary"]["applications"], 1);
    // The login page of a proxy stays.
    let server = fake(|_, _| Reply::whole(b"<html>login please</html>"));
    let output = analyze(&server.url(""), &["s3://bucket"]);
    let (_, message) = problem(&output);
    assert_eq!(output.status.code(), Some(2));
    assert!(message.contains("it is not an object store that answers (<html>login please"), "{message}");
}

#[test]
fn a_store_that_asks_for_a_pause_gets_it() {
    let asks = std::sync::atomic::AtomicBool::new(true);
    let server = fake(move |request, reply| {
        if is_object(request) && asks.swap(false, std::sync::atomic::Ordering::Relaxed) {
            return Reply::status(503).header("Retry-After", "1");
        }
        reply
    });
    let begun = std::time::Instant::now();
    let output = analyze(&server.url(""), &["s3://bucket/logs"]);
    assert!(output.status.success(), "{}", errors(&output));
    assert!(begun.elapsed() >= std::time::Duration::from_secs(1));
}

#[test]
fn one_name_that_cannot_be_read_hides_no_other() {
    let message =
        partial_list(|_| listed(&["logs/a&#10;b", "logs/c//d"], "<IsTruncated>false</IsTruncated>"));
    assert!(message.contains("2 objects below it have names that cannot be read"), "{message}");
    assert!(message.contains(r#""logs/a\nb""#), "{message}");
}
