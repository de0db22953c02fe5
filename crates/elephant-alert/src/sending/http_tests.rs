//! Receivers by HTTP, on sockets of this machine.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::tests::{HOUR, Stored, at, file};
use super::*;
use crate::receivers::testing::alert_with;

/// A request: its head, and what follows.
type Request = (String, String);

/// A server that answers the requests in turn by these texts; the last one is repeated.
struct Server {
    address: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

const OK: &str = "200 OK\r\n";
/// It reads the request, and never answers.
const SILENT: &str = "";

impl Server {
    fn start(answers: &'static [&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let shared = Arc::clone(&shared);
                thread::spawn(move || answer(&stream.unwrap(), answers, &shared));
            }
        });
        Self { address, requests }
    }

    fn count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    fn request(&self, at: usize) -> Request {
        self.requests.lock().unwrap()[at].clone()
    }

    /// A file with this server as a webhook, and more keys of it.
    fn file(&self, more: &str) -> AlertFile {
        file(&format!("bus: {{cloudevents: {{url: '{}/in'{more}}}}}", self.address), "bus")
    }
}

fn answer(stream: &TcpStream, answers: &[&str], requests: &Mutex<Vec<Request>>) {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or_default() == 0 {
            return;
        }
        if line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head += &line;
    }
    let mut content = vec![0; length];
    reader.read_exact(&mut content).unwrap();
    let mut requests = requests.lock().unwrap();
    requests.push((head, String::from_utf8(content).unwrap()));
    let text = answers[(requests.len() - 1).min(answers.len() - 1)];
    drop(requests);
    if text == SILENT {
        thread::sleep(Duration::from_secs(20));
        return;
    }
    let mut stream = stream;
    let _ = write!(stream, "HTTP/1.1 {text}Content-Length: 0\r\nConnection: close\r\n\r\n");
}

/// One alert for this file at this hour; none if it is told already.
fn turn(stored: &Stored, file: &AlertFile, hour: i64) -> Delivered {
    let alerts = if hour == 0 { vec![alert_with("etl", 1)] } else { Vec::new() };
    deliver(&stored.store, file, &alerts, at(hour * HOUR)).unwrap()
}

#[test]
fn a_message_is_accepted_with_its_token_and_not_sent_again() {
    let (stored, server) = (Stored::new(), Server::start(&[OK]));
    let token = stored.folder.path().join("token");
    std::fs::write(&token, "s3cret\n").unwrap();
    let file = server.file(&format!(", token_file: '{}'", token.display()));
    assert_eq!(turn(&stored, &file, 0), Delivered { sent: 1, ..Delivered::default() });
    assert_eq!(turn(&stored, &file, 0).sent + turn(&stored, &file, 1).sent, 0);
    let (head, content) = server.request(0);
    assert!(head.starts_with("POST /in HTTP/1.1\r\n"), "{head}");
    let head = head.to_ascii_lowercase();
    for header in
        ["authorization: bearer s3cret\r\n", "content-type: application/cloudevents+json; charset=utf-8\r\n"]
    {
        assert!(head.contains(header), "{head}");
    }
    assert_eq!(serde_json::from_str::<serde_json::Value>(&content).unwrap()["specversion"], "1.0");
    assert_eq!(server.count(), 1);
}

#[test]
fn a_receiver_that_fails_for_a_moment_is_tried_again_in_the_same_turn() {
    let (stored, server) = (Stored::new(), Server::start(&["500 -\r\n", "503 -\r\n", OK]));
    assert_eq!(turn(&stored, &server.file(""), 0), Delivered { sent: 1, ..Delivered::default() });
    // The same event is recognised by its id.
    let events: Vec<String> = (0..3).map(|at| server.request(at).1).collect();
    assert!(server.count() == 3 && events.iter().all(|event| *event == events[0]));
}

#[test]
fn a_receiver_that_answers_500_is_tried_a_few_times_and_in_the_next_turn() {
    let (stored, server) = (Stored::new(), Server::start(&["500 -\r\n", "500 -\r\n", "500 -\r\n", OK]));
    let file = server.file("");
    let failed = turn(&stored, &file, 0);
    let expected = "bus: it answers with status 500; 1 alert waits for the next turn, at most a day";
    assert_eq!((failed.sent, failed.waiting, failed.warnings), (0, 1, vec![expected.to_owned()]));
    assert_eq!(server.count(), 3);
    assert_eq!(turn(&stored, &file, 1), Delivered { sent: 1, ..Delivered::default() });
    assert_eq!(server.count(), 4);
}

#[test]
fn a_receiver_that_asks_for_time_gets_it_if_it_is_not_too_long() {
    let (stored, server) = (Stored::new(), Server::start(&["429 -\r\nRetry-After: 1\r\n", OK]));
    let begun = Instant::now();
    assert_eq!(turn(&stored, &server.file(""), 0).sent, 1);
    assert!(begun.elapsed() >= Duration::from_secs(1));
    let (stored, server) = (Stored::new(), Server::start(&["429 -\r\nRetry-After: 3600\r\n", OK]));
    let begun = Instant::now();
    let failed = turn(&stored, &server.file(""), 0);
    assert!(failed.warnings[0].starts_with("bus: it answers with status 429; 1 alert waits"), "{failed:?}");
    assert!(begun.elapsed() < Duration::from_secs(1) && server.count() == 1);
}

#[test]
fn what_a_receiver_refuses_is_dropped_and_the_next_message_is_sent() {
    let (stored, server) = (Stored::new(), Server::start(&["400 -\r\n", OK]));
    let alerts = [alert_with("a", 1), alert_with("b", 1)];
    let delivered = deliver(&stored.store, &server.file(""), &alerts, at(0)).unwrap();
    let expected = "bus: an alert on spark · a was refused and is dropped: it answers with status 400";
    assert_eq!((delivered.sent, delivered.waiting, delivered.warnings), (1, 0, vec![expected.to_owned()]));
}

#[test]
fn a_wrong_token_holds_up_all_messages_until_it_is_right() {
    let (stored, server) = (Stored::new(), Server::start(&["403 -\r\n", OK]));
    let file = server.file("");
    let alerts = [alert_with("a", 1), alert_with("b", 1)];
    let failed = deliver(&stored.store, &file, &alerts, at(0)).unwrap();
    assert_eq!((failed.sent, failed.waiting, server.count()), (0, 2, 1));
    assert_eq!(
        failed.warnings,
        ["bus: it answers with status 403; 2 alerts wait for the next turn, at most a day"]
    );
    assert_eq!(turn(&stored, &file, 1).sent, 2);
}

#[test]
fn redirects_are_not_followed() {
    let other = Server::start(&[OK]);
    let location: &'static str =
        Box::leak(format!("302 -\r\nLocation: {}/x\r\n", other.address).into_boxed_str());
    let answers: &'static [&'static str] = Box::leak(vec![location].into_boxed_slice());
    let (stored, server) = (Stored::new(), Server::start(answers));
    let failed = turn(&stored, &server.file(""), 0);
    assert_eq!((failed.sent, failed.waiting, other.count()), (0, 1, 0), "{failed:?}");
}

#[test]
fn slow_and_dead_receivers_hold_up_neither_the_turn_nor_others() {
    let (slow, works) = (Server::start(&[SILENT]), Server::start(&[OK]));
    // Nothing listens there any more.
    let dead = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let receivers = format!(
        "slow: {{cloudevents: {{url: '{}'}}}}\n  dead: {{cloudevents: {{url: 'http://{dead}/s3cret'}}}}\n  works: {{cloudevents: {{url: '{}'}}}}",
        slow.address, works.address
    );
    let file = file(&receivers, "slow, dead, works");
    let stored = Stored::new();
    let begun = Instant::now();
    let delivered = turn(&stored, &file, 0);
    assert!(begun.elapsed() < Duration::from_secs(9), "{:?}", begun.elapsed());
    assert_eq!((delivered.sent, delivered.waiting, works.count()), (1, 2, 1));
    assert_eq!(delivered.warnings.len(), 2);
    assert_eq!(
        delivered.warnings[0],
        "slow: it does not answer in time; 1 alert waits for the next turn, at most a day"
    );
    assert!(delivered.warnings[1].starts_with("dead: it cannot be reached"), "{delivered:?}");
    assert!(!delivered.warnings.concat().contains("s3cret"));
}
