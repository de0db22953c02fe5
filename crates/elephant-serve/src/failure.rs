//! Why a request has no answer, for people and for programs.

use axum::http::StatusCode;
use elephant_store::StoreError;
use thiserror::Error;

/// Why a request has no answer.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// A parameter has no meaning.
    #[error("{0}")]
    Bad(String),
    /// There is no such page, application, job or rule.
    #[error("there is no {0}")]
    Missing(String),
    /// The route answers no such method.
    #[error("this address only answers GET and HEAD")]
    Method,
    /// The request has a body, which no route reads.
    #[error("a request has no body here")]
    Body,
    /// The route answers no such method, but what is sent to it.
    #[error("this address only answers POST")]
    NoMessage,
    /// A message is too long.
    #[cfg(feature = "mcp")]
    #[error("a message has at most {} KiB", super::mcp::MOST_BYTES / 1024)]
    Long,
    /// The client may not ask.
    #[error("{0}")]
    Forbidden(&'static str),
    /// The client does not know the token.
    #[error("the token is missing or wrong; send it as Authorization: Bearer TOKEN")]
    NoToken,
    /// A history is too large.
    #[error("a history has at most {} MiB here; send it compressed, or let the server read it (--ingest)", super::posting::MOST_BYTES >> 20)]
    LargeHistory,
    /// What was sent is no history.
    #[error("it is no history that can be read: {0}")]
    NoHistory(String),
    /// A history could not be stored.
    #[error("the history cannot be stored at the moment")]
    Unstored(String),
    /// Too many questions are being asked.
    #[error("too many questions are being asked; ask again in a moment")]
    Busy,
    /// The answer took too long.
    #[error("the answer took too long; ask about a shorter time, or with fewer patterns")]
    TooLong,
    /// The store cannot be read.
    #[error("the store cannot be read at the moment")]
    Store(#[from] StoreError),
    /// The loop that reads histories fails or hangs.
    #[error("the histories were not read for a while; the first page says why")]
    Late,
    /// The server itself failed.
    #[error("the server failed")]
    Broken(String),
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Broken(error.to_string())
    }
}

impl Failure {
    pub(crate) const fn status(&self) -> StatusCode {
        match self {
            Self::Bad(_) => StatusCode::BAD_REQUEST,
            Self::Missing(_) => StatusCode::NOT_FOUND,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::NoMessage => StatusCode::METHOD_NOT_ALLOWED,
            Self::NoToken => StatusCode::UNAUTHORIZED,
            Self::LargeHistory => StatusCode::PAYLOAD_TOO_LARGE,
            Self::NoHistory(_) => StatusCode::UNPROCESSABLE_ENTITY,
            #[cfg(feature = "mcp")]
            Self::Long => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Body => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::Busy | Self::Store(_) | Self::Unstored(_) | Self::Late => StatusCode::SERVICE_UNAVAILABLE,
            Self::TooLong => StatusCode::GATEWAY_TIMEOUT,
            Self::Broken(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// After how many seconds the request may be repeated.
    pub(crate) const fn retry_after(&self) -> Option<&'static str> {
        match self {
            Self::Busy => Some("2"),
            Self::TooLong | Self::Store(_) | Self::Unstored(_) => Some("30"),
            _ => None,
        }
    }

    /// The methods that the address answers, if the method is what is wrong.
    pub(crate) const fn allowed(&self) -> Option<&'static str> {
        match self {
            Self::Method => Some("GET, HEAD"),
            Self::NoMessage => Some("POST"),
            _ => None,
        }
    }

    /// What only the operator is told: it may name files.
    pub(crate) fn for_operator(&self) -> Option<String> {
        match self {
            Self::Store(error) => Some(format!("cannot read the store: {error}")),
            Self::Unstored(problem) => Some(problem.clone()),
            Self::Broken(error) => Some(format!("cannot answer: {error}")),
            _ => None,
        }
    }
}
