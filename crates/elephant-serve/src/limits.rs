//! What a server admits, so that neither many nor slow clients can take all of a machine.

use std::time::Duration;

/// The limits of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Questions that are asked at the same time. Each may keep a processor busy.
    pub questions: usize,
    /// How long a request waits for its turn.
    pub turn: Duration,
    /// How long an answer may take.
    pub answer: Duration,
    /// Open connections; others wait until one of them is closed.
    pub connections: usize,
    /// How long a client may take to send the head of a request, and an open connection may wait for the next one.
    pub head: Duration,
    /// The longest head, in bytes. Hyper refuses a smaller limit than 8,192.
    pub head_bytes: usize,
    /// How long a connection stays open. A client that does not read its answer is cut off then.
    pub connection: Duration,
    /// How long the answers that have begun may take after the server was told to stop.
    pub stop: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            questions: 8,
            turn: Duration::from_secs(5),
            answer: Duration::from_secs(20),
            connections: 1000,
            head: Duration::from_secs(10),
            head_bytes: 16 * 1024,
            connection: Duration::from_secs(120),
            stop: Duration::from_secs(10),
        }
    }
}
