//! Sends flags to an address, one after the other, until each is accepted.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::value::RawValue;

use super::rest::Client;

/// The wait before the second attempt; it doubles with each.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// A message with its number.
type Message = (u64, Box<RawValue>);

/// The result of sending a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was accepted.
    Sent(u64),
    /// The server refuses it, so it is not sent again; with the reason.
    Refused(u64, String),
    /// It was not accepted yet, and is sent again; with the reason. Reported once in a row.
    Delayed(String),
}

/// Sends messages in the background.
pub struct Webhook {
    messages: Sender<Message>,
    outcomes: Receiver<Outcome>,
    waiting: usize,
}

impl Webhook {
    /// Sends to this address.
    #[must_use]
    pub fn to(url: String, client: Client) -> Self {
        let (messages, queue) = channel();
        let (told, outcomes) = channel();
        // The thread ends when the queue is closed.
        thread::spawn(move || send_all(&url, &client, &queue, &told));
        Self { messages, outcomes, waiting: 0 }
    }

    /// Queues a message.
    pub fn send(&mut self, number: u64, message: Box<RawValue>) {
        self.waiting += usize::from(self.messages.send((number, message)).is_ok());
    }

    /// The results since the last call, after a wait of at most `within` for the messages that are queued.
    pub fn outcomes(&mut self, within: Duration) -> Vec<Outcome> {
        let until = Instant::now() + within;
        let mut outcomes = Vec::new();
        while self.waiting > 0 {
            let left = until.saturating_duration_since(Instant::now());
            match self.outcomes.recv_timeout(left) {
                Ok(outcome) => {
                    self.waiting -= usize::from(!matches!(outcome, Outcome::Delayed(_)));
                    outcomes.push(outcome);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        outcomes
    }

    /// The number of messages that were neither accepted nor refused.
    #[must_use]
    pub const fn waiting(&self) -> usize {
        self.waiting
    }
}

fn send_all(url: &str, client: &Client, queue: &Receiver<Message>, told: &Sender<Outcome>) {
    for (number, message) in queue {
        let mut wait = FIRST_WAIT;
        let outcome = loop {
            match client.post(url, &message) {
                Ok(()) => break Outcome::Sent(number),
                Err(error) if error.is_refusal() => break Outcome::Refused(number, error.to_string()),
                Err(error) => {
                    if wait == FIRST_WAIT && told.send(Outcome::Delayed(error.to_string())).is_err() {
                        return;
                    }
                    thread::sleep(wait);
                    wait = (2 * wait).min(LONGEST_WAIT);
                }
            }
        };
        if told.send(outcome).is_err() {
            return;
        }
    }
}
