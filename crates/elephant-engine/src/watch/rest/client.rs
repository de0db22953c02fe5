//! Reads JSON by HTTP, and sends it.

#[cfg(feature = "remote")]
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::Agent;
#[cfg(feature = "remote")]
use ureq::tls::{RootCerts, TlsConfig};

/// The longest answer that is read.
const MOST: u64 = 256 << 20;

/// An answer that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{url}: {what}")]
pub(crate) struct RestError {
    url: String,
    what: What,
}

#[derive(Debug, thiserror::Error)]
enum What {
    #[error("{0}")]
    Http(Box<ureq::Error>),
    #[error("the answer is not the expected JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl RestError {
    /// Whether the server does not know the resource (404), or no longer (410).
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(&self.what, What::Http(error) if matches!(**error, ureq::Error::StatusCode(404 | 410)))
    }

    /// Whether the server refuses the request for good.
    pub(crate) fn is_refusal(&self) -> bool {
        let What::Http(error) = &self.what else { return false };
        matches!(**error, ureq::Error::StatusCode(status) if (400..500).contains(&status) && ![408, 429].contains(&status))
    }
}

/// TLS with the certificates of the system, as for histories at `https://`.
#[cfg(feature = "remote")]
fn tls() -> TlsConfig {
    TlsConfig::builder()
        .root_certs(RootCerts::PlatformVerifier)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build()
}

/// Why a message was not accepted. No text repeats the address, which may be a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unaccepted {
    /// The status of the answer, if there is one.
    pub status: Option<u16>,
    /// When the server wants to be asked again, from now on.
    pub retry_after: Option<Duration>,
    /// Why, in words.
    pub why: String,
}

impl Unaccepted {
    fn without_answer(error: &ureq::Error) -> Self {
        let why = match error {
            ureq::Error::Timeout(_) => "it does not answer in time".to_owned(),
            ureq::Error::HostNotFound => "its host is not known".to_owned(),
            ureq::Error::ConnectionFailed => "it cannot be reached".to_owned(),
            ureq::Error::Io(error) => format!("it cannot be reached: {}", error.kind()),
            ureq::Error::TooManyRedirects | ureq::Error::RedirectFailed => {
                "it answers that messages go elsewhere, which is not followed".to_owned()
            }
            _ => "the request failed".to_owned(),
        };
        Self { status: None, retry_after: None, why }
    }
}

/// Keeps connections open between requests.
#[derive(Debug, Clone)]
pub struct Client(Agent);

impl Client {
    /// A client that waits at most `timeout` for an answer.
    #[must_use]
    pub fn new(timeout: Duration) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(timeout))
            .user_agent(concat!("elephant-rs/", env!("CARGO_PKG_VERSION")));
        #[cfg(feature = "remote")]
        let config = config.tls_config(tls());
        Self(config.build().into())
    }

    /// Reads an object.
    ///
    /// # Errors
    /// If the server does not answer in time, or with something else.
    pub(crate) fn get<T: DeserializeOwned>(&self, url: &str) -> Result<T, RestError> {
        let failed = |what| RestError { url: url.to_owned(), what };
        let http = |error| failed(What::Http(Box::new(error)));
        let mut answer = self.0.get(url).header("Accept", "application/json").call().map_err(http)?;
        let body = answer.body_mut().with_config().limit(MOST).read_to_vec().map_err(http)?;
        serde_json::from_slice(&body).map_err(|error| failed(error.into()))
    }

    /// Sends an object; whatever the server answers is ignored, unless it is an error.
    ///
    /// # Errors
    /// If the server cannot be reached in time, or answers with an error.
    pub(crate) fn post(&self, url: &str, value: &impl Serialize) -> Result<(), RestError> {
        let failed = |what| RestError { url: url.to_owned(), what };
        let body = serde_json::to_vec(value).map_err(|error| failed(error.into()))?;
        // Do not follow redirects: a server that redirects has not accepted the message.
        let request = self.0.post(url).config().max_redirects(0).build();
        let sent = request.header("Content-Type", "application/json").send(&body[..]);
        sent.map(drop).map_err(|error| failed(What::Http(Box::new(error))))
    }

    /// Sends content with these headers, and waits at most `within` for the answer. Redirects are not followed.
    ///
    /// # Errors
    /// If the server cannot be reached in time, or does not answer with a status of success.
    pub fn send(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        content: &[u8],
        within: Duration,
    ) -> Result<(), Unaccepted> {
        let request = self.0.post(url).config().max_redirects(0).http_status_as_error(false);
        let mut request = request.timeout_global(Some(within)).build();
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = request.send(content).map_err(|error| Unaccepted::without_answer(&error))?;
        let status = answer.status().as_u16();
        if answer.status().is_success() {
            return Ok(());
        }
        let retry_after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let retry_after = retry_after.and_then(|value| value.trim().parse().ok()).map(Duration::from_secs);
        Err(Unaccepted { status: Some(status), retry_after, why: format!("it answers with status {status}") })
    }
}
