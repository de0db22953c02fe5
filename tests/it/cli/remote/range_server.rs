//! A web server on this machine that gives ranges of files, and fails in ways that a test chooses.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// What a client asks for.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub method: String,
    /// With what follows `?`.
    pub path: String,
    /// The first byte, and the one after the last.
    pub range: Option<(usize, usize)>,
    /// The value of this header.
    pub authorization: Option<String>,
}

/// What the server sends.
#[derive(Debug, Clone, Default)]
pub(super) struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    /// The connection ends after this many bytes of the body.
    pub cut: Option<usize>,
    /// The length is not sent, as by a server that creates the answer while it sends it.
    pub is_chunked: bool,
    /// Nothing is sent for ever.
    pub is_silent: bool,
}

impl Reply {
    pub(super) fn status(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    /// The range of a file that was asked for.
    pub(super) fn of(file: &[u8], request: &Request) -> Self {
        let Some((start, end)) = request.range else { return Self::whole(file) };
        let end = end.min(file.len());
        if start >= file.len() {
            let headers = vec![("Content-Range", format!("bytes */{}", file.len()))];
            return Self { status: 416, headers, ..Self::default() };
        }
        let range = format!("bytes {start}-{}/{}", end - 1, file.len());
        Self {
            status: 206,
            headers: vec![("Content-Range", range)],
            body: file[start..end].to_vec(),
            ..Self::default()
        }
    }

    pub(super) fn whole(file: &[u8]) -> Self {
        Self { status: 200, body: file.to_vec(), ..Self::default() }
    }

    pub(super) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

type Answer = dyn Fn(&Request) -> Reply + Send + Sync;

/// A server that runs until it is dropped.
pub(super) struct RangeServer {
    /// Host and port.
    pub host: String,
    requests: Arc<Mutex<Vec<Request>>>,
    is_over: Arc<AtomicBool>,
}

impl RangeServer {
    pub(super) fn start(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let (is_over, requests) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let (over, asked) = (Arc::clone(&is_over), Arc::clone(&requests));
        let answer: Arc<Answer> = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let (answer, asked) = (Arc::clone(&answer), Arc::clone(&asked));
                thread::spawn(move || serve(&stream.unwrap(), answer.as_ref(), &asked));
            }
        });
        Self { host, requests, is_over }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.host)
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for RangeServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes up the listener.
        let _ = TcpStream::connect(&self.host);
    }
}

/// Answers requests until one of the sides closes the connection.
fn serve(stream: &TcpStream, answer: &Answer, asked: &Mutex<Vec<Request>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let request = read(&mut reader)?;
        asked.lock().unwrap().push(request.clone());
        let reply = answer(&request);
        if reply.is_silent {
            thread::sleep(std::time::Duration::from_secs(600));
        }
        let mut out = stream;
        write!(out, "HTTP/1.1 {} -\r\n", reply.status).ok()?;
        for (name, value) in &reply.headers {
            write!(out, "{name}: {value}\r\n").ok()?;
        }
        let sent = &reply.body[..reply.cut.unwrap_or(reply.body.len()).min(reply.body.len())];
        if reply.is_chunked {
            write!(out, "Transfer-Encoding: chunked\r\n\r\n").ok()?;
            for piece in sent.chunks(4000) {
                write!(out, "{:x}\r\n", piece.len()).ok()?;
                out.write_all(piece).ok()?;
                write!(out, "\r\n").ok()?;
            }
            if reply.cut.is_none() {
                write!(out, "0\r\n\r\n").ok()?;
            }
        } else {
            let length = reply.headers.iter().any(|(name, _)| *name == "Content-Length");
            if !length {
                write!(out, "Content-Length: {}\r\n", reply.body.len()).ok()?;
            }
            write!(out, "\r\n").ok()?;
            if request.method != "HEAD" {
                out.write_all(sent).ok()?;
            }
        }
        if reply.cut.is_some() {
            return stream.shutdown(Shutdown::Both).ok();
        }
    }
}

fn read(reader: &mut BufReader<&TcpStream>) -> Option<Request> {
    let mut first = String::new();
    if reader.read_line(&mut first).ok()? == 0 {
        return None;
    }
    let mut words = first.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut request = Request { method, path, range: None, authorization: None };
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(':') else { return Some(request) };
        match name.to_ascii_lowercase().as_str() {
            "range" => {
                let (start, end) = value.trim().strip_prefix("bytes=")?.split_once('-')?;
                request.range = Some((start.parse().ok()?, end.parse::<usize>().ok()? + 1));
            }
            "authorization" => request.authorization = Some(value.trim().to_owned()),
            _ => {}
        }
    }
}
