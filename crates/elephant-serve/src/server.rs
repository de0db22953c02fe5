//! Listens, and answers each request within its limits.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{RawPathParams, Request};
use axum::http::header::LINK;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Response};
use axum::routing::get;
use futures_util::future::{Either, select};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use thiserror::Error;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

use super::access::{Access, Peer};
use super::counts::{Counts, NO_ROUTE};
use super::failure::Failure;
use super::ingest::{Ingest, Loop};
use super::kept::Kept;
use super::limits::Limits;
use super::names::no_body;
use super::pool::Pool;
use super::posting::Posting;
use super::public_url::PublicUrl;
use super::query::Asked;
use super::reply::{Audience, Reply, response};
use super::route::{Context, Route, Run};
use super::routes::{ROUTES, audience};
use super::viewers::Viewer;
use elephant_ruleset::RuleSet;
use elephant_store::{Place, Store, StoreError};

/// What a server needs.
pub struct Options {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Who may ask.
    pub access: Access,
    /// The store that it answers from.
    pub store: Place,
    /// The rules whose pages it shows.
    pub rules: RuleSet,
    /// What it admits.
    pub limits: Limits,
    /// The histories that it reads, if any.
    pub ingest: Option<Ingest>,
    /// What reads histories that are sent, if any are accepted.
    pub posting: Option<Posting>,
    /// Where people reach it, if that is another address.
    pub public_url: Option<PublicUrl>,
    /// Is told what goes wrong and is no client's fault.
    pub tell: fn(&str),
}

/// Why a server cannot start or go on.
#[derive(Debug, Error)]
pub enum ServeError {
    /// Others would reach it.
    #[error(
        "{0} is reached by other machines, and elephant-rs has no login; name the proxy that has one (--trust-proxy \
         ADDRESS), or let everyone who reaches it read the store (--allow-anyone), or listen on 127.0.0.1"
    )]
    Open(SocketAddr),
    /// It cannot listen there.
    #[error("cannot listen on {0}: {1}; is another server there?")]
    Listen(SocketAddr, io::Error),
    /// The store cannot be opened.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The system gives no threads.
    #[error("cannot start threads: {0}")]
    Threads(io::Error),
}

/// What all requests share.
pub(crate) struct Shared {
    pub(crate) pool: Arc<Pool>,
    kept: Arc<Kept>,
    pub(crate) rules: Arc<RuleSet>,
    pub(crate) counts: Counts,
    pub(crate) ingest: Option<Loop>,
    pub(crate) posting: Option<Posting>,
    pub(crate) public_url: Option<PublicUrl>,
    pub(crate) access: Access,
    /// Whether only this machine reaches the server, so that names of other machines are a trick.
    pub(crate) is_local: bool,
    pub(crate) limits: Limits,
    tell: fn(&str),
}

/// Tells a server to stop, from any thread.
#[derive(Debug, Clone)]
pub struct Stopper(Arc<watch::Sender<bool>>);

impl Stopper {
    /// No further request is answered; those that have begun are.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
    ingest: Option<Ingest>,
    stop: Stopper,
}

impl Server {
    /// Opens the store and listens, without answering yet.
    pub fn bind(options: Options) -> Result<Self, ServeError> {
        let Options { listen, access, store, rules, limits, ingest, posting, public_url, tell } = options;
        let is_local = listen.ip().is_loopback();
        if !is_local && !access.anyone && access.proxies.is_empty() {
            return Err(ServeError::Open(listen));
        }
        let pool = Arc::new(Pool::open(store, limits)?);
        let bound = TcpListener::bind(listen).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(listener)
        });
        let listener = bound.map_err(|error| ServeError::Listen(listen, error))?;
        let counts = Counts::default();
        let (kept, rules) = (Arc::new(Kept::new(limits.connections)), Arc::new(rules));
        let shared = Shared {
            pool,
            kept,
            rules,
            counts,
            ingest: None,
            posting,
            public_url,
            access,
            is_local,
            limits,
            tell,
        };
        let stop = Stopper(Arc::new(watch::Sender::new(false)));
        Ok(Self { listener, shared: Arc::new(shared), ingest, stop })
    }

    /// The status of the answer to a request with these parts of the path of a route and this query, for tests without a
    /// socket.
    #[doc(hidden)]
    #[must_use]
    pub fn answer_to(&self, (route, path): (usize, &[&str]), query: &str, store: &Store) -> u16 {
        let Some(route) = ROUTES.get(route % ROUTES.len()) else { return 0 };
        let names = route.parameters.iter().filter(|parameter| parameter.is_in_path());
        let parts = names.map(|parameter| parameter.name).zip(path.iter().copied());
        let shared = &self.shared;
        let reply = Asked::read(route.parameters, parts, query).and_then(|asked| match route.run {
            Run::Server(run) => run(shared),
            Run::Store(run) => {
                run(&Context { store, rules: &shared.rules, shared, viewer: &Viewer::Anyone }, &asked)
            }
        });
        response(reply, route.audience, &HeaderMap::new()).status().as_u16()
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// What stops it.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.stop.clone()
    }

    /// Answers until it is stopped. Then answers that have begun and a turn of reading histories are completed.
    pub fn run(mut self) -> Result<(), ServeError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(self.shared.limits.questions + 2)
            .thread_name("serve")
            .enable_io()
            .enable_time()
            .build()
            .map_err(ServeError::Threads)?;
        if let Some(ingest) = self.ingest.take() {
            let running = Loop::start(ingest, self.shared.tell).map_err(ServeError::Threads)?;
            if let Some(shared) = Arc::get_mut(&mut self.shared) {
                shared.ingest = Some(running);
            }
        }
        let shared = Arc::clone(&self.shared);
        let done = runtime.block_on(accept(self));
        // A question that takes longer than its limit is not waited for.
        runtime.shutdown_background();
        if let Some(ingest) = &shared.ingest {
            ingest.stop();
        }
        done
    }
}

/// Accepts connections until the server is stopped, and waits for those that are open.
async fn accept(server: Server) -> Result<(), ServeError> {
    let Server { listener, shared, stop, .. } = server;
    let listener = tokio::net::TcpListener::from_std(listener).map_err(ServeError::Threads)?;
    let router = router(&shared);
    let limits = shared.limits;
    let places = Arc::new(Semaphore::new(limits.connections));
    let mut stopped = stop.0.subscribe();
    loop {
        // A full server leaves further connections to the system, which bounds them, too.
        let next = pin!(async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        });
        let end = pin!(stopped.wait_for(|stopped| *stopped));
        let (place, accepted) = match select(end, next).await {
            Either::Left(_) => break,
            Either::Right((accepted, _)) => accepted,
        };
        match (place, accepted) {
            (Ok(place), Ok((stream, peer))) => {
                let connection = Connection { shared: Arc::clone(&shared), router: router.clone(), place };
                tokio::spawn(connection.serve(stream, peer, stop.0.subscribe()));
            }
            // Such as no free file descriptor: the next attempt may succeed.
            (_, Err(error)) => {
                (shared.tell)(&format!("cannot accept a connection: {error}"));
                sleep(std::time::Duration::from_millis(100)).await;
            }
            (Err(_), _) => break,
        }
    }
    drop(listener);
    let all = u32::try_from(limits.connections).unwrap_or(u32::MAX);
    let closed = timeout(limits.stop, places.acquire_many(all)).await;
    if closed.is_err() {
        (shared.tell)("some answers took too long to wait for them");
    }
    Ok(())
}

struct Connection {
    shared: Arc<Shared>,
    router: Router,
    /// Is free again when the connection is closed.
    place: OwnedSemaphorePermit,
}

impl Connection {
    /// Answers the requests of a connection, one after another, until it is closed, too old, or the server is stopped.
    async fn serve(self, stream: TcpStream, peer: SocketAddr, mut stopped: watch::Receiver<bool>) {
        let Self { shared, router, place } = self;
        let limits = shared.limits;
        shared.counts.connections.fetch_add(1, Ordering::Relaxed);
        let router = router.layer(axum::Extension(Peer(peer.ip())));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head)
            .max_buf_size(limits.head_bytes)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
        let mut connection = pin!(connection);
        let end = pin!(async {
            let stopped = pin!(stopped.wait_for(|stopped| *stopped));
            let old = pin!(sleep(limits.connection));
            select(stopped, old).await;
        });
        // A client that breaks off is nothing to tell anyone.
        if let Either::Right(_) = select(connection.as_mut(), end).await {
            connection.as_mut().graceful_shutdown();
            let _ = timeout(limits.stop, connection).await;
        }
        shared.counts.connections.fetch_sub(1, Ordering::Relaxed);
        drop(place);
    }
}

fn router(shared: &Arc<Shared>) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        let shared = Arc::clone(shared);
        let answer =
            move |path: RawPathParams, request: Request| answer(Arc::clone(&shared), route, path, request);
        router = router.route(route.path, get(answer));
    }
    let router = super::posting::with_histories(router, shared);
    #[cfg(feature = "mcp")]
    let router = super::mcp::with_messages(router, shared);
    let (missing, method) = (Arc::clone(shared), Arc::clone(shared));
    router
        .fallback(move |request: Request| {
            let shared = Arc::clone(&missing);
            async move {
                let path = request.uri().path().chars().take(100).collect::<String>();
                let failure = Failure::Missing(format!("page {path}"));
                shared.finished(
                    NO_ROUTE,
                    Err(failure),
                    audience(request.uri().path()),
                    request.headers(),
                    Instant::now(),
                )
            }
        })
        .method_not_allowed_fallback(move |request: Request| {
            let shared = Arc::clone(&method);
            async move {
                let audience = audience(request.uri().path());
                shared.finished(NO_ROUTE, Err(Failure::Method), audience, request.headers(), Instant::now())
            }
        })
}

/// Answers a request of a route.
async fn answer(
    shared: Arc<Shared>,
    route: &'static Route,
    path: RawPathParams,
    request: Request,
) -> Response<Body> {
    let begin = Instant::now();
    // No route reads the body.
    let (head, _) = request.into_parts();
    let reply = asked(&shared, route, &path, &head).await;
    let mut response = shared.finished(route.path, reply, route.audience, &head.headers, begin);
    if let Some(url) = shared.public_url.as_ref().filter(|_| route.audience == Audience::People) {
        let page = head.uri.path_and_query().map_or("/", |page| page.as_str());
        if let Ok(link) = HeaderValue::try_from(format!("<{url}{page}>; rel=\"canonical\"")) {
            response.headers_mut().insert(LINK, link);
        }
    }
    response
}

async fn asked(
    shared: &Arc<Shared>,
    route: &'static Route,
    path: &RawPathParams,
    head: &Parts,
) -> Result<Reply, Failure> {
    let viewer = shared.viewer(head, route.for_whom)?;
    no_body(&head.headers)?;
    let asked = Asked::read(route.parameters, path.iter(), head.uri.query().unwrap_or_default())?;
    match route.run {
        Run::Server(run) => run(shared),
        Run::Store(run) => {
            let own = Arc::clone(shared);
            // The page of the one who asks is another for each.
            let who = if route.path == "/me" { viewer.name().map(str::to_owned) } else { viewer.share() };
            let question = (route.path, asked.clone(), who);
            let ask = async move {
                let (pool, visible) = (Arc::clone(&own.pool), viewer.visible().cloned());
                let answer = move |store: &Store| {
                    run(&Context { store, rules: &own.rules, shared: &own, viewer: &viewer }, &asked)
                };
                pool.ask(visible, answer).await
            };
            shared.kept.answer(question, ask, shared.limits.turn + shared.limits.answer).await
        }
    }
}

impl Shared {
    /// Counts a question that was not answered, and tells the operator what is not a client's fault.
    pub(crate) fn note(&self, failure: &Failure) {
        match failure {
            Failure::Busy => self.counts.refused.fetch_add(1, Ordering::Relaxed),
            Failure::TooLong => self.counts.timed_out.fetch_add(1, Ordering::Relaxed),
            _ => 0,
        };
        if let Some(problem) = failure.for_operator() {
            (self.tell)(&problem);
        }
    }

    /// The answer, which is counted, and told to the operator if it is not a client's fault.
    pub(crate) fn finished(
        &self,
        route: &str,
        reply: Result<Reply, Failure>,
        audience: Audience,
        headers: &HeaderMap,
        begin: Instant,
    ) -> Response<Body> {
        if let Err(failure) = &reply {
            self.note(failure);
        }
        let response = response(reply, audience, headers);
        self.counts.add(route, response.status().as_u16(), begin.elapsed());
        response
    }
}
