//! Messages of agents, by the Model Context Protocol: one in the body of each request, without sessions.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::{CONTENT_TYPE, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Response};
use axum::routing::post;
use tokio::time::timeout;

use super::counts::MESSAGES;
use super::failure::Failure;
use super::reply::{Audience, JSON, Reply};
use super::server::Shared;
use elephant_base::limits::Limits;
use elephant_base::units::{Bytes, Millis};
use elephant_mcp::{Door, Link, Options, Turns};
use elephant_report::site::application_address;
use elephant_store::{Store, StoreError};

/// The longest message.
pub(crate) const MOST_BYTES: usize = 64 * 1024;
/// How long what was read of a history counts as up to date.
const FRESH: Duration = Duration::from_secs(60);
/// The most memory for a history, of which several may be read at once.
const MOST_OF_HISTORY: Bytes = Bytes::from_mib(512);

/// Turns that questions share with those of pages.
#[derive(Clone)]
struct Shares(Arc<Shared>);

impl Turns for Shares {
    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(Option<&Store>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, String> {
        let asked = self.0.pool.ask(None, move |store| Ok(question(Some(store))?)).await;
        asked.map_err(|failure| {
            self.0.note(&failure);
            failure.to_string()
        })
    }
}

/// The router with the address of messages.
pub(crate) fn with_messages(router: Router, shared: &Arc<Shared>) -> Router {
    let answer = Millis::new(u64::try_from(shared.limits.answer.as_millis()).unwrap_or(u64::MAX));
    let options = Options {
        store: None,
        histories: None,
        rules: Arc::clone(&shared.rules),
        prices: None,
        limits: Limits { time: Some(answer), memory: Some(MOST_OF_HISTORY), ..Limits::default() },
        fresh: FRESH,
        link: shared
            .public_url
            .clone()
            .map(|url| -> Link { Box::new(move |id| format!("{url}{}", application_address(id))) }),
    };
    let door = Door::new(options, Shares(Arc::clone(shared)));
    let (own, other) = (Arc::clone(shared), Arc::clone(shared));
    let messages = post(move |request: Request| answer_to(Arc::clone(&own), door.clone(), request));
    let others = move |request: Request| {
        let shared = Arc::clone(&other);
        async move { finished(&shared, Err(Failure::NoMessage), request.headers(), Instant::now()) }
    };
    router.route(MESSAGES, messages.fallback(others))
}

async fn answer_to(shared: Arc<Shared>, door: Door<Shares>, request: Request) -> Response<Body> {
    let begin = Instant::now();
    let (head, body) = request.into_parts();
    let reply = asked(&shared, &door, &head, body).await;
    finished(&shared, reply, &head.headers, begin)
}

fn finished(
    shared: &Shared,
    reply: Result<Reply, Failure>,
    headers: &HeaderMap,
    begin: Instant,
) -> Response<Body> {
    shared.finished(MESSAGES, reply, Audience::Programs, headers, begin)
}

async fn asked(shared: &Shared, door: &Door<Shares>, head: &Parts, body: Body) -> Result<Reply, Failure> {
    shared.admit_to_all(head)?;
    let text = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
    if !is_same_origin(&head.headers) {
        return Err(Failure::Forbidden("pages of other sites may not ask"));
    }
    let kind = text(CONTENT_TYPE.as_str()).and_then(|kind| kind.split(';').next()).unwrap_or_default();
    if !kind.trim().eq_ignore_ascii_case(JSON) {
        return Err(Failure::Bad(format!("a message is {JSON}")));
    }
    let body = timeout(shared.limits.head, to_bytes(body, MOST_BYTES)).await;
    let late = |_| Failure::Bad("the message took too long to arrive".to_owned());
    let message = body.map_err(late)?.map_err(|_| Failure::Long)?;
    match door.reply(text("mcp-protocol-version"), &message).await {
        elephant_mcp::Reply::Answer(answer) => Ok(Reply::Content(JSON, answer)),
        elephant_mcp::Reply::Accepted => Ok(Reply::Accepted),
        elephant_mcp::Reply::Refused(why) => Err(Failure::Bad(why)),
    }
}

/// Whether a browser sent the request from a page of this server, or no browser sent it.
fn is_same_origin(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(ORIGIN) else { return true };
    let site = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, site)| site);
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    site.zip(host).is_some_and(|(site, host)| site.eq_ignore_ascii_case(host))
}
