//! A small HTTP server on this machine whose answers a test decides.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Status and body of an answer to a method, a path and a body.
type Answer = dyn Fn(&str, &str, &str) -> (u16, String) + Send + Sync;

/// A server that runs until it is dropped.
pub(super) struct FakeServer {
    pub address: String,
    is_over: Arc<AtomicBool>,
}

impl FakeServer {
    pub(super) fn start(answer: impl Fn(&str, &str, &str) -> (u16, String) + Send + Sync + 'static) -> Self {
        Self::serving("http", answer, |stream, answer| serve(stream, answer))
    }

    /// The same server with TLS.
    #[cfg(feature = "remote")]
    pub(super) fn start_tls(
        config: Arc<rustls::ServerConfig>,
        answer: impl Fn(&str, &str, &str) -> (u16, String) + Send + Sync + 'static,
    ) -> Self {
        Self::serving("https", answer, move |stream, answer| {
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).ok()?;
            serve(rustls::StreamOwned::new(connection, stream), answer)
        })
    }

    fn serving(
        scheme: &str,
        answer: impl Fn(&str, &str, &str) -> (u16, String) + Send + Sync + 'static,
        serve: impl Fn(TcpStream, &Answer) -> Option<()> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("{scheme}://{}", listener.local_addr().unwrap());
        let serve = Arc::new(serve);
        let is_over = Arc::new(AtomicBool::new(false));
        let (answer, over): (Arc<Answer>, _) = (Arc::new(answer), Arc::clone(&is_over));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let (answer, serve) = (Arc::clone(&answer), Arc::clone(&serve));
                thread::spawn(move || serve(stream.unwrap(), answer.as_ref()));
            }
        });
        Self { address, is_over }
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes up the listener.
        let _ = TcpStream::connect(self.address.rsplit('/').next().unwrap());
    }
}

/// Answers requests until the client closes the connection.
fn serve(stream: impl Read + Write, answer: &Answer) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first).ok()? == 0 {
            return None;
        }
        let mut words = first.split_whitespace();
        let (method, path) = (words.next()?, words.next()?);
        let mut len = 0;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            let header = header.trim_end().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                len = value.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; len];
        reader.read_exact(&mut body).ok()?;
        let (status, text) = answer(method, path, &String::from_utf8_lossy(&body));
        let stream = reader.get_mut();
        write!(
            stream,
            "HTTP/1.1 {status} -\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{text}",
            text.len()
        )
        .ok()?;
        stream.flush().ok()?;
    }
}
