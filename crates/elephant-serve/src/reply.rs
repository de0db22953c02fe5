//! Answers with their headers.

use axum::body::Body;
use axum::http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LOCATION,
    REFERRER_POLICY, RETRY_AFTER, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use serde_json::json;
use twox_hash::XxHash3_128;

use super::failure::Failure;
use elephant_report::site;

pub(crate) const HTML: &str = "text/html; charset=utf-8";
pub(crate) const JSON: &str = "application/json";
pub(crate) const TEXT: &str = "text/plain; charset=utf-8";
pub(crate) const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PROBLEM: &str = "application/problem+json";

/// A complete answer.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// Content of a type.
    Content(&'static str, Vec<u8>),
    /// Content of a type with another status, where a route has its own words for what is wrong.
    WithStatus(StatusCode, &'static str, Vec<u8>),
    /// The same of what was stored.
    Created(&'static str, Vec<u8>),
    /// What was sent needs no answer.
    Accepted,
    /// The page is at another address of this server.
    Elsewhere(String),
}

impl Reply {
    /// Bytes of its content.
    pub(crate) const fn len(&self) -> usize {
        match self {
            Self::Content(_, content) | Self::Created(_, content) | Self::WithStatus(_, _, content) => {
                content.len()
            }
            Self::Accepted | Self::Elsewhere(_) => 0,
        }
    }
}

/// For whom an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Problems are pages.
    People,
    /// Problems are JSON, as RFC 9457 says.
    Programs,
}

/// The answer with the headers that every answer has. `asked` are those of the request.
pub(crate) fn response(
    reply: Result<Reply, Failure>,
    audience: Audience,
    asked: &HeaderMap,
) -> Response<Body> {
    let mut response = match reply {
        Ok(Reply::Content(kind, body)) => content(kind, body, asked),
        Ok(Reply::Created(kind, body)) => unusual(StatusCode::CREATED, kind, body),
        Ok(Reply::WithStatus(status, kind, body)) => unusual(status, kind, body),
        Ok(Reply::Accepted) => with_status(StatusCode::ACCEPTED, Body::empty()),
        Ok(Reply::Elsewhere(address)) => elsewhere(&address),
        Err(failure) => problem(&failure, audience),
    };
    let policy = format!("{}; frame-ancestors 'none'", site::policy());
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::try_from(policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    let fixed: [(HeaderName, &str); 3] =
        [(X_CONTENT_TYPE_OPTIONS, "nosniff"), (REFERRER_POLICY, "no-referrer"), (X_FRAME_OPTIONS, "DENY")];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn content(kind: &'static str, body: Vec<u8>, asked: &HeaderMap) -> Response<Body> {
    let tag = format!("\"{:032x}\"", XxHash3_128::oneshot(&body));
    let is_known = asked.get_all(IF_NONE_MATCH).iter().any(|known| {
        let mut tags = known.to_str().unwrap_or_default().split(',').map(str::trim);
        tags.any(|known| known == "*" || known.trim_start_matches("W/") == tag)
    });
    let mut response = if is_known {
        with_status(StatusCode::NOT_MODIFIED, Body::empty())
    } else {
        let mut response = Response::new(Body::from(body));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        response
    };
    let headers = response.headers_mut();
    // The same address has other content after the next `ingest`.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    if let Ok(tag) = HeaderValue::try_from(tag) {
        headers.insert(ETAG, tag);
    }
    response
}

/// Content that is no answer to keep.
fn unusual(status: StatusCode, kind: &'static str, body: Vec<u8>) -> Response<Body> {
    let mut response = with_status(status, Body::from(body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn elsewhere(address: &str) -> Response<Body> {
    let mut response = with_status(StatusCode::SEE_OTHER, Body::empty());
    if let Ok(address) = HeaderValue::try_from(address) {
        response.headers_mut().insert(LOCATION, address);
    }
    response
}

fn problem(failure: &Failure, audience: Audience) -> Response<Body> {
    let status = failure.status();
    let title = status.canonical_reason().unwrap_or("Error");
    let (kind, body) = match audience {
        Audience::Programs => {
            let detail = failure.to_string();
            let problem =
                json!({"type": "about:blank", "title": title, "status": status.as_u16(), "detail": detail});
            (PROBLEM, format!("{problem:#}\n").into_bytes())
        }
        Audience::People => {
            let told = failure.to_string();
            let mut letters = told.chars();
            let begin = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
            let sentence = format!("{begin}{}.", letters.as_str());
            // Writing in memory does not fail; a page without text would say less than its status.
            (HTML, site::problem(&sentence, "").unwrap_or_default())
        }
    };
    let mut response = with_status(status, Body::from(body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(seconds) = failure.retry_after() {
        headers.insert(RETRY_AFTER, HeaderValue::from_static(seconds));
    }
    if matches!(failure, Failure::NoToken) {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if let Some(methods) = failure.allowed() {
        headers.insert(ALLOW, HeaderValue::from_static(methods));
    }
    response
}

fn with_status(status: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}
