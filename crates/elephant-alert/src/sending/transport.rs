//! How a message reaches its receiver.

use std::time::Duration;

use super::program;
use crate::file::Receiver;
use crate::receivers::{Body, Message};
#[cfg(feature = "http")]
use elephant_engine::watch::{Client, Unaccepted};

/// A receiver has at most so long for one message.
const LONGEST: Duration = Duration::from_secs(10);

/// Why a message was not accepted.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// Another try may help, after this time if the receiver named one.
    Later { why: String, after: Option<Duration> },
    /// The receiver does not take this message.
    Refused(String),
    /// The receiver takes no message as things are.
    Broken(String),
}

/// A way to a receiver, with its secrets.
pub(super) struct Transport {
    #[cfg(feature = "http")]
    http: Option<Http>,
}

#[cfg(feature = "http")]
struct Http {
    client: Client,
    endpoint: crate::file::Endpoint,
    authorization: Option<String>,
}

impl Transport {
    /// The way to a receiver; the error says why there is none.
    #[cfg(feature = "http")]
    pub(super) fn to(receiver: &Receiver) -> Result<Self, String> {
        let http = receiver.endpoint().map(|endpoint| {
            let token = endpoint.token.as_ref().map(|token| token.value()).transpose()?;
            let authorization = token.map(|token| format!("Bearer {token}"));
            Ok::<_, String>(Http { client: Client::new(LONGEST), endpoint: endpoint.clone(), authorization })
        });
        Ok(Self { http: http.transpose()? })
    }

    #[cfg(not(feature = "http"))]
    pub(super) fn to(receiver: &Receiver) -> Result<Self, String> {
        match receiver.endpoint() {
            Some(_) => Err("this build cannot send by HTTP".to_owned()),
            None => Ok(Self {}),
        }
    }

    /// Sends a message. The receiver has at most `left` for it.
    pub(super) fn send(&self, message: &Message, left: Duration) -> Result<(), Failure> {
        let within = left.min(LONGEST);
        match &message.body {
            Body::Mail { command, content } => program::run(command, content, within).map_err(Failure::later),
            Body::Post { path, content_type, content } => self.post(path, content_type, content, within),
        }
    }

    #[cfg(feature = "http")]
    fn post(
        &self,
        path: &str,
        content_type: &str,
        content: &str,
        within: Duration,
    ) -> Result<(), Failure> {
        let Some(http) = &self.http else { return Err(Failure::Broken("it has no address".to_owned())) };
        let url = http.endpoint.address(path).map_err(Failure::Broken)?;
        let mut headers = vec![("Content-Type", content_type)];
        headers.extend(http.authorization.as_deref().map(|value| ("Authorization", value)));
        http.client.send(&url, &headers, content.as_bytes(), within).map_err(Failure::of)
    }

    #[cfg(not(feature = "http"))]
    #[allow(clippy::unused_self)]
    fn post(&self, _: &str, _: &str, _: &str, _: Duration) -> Result<(), Failure> {
        Err(Failure::Broken("this build cannot send by HTTP".to_owned()))
    }
}

impl Failure {
    fn later(why: String) -> Self {
        Self::Later { why, after: None }
    }

    #[cfg(feature = "http")]
    fn of(Unaccepted { status, retry_after, why }: Unaccepted) -> Self {
        match status {
            // It is wrong, or too large.
            Some(400 | 413 | 422) => Self::Refused(why),
            None | Some(408 | 425 | 429 | 500..=599) => Self::Later { why, after: retry_after },
            // The address or the token is wrong: no other message would get through.
            Some(_) => Self::Broken(why),
        }
    }
}
