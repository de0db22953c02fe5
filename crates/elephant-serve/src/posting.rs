//! Histories that are sent, for hooks at the end of a job. Off unless the operator has a token for it.
//!
//! A history is the body of a request: no request names a file or a server to read from. One is read at a time, and while
//! one is read others are refused, so that memory has a bound.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, CONTENT_LENGTH};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Response};
use axum::routing::post;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::failure::Failure;
use super::query::Asked;
use super::reply::{Audience, JSON, Reply};
use super::route::{Kind, Parameter};
use super::server::Shared;

/// The address of histories.
pub(crate) const HISTORIES: &str = "/api/v1/histories";
/// The address that begins a turn of reading.
pub(crate) const INGEST: &str = "/api/v1/ingest";
/// The largest history, as it is sent: compressed, it may be a log of gigabytes.
pub(crate) const MOST_BYTES: usize = 64 << 20;
/// How long a history may take to arrive.
const ARRIVES: Duration = Duration::from_secs(60);
/// A shorter token can be guessed.
const SHORTEST_TOKEN: usize = 16;
/// The longest name of a history.
const LONGEST_NAME: usize = 200;

pub(crate) const NAME: Parameter = Parameter {
    name: "name",
    about: "The name of the history's file, such as application_1_2.zst; a later one with the same name replaces it",
    kind: Kind::Text,
};

/// What reads and stores a history.
pub struct Posting {
    token: String,
    keep: Box<dyn Fn(Posted) -> Kept + Send + Sync>,
    /// One at a time.
    turn: Arc<Semaphore>,
}

/// A history that was sent.
pub struct Posted {
    /// The name of its file, if the sender told it.
    pub name: Option<String>,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The answer as JSON, or why there is none.
pub type Kept = Result<Vec<u8>, Unkept>;

/// Why a history was not stored.
#[derive(Debug)]
pub enum Unkept {
    /// It is none, or cannot be read: what is wrong with it.
    Unread(String),
    /// It cannot be stored.
    Store(String),
}

/// A token is too short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a token has at least 16 letters, digits or punctuation marks, and no spaces; `openssl rand -hex 32` makes one"
)]
pub struct WeakToken;

impl Posting {
    /// Histories are accepted from who knows the token.
    pub fn new(
        token: String,
        keep: impl Fn(Posted) -> Kept + Send + Sync + 'static,
    ) -> Result<Self, WeakToken> {
        let fits = token.len() >= SHORTEST_TOKEN && token.bytes().all(|byte| byte.is_ascii_graphic());
        if !fits {
            return Err(WeakToken);
        }
        Ok(Self { token, keep: Box::new(keep), turn: Arc::new(Semaphore::new(1)) })
    }

    /// Refuses who does not know the token. How long it takes does not tell how much of one is right.
    fn admit(&self, headers: &HeaderMap) -> Result<(), Failure> {
        let told = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let told = told
            .and_then(|told| told.split_once(' '))
            .filter(|(kind, _)| kind.eq_ignore_ascii_case("bearer"));
        let token = told.map(|(_, token)| token.trim().as_bytes()).unwrap_or_default();
        let differ = token.iter().zip(self.token.as_bytes()).fold(0, |differ, (a, b)| differ | (a ^ b));
        if token.len() == self.token.len() && differ == 0 { Ok(()) } else { Err(Failure::NoToken) }
    }
}

/// The router with the addresses of histories.
pub(crate) fn with_histories(router: Router, shared: &Arc<Shared>) -> Router {
    let (histories, turns) = (Arc::clone(shared), Arc::clone(shared));
    let histories = post(move |request: Request| answered(Arc::clone(&histories), HISTORIES, request));
    let turns = post(move |request: Request| answered(Arc::clone(&turns), INGEST, request));
    let other = |path: &'static str| {
        let shared = Arc::clone(shared);
        move |request: Request| async move {
            shared.finished(
                path,
                Err(Failure::NoMessage),
                Audience::Programs,
                request.headers(),
                Instant::now(),
            )
        }
    };
    router.route(HISTORIES, histories.fallback(other(HISTORIES))).route(INGEST, turns.fallback(other(INGEST)))
}

async fn answered(shared: Arc<Shared>, path: &'static str, request: Request) -> Response<Body> {
    let begin = Instant::now();
    let (head, body) = request.into_parts();
    let reply = match path {
        HISTORIES => history(&shared, &head, body).await,
        _ => turn(&shared, &head),
    };
    shared.finished(path, reply, Audience::Programs, &head.headers, begin)
}

/// The posting of a request that may send.
fn admitted<'s>(shared: &'s Shared, head: &Parts) -> Result<&'s Posting, Failure> {
    shared.admit(head)?;
    let off = || Failure::Missing("such address: histories are sent only with --token-file".to_owned());
    let posting = shared.posting.as_ref().ok_or_else(off)?;
    posting.admit(&head.headers)?;
    Ok(posting)
}

async fn history(shared: &Arc<Shared>, head: &Parts, body: Body) -> Result<Reply, Failure> {
    let posting = admitted(shared, head)?;
    let asked = Asked::read(&[NAME], std::iter::empty(), head.uri.query().unwrap_or_default())?;
    let name = asked.text(NAME.name).map(name_of).transpose()?;
    let length =
        head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|length| length > MOST_BYTES) {
        return Err(Failure::LargeHistory);
    }
    let turn = Arc::clone(&posting.turn).try_acquire_owned().map_err(|_| Failure::Busy)?;
    let body = timeout(ARRIVES, to_bytes(body, MOST_BYTES)).await;
    let late = |_| Failure::Bad("the history took too long to arrive".to_owned());
    let bytes = body.map_err(late)?.map_err(|_| Failure::LargeHistory)?.to_vec();
    let own = Arc::clone(shared);
    // It goes on if the client does not wait.
    let kept = tokio::task::spawn_blocking(move || {
        let kept = own.posting.as_ref().map(|posting| (posting.keep)(Posted { name, bytes }));
        drop(turn);
        kept
    });
    match kept.await {
        Ok(Some(Ok(json))) => Ok(Reply::Created(JSON, json)),
        Ok(Some(Err(Unkept::Unread(problem)))) => Err(Failure::NoHistory(problem)),
        Ok(Some(Err(Unkept::Store(problem)))) => Err(Failure::Unstored(problem)),
        Ok(None) => Err(Failure::Broken("nothing reads histories".to_owned())),
        Err(error) => Err(Failure::Broken(error.to_string())),
    }
}

/// The name, which becomes a part of an address.
fn name_of(written: &str) -> Result<String, Failure> {
    let fits = |c: char| c.is_alphanumeric() || "-_.:+@=".contains(c);
    let is_name = written.len() <= LONGEST_NAME && written.chars().all(fits) && !written.starts_with('.');
    if is_name {
        return Ok(written.to_owned());
    }
    Err(Failure::Bad(format!(
        "the parameter name is a name of a file: letters, digits and any of -_.:+@=, at most {LONGEST_NAME} bytes, and no . at its beginning"
    )))
}

/// Begins a turn of reading.
fn turn(shared: &Shared, head: &Parts) -> Result<Reply, Failure> {
    admitted(shared, head)?;
    super::names::no_body(&head.headers)?;
    let missing = || Failure::Missing("path to read: name some with --ingest".to_owned());
    shared.ingest.as_ref().ok_or_else(missing)?.wake();
    Ok(Reply::Accepted)
}
