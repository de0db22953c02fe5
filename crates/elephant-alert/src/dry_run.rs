//! What would be sent, as text: nothing is sent, and nothing is written.

use std::fmt::Write as _;

use super::Alert;
use super::file::{AlertFile, Receiver};
use super::receivers::{Body, message};
use super::sending::waiting;
use elephant_base::units::Timestamp;
use elephant_store::{Store, StoreError};

/// What these alerts would send now, message by message, as the bytes that would be sent. Secrets are named, not shown.
///
/// # Errors
/// If the store cannot be read.
pub fn dry_run(
    store: &Store,
    file: &AlertFile,
    alerts: &[Alert],
    now: Timestamp,
) -> Result<String, StoreError> {
    let mut text = String::new();
    for alert in alerts {
        for receiver in file.receivers_of(alert) {
            let new = waiting(receiver, alert, now);
            // Writing to a text does not fail.
            let _ = write!(text, "# {} ({})", receiver.name, receiver.kind());
            if !store.would_queue_alert(&new)? {
                let _ = writeln!(text, ": nothing, it got or gets an alert on {} today\n", alert.job);
                continue;
            }
            let message = message(receiver, alert);
            let _ = writeln!(text, ": {}", target(receiver, &message.body));
            if new.due > now {
                let due = new.due.to_rfc3339().unwrap_or_default();
                let _ = writeln!(text, "# not before {due}, because of quiet hours");
            }
            let _ = writeln!(text, "{}\n", message.body.content());
        }
    }
    if text.is_empty() {
        text.push_str("# nothing would be sent\n");
    }
    Ok(text)
}

/// Where a message goes, and with which headers.
fn target(receiver: &Receiver, body: &Body) -> String {
    match (body, receiver.endpoint()) {
        (Body::Post { path, content_type, .. }, Some(endpoint)) => {
            let token =
                endpoint.token.as_ref().map(|token| format!("\n# Authorization: Bearer {}", token.name()));
            let url = elephant_base::address::without_secrets(&endpoint.url.name()).into_owned();
            let url = if path.is_empty() { &url } else { url.trim_end_matches('/') };
            format!("POST {url}{path}\n# Content-Type: {content_type}{}", token.unwrap_or_default())
        }
        (Body::Mail { command, .. }, _) => command.join(" "),
        (Body::Post { .. }, None) => String::new(),
    }
}
