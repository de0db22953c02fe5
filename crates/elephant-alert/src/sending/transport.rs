//! How a message reaches its receiver.

use std::time::Duration;

use super::program;
use crate::file::Receiver;
#[cfg(feature = "http")]
use crate::file::{Endpoint, Source};
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
pub(super) enum Transport {
    Program,
    #[cfg(feature = "http")]
    Http(Http),
}

#[cfg(feature = "http")]
pub(super) struct Http {
    client: Client,
    endpoint: Endpoint,
    authorization: Option<String>,
}

impl Transport {
    /// The way to a receiver; the error says why there is none.
    pub(super) fn to(receiver: &Receiver) -> Result<Self, String> {
        match receiver.endpoint() {
            None => Ok(Self::Program),
            #[cfg(feature = "http")]
            Some(endpoint) => Http::to(endpoint).map(Self::Http),
            #[cfg(not(feature = "http"))]
            Some(_) => Err("this build cannot send by HTTP".to_owned()),
        }
    }

    /// Sends a message. The receiver has at most `left` for it.
    pub(super) fn send(&self, message: &Message, left: Duration) -> Result<(), Failure> {
        let within = left.min(LONGEST);
        match (self, &message.body) {
            (Self::Program, Body::Mail { command, content }) => program::run(command, content, within),
            #[cfg(feature = "http")]
            (Self::Http(http), Body::Post { path, content_type, content }) => {
                http.post((path, content_type), content, within)
            }
            _ => Err(Failure::Broken("the message is for a receiver of another kind".to_owned())),
        }
    }
}

#[cfg(feature = "http")]
impl Http {
    fn to(endpoint: &Endpoint) -> Result<Self, String> {
        let token = endpoint.token.as_ref().map(Source::value).transpose()?;
        let authorization = token.map(|token| format!("Bearer {token}"));
        Ok(Self { client: Client::new(LONGEST), endpoint: endpoint.clone(), authorization })
    }

    fn post(
        &self,
        (path, content_type): (&str, &str),
        content: &str,
        within: Duration,
    ) -> Result<(), Failure> {
        let url = self.endpoint.address(path).map_err(Failure::Broken)?;
        let mut headers = vec![("Content-Type", content_type)];
        headers.extend(self.authorization.as_deref().map(|value| ("Authorization", value)));
        self.client.send(&url, &headers, content.as_bytes(), within).map_err(Failure::of)
    }
}

#[cfg(feature = "http")]
impl Failure {
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
