//! Pages and an API over a store, by HTTP.
//!
//! [`Server::bind`] listens, and [`Server::run`] answers until it is told to stop. Each request is one of the routes in
//! `routes`: its parameters are read by their kinds, its questions are asked in a thread that may wait for the database,
//! and its answer is a page or JSON of `elephant-report`. Nothing here judges, formats or opens a file that a request
//! names.

mod access;
mod api;
mod counts;
mod failure;
mod filter;
mod ingest;
mod kept;
mod limits;
#[cfg(feature = "mcp")]
mod mcp;
mod names;
mod openapi;
mod operate;
mod pages;
mod pool;
mod posting;
mod public_url;
mod query;
mod reply;
mod rest;
mod route;
mod routes;
mod server;
mod viewers;

pub use access::{Access, Proxies, ProxiesError};
pub use ingest::{Done, Ingest, Turn};
pub use limits::Limits;
pub use posting::{Kept, Posted, Posting, Unkept, WeakToken};
pub use public_url::{NoPublicUrl, PublicUrl};
pub use server::{Options, ServeError, Server, Stopper};
pub use viewers::{Viewers, ViewersError};
