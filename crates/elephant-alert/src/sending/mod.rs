//! Brings alerts to their receivers. Those of one reading and those that wait from earlier ones are sent to all receivers
//! at the same time, within a bound that all of them share. What a receiver does not accept waits in the store for the next
//! reading, for a day.

mod program;
mod transport;

use std::sync::mpsc::{Receiver as Outcomes, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::Alert;
use super::file::{AlertFile, Receiver};
use super::receivers::{Message, message};
use elephant_base::units::{Millis, Timestamp};
use elephant_store::{Store, StoreError, WaitingAlert};
use transport::{Failure, Transport};

/// An alert that could not be sent for so long is dropped.
const LONGEST_WAIT: Millis = Millis::new(86_400_000);
/// How often a message is tried in one reading.
const TRIES: u32 = 3;
/// The wait before the second try; it doubles with each.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The time that a receiver has beyond the bound to say that it is over.
const GRACE: Duration = Duration::from_secs(1);

/// What became of alerts.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// Messages that were accepted.
    pub sent: u64,
    /// Messages that wait: for the end of quiet hours, or because their receiver did not accept them.
    pub waiting: u64,
    /// What went wrong, one line for each receiver.
    pub warnings: Vec<String>,
}

/// What became of a message.
enum Outcome {
    Sent,
    /// Another try would not help.
    Refused(String),
    /// The receiver does not work, so no other message is tried.
    Failed(String),
}

/// The alert that waits for a receiver from now on.
pub(crate) fn waiting(receiver: &Receiver, alert: &Alert, now: Timestamp) -> WaitingAlert {
    WaitingAlert {
        receiver: receiver.name.clone(),
        job: alert.job.clone(),
        severity: alert.severity,
        queued: now,
        due: receiver.quiet.map_or(now, |quiet| quiet.ends_after(now)),
        // An alert has no maps, so that it can always be written.
        alert: serde_json::to_string(alert).unwrap_or_default(),
    }
}

/// Sends these alerts to their receivers, and those that wait.
///
/// # Errors
/// If the store cannot be read or written. Receivers that do not work are no error.
pub fn deliver(
    store: &Store,
    file: &AlertFile,
    alerts: &[Alert],
    now: Timestamp,
) -> Result<Delivered, StoreError> {
    let mut delivered = Delivered::default();
    let dropped = match store.drop_old_alerts(now, LONGEST_WAIT)? {
        0 => None,
        1 => Some("an alert that could not be sent for a day is dropped".to_owned()),
        count => Some(format!("{count} alerts that could not be sent for a day are dropped")),
    };
    delivered.warnings.extend(dropped);
    for alert in alerts {
        for receiver in file.receivers_of(alert) {
            store.queue_alert(&waiting(receiver, alert, now))?;
        }
    }
    let deadline = Instant::now() + Duration::from_millis(file.within.get());
    let mut running = Vec::new();
    for receiver in &file.receivers {
        let messages = due(store, receiver, now, &mut delivered)?;
        if !messages.is_empty() {
            running.push((receiver, messages.clone(), start(receiver, messages, deadline)));
        }
    }
    for (receiver, messages, outcomes) in running {
        record(store, (receiver, &messages), (&outcomes, deadline + GRACE), now, &mut delivered)?;
    }
    for receiver in &file.receivers {
        delivered.waiting += store.count_waiting_alerts(&receiver.name)?;
    }
    Ok(delivered)
}

/// The messages for a receiver that may be sent now.
fn due(
    store: &Store,
    receiver: &Receiver,
    now: Timestamp,
    delivered: &mut Delivered,
) -> Result<Vec<Message>, StoreError> {
    // What was found before quiet hours and not accepted waits for their end, too.
    if receiver.quiet.is_some_and(|quiet| quiet.ends_after(now) > now) {
        return Ok(Vec::new());
    }
    let mut messages = Vec::new();
    for waiting in store.due_alerts(&receiver.name, now)? {
        let Ok(alert) = serde_json::from_str::<Alert>(&waiting.alert) else {
            let why = "an alert of another version of elephant-rs cannot be read";
            delivered.warnings.push(format!("{}: {why}", receiver.name));
            continue;
        };
        if store.begin_alert(&receiver.name, &waiting.job, now)? {
            messages.push(message(receiver, &alert));
        }
    }
    Ok(messages)
}

/// Begins to send messages in the background. What becomes of each is told in their order, until one fails.
fn start(receiver: &Receiver, messages: Vec<Message>, deadline: Instant) -> Outcomes<Outcome> {
    let (told, outcomes) = channel();
    let receiver = receiver.clone();
    // If no thread can be started, nothing is told, and all messages wait.
    let _ = thread::Builder::new()
        .name("alerts".to_owned())
        .spawn(move || send_all(&receiver, &messages, deadline, &told));
    outcomes
}

fn send_all(receiver: &Receiver, messages: &[Message], deadline: Instant, told: &Sender<Outcome>) {
    let transport = match Transport::to(receiver) {
        Ok(transport) => transport,
        Err(why) => return drop(told.send(Outcome::Failed(why))),
    };
    for message in messages {
        let outcome = send(&transport, message, deadline);
        let is_over = matches!(outcome, Outcome::Failed(_));
        if told.send(outcome).is_err() || is_over {
            return;
        }
    }
}

/// Sends a message, several times if the receiver may accept it later.
fn send(transport: &Transport, message: &Message, deadline: Instant) -> Outcome {
    let mut wait = FIRST_WAIT;
    for tries in 1.. {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        let (why, after) = match transport.send(message, left) {
            Ok(()) => return Outcome::Sent,
            Err(Failure::Refused(why)) => return Outcome::Refused(why),
            Err(Failure::Broken(why)) => return Outcome::Failed(why),
            Err(Failure::Later { why, after }) => (why, after.unwrap_or(wait)),
        };
        if tries == TRIES || Instant::now() + after >= deadline {
            return Outcome::Failed(why);
        }
        thread::sleep(after);
        wait *= 2;
    }
    Outcome::Failed("the time for all receivers is over".to_owned())
}

/// Records what became of the messages of a receiver.
fn record(
    store: &Store,
    (receiver, messages): (&Receiver, &[Message]),
    (outcomes, until): (&Outcomes<Outcome>, Instant),
    begun: Timestamp,
    delivered: &mut Delivered,
) -> Result<(), StoreError> {
    let name = &receiver.name;
    let (mut left, mut failure) = (messages.iter(), None);
    while failure.is_none() {
        let Some(message) = left.as_slice().first() else { break };
        let wait = until.saturating_duration_since(Instant::now());
        match outcomes.recv_timeout(wait) {
            Ok(Outcome::Sent) => {
                store.end_alert(name, &message.job, begun)?;
                delivered.sent += 1;
            }
            Ok(Outcome::Refused(why)) => {
                store.end_alert(name, &message.job, begun)?;
                let what = format!("{name}: an alert on {} was refused and is dropped: {why}", message.job);
                delivered.warnings.push(what);
            }
            Ok(Outcome::Failed(why)) => {
                failure = Some(why);
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => {
                failure = Some("it could not be told".to_owned());
                continue;
            }
            // Whether it was sent is unknown, so that it is not tried again soon.
            Err(RecvTimeoutError::Timeout) => {
                failure = Some("it does not end in time".to_owned());
                left.next();
                continue;
            }
        }
        left.next();
    }
    let Some(why) = failure else { return Ok(()) };
    let count = left.as_slice().len();
    for message in left {
        store.leave_alert(name, &message.job, begun)?;
    }
    let wait = if count == 1 { "1 alert waits".to_owned() } else { format!("{count} alerts wait") };
    delivered.warnings.push(format!("{name}: {why}; {wait} for the next turn, at most a day"));
    Ok(())
}

#[cfg(test)]
#[cfg(all(unix, feature = "http"))]
mod http_tests;
#[cfg(test)]
#[cfg(unix)]
mod tests;
