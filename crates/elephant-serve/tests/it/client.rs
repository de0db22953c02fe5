//! A server on a free port, and a client that shows every byte of an answer.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use elephant_heuristics::BUILT_IN;
use elephant_ruleset::RuleSet;
use elephant_serve::{Access, Ingest, Limits, Options, ServeError, Server, Stopper};
use elephant_store::Place;

/// A server that is stopped when it is dropped.
pub(crate) struct Running {
    pub address: SocketAddr,
    pub stopper: Stopper,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
}

/// The options of a server on a free port.
pub(crate) fn options(store: Place) -> Options {
    Options {
        listen: "127.0.0.1:0".parse().unwrap(),
        access: Access::default(),
        store,
        rules: RuleSet::new(BUILT_IN).unwrap(),
        limits: Limits::default(),
        ingest: None::<Ingest>,
        posting: None,
        public_url: None,
        tell: |_| (),
    }
}

impl Running {
    pub(crate) fn start(options: Options) -> Self {
        let server = Server::bind(options).unwrap();
        let (address, stopper) = (server.address().unwrap(), server.stopper());
        Self { address, stopper, thread: Some(std::thread::spawn(|| server.run())) }
    }

    /// Waits for the end of a server that was told to stop.
    pub(crate) fn ended(mut self) -> Result<(), ServeError> {
        self.thread.take().unwrap().join().unwrap()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, "")
    }

    /// Sends a request with these lines in its head.
    pub(crate) fn ask(&self, method: &str, path: &str, lines: &str) -> Answer {
        let host = if lines.contains("Host:") { "" } else { "Host: localhost\r\n" };
        self.send(&format!("{method} {path} HTTP/1.1\r\n{host}{lines}Connection: close\r\n\r\n"))
    }

    pub(crate) fn send(&self, request: &str) -> Answer {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        // A server that refuses a request may close the connection before all of it was read.
        let _ = stream.read_to_end(&mut answer);
        Answer::of(&String::from_utf8(answer).unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Answer {
    pub(crate) fn of(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// The value of a header; empty without it.
    pub(crate) fn header(&self, name: &str) -> &str {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}
