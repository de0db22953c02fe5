//! From an alert to the message for each kind of receiver. The same alert gives the same bytes.

mod alertmanager;
mod cloudevents;
mod mail;
mod openlineage;
mod slack;

use serde::Serialize;
use twox_hash::XxHash3_128;

use super::file::{Receiver, To};
use super::{Alert, texts};

/// A message for a receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The name of the receiver.
    pub receiver: String,
    /// The job that it is about.
    pub job: String,
    /// What is sent.
    pub body: Body,
}

/// What is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// By HTTP.
    Post {
        /// What follows the address of the receiver.
        path: &'static str,
        /// The type of the content.
        content_type: &'static str,
        /// The content.
        content: String,
    },
    /// To the standard input of a program.
    Mail {
        /// The program with its arguments.
        command: Vec<String>,
        /// Headers and text.
        content: String,
    },
}

impl Body {
    /// The content as text.
    #[must_use]
    pub fn content(&self) -> &str {
        match self {
            Self::Post { content, .. } | Self::Mail { content, .. } => content,
        }
    }
}

/// The message of an alert for a receiver.
pub(crate) fn message(receiver: &Receiver, alert: &Alert) -> Message {
    const JSON: &str = "application/json; charset=utf-8";
    let post = |path, content_type, content| Body::Post { path, content_type, content };
    let body = match &receiver.to {
        To::Slack(_) => post("", JSON, json(&slack::message(alert))),
        To::Alertmanager(_, resolve_after) => {
            post("/api/v2/alerts", JSON, json(&alertmanager::alerts(alert, *resolve_after)))
        }
        To::CloudEvents(_) => {
            post("", "application/cloudevents+json; charset=utf-8", json(&cloudevents::event(alert)))
        }
        To::OpenLineage(_, namespace) => {
            post("/api/v1/lineage", JSON, json(&openlineage::event(alert, namespace.as_deref())))
        }
        To::Mail(mail) => Body::Mail { command: mail::command(mail), content: mail::message(mail, alert) },
    };
    Message { receiver: receiver.name.clone(), job: alert.job.clone(), body }
}

/// Indented, so that a dry run prints what is sent and people can read it.
fn json(value: &impl Serialize) -> String {
    // Maps with keys that are no texts cannot be written; there are none.
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// What identifies an alert: the run, and what is new or worse in it.
fn identity(alert: &Alert) -> u128 {
    let run = &alert.run;
    let mut text = format!(
        "{}\n{:?}\n{:?}\n{:?}\n{}",
        run.id, run.attempt, run.submitted_at, run.finished_at, alert.job
    );
    for found in alert.troubles.iter().flat_map(|news| &news.findings) {
        text = text + "\n" + &found.fingerprint + " " + &found.change + " " + found.severity.name();
    }
    XxHash3_128::oneshot(text.as_bytes())
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
