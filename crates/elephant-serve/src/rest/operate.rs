//! What watches a server asks.

use serde_json::{Value, json};

use super::super::failure::Failure;
use super::super::operate::is_late;
use super::super::query::Asked;
use super::super::reply::{JSON, Reply};
use super::super::route::Context;
use super::super::server::Shared;

#[expect(clippy::unnecessary_wraps, reason = "a route may fail")]
pub(crate) fn ping(_: &Shared) -> Result<Reply, Failure> {
    Ok(Reply::Content(JSON, b"\"alive\"\n".to_vec()))
}

/// Each check with its result. Dr. Elephant had one, for deadlocks of threads, and status 200 whatever it said.
pub(crate) fn health_check(context: &Context<'_>, _: &Asked) -> Result<Reply, Failure> {
    let is_late = context.ingest().is_some_and(|progress| is_late(&progress));
    let store = context.store.last_ingest().err().map(Failure::from);
    let ingest = is_late.then_some(Failure::Late);
    let checks = json!({"ingest": result(ingest.as_ref()), "store": result(store.as_ref())});
    super::json(format!("{checks:#}\n").into_bytes())
}

fn result(failure: Option<&Failure>) -> Value {
    json!({"healthy": failure.is_none(), "message": failure.map(ToString::to_string), "error": null})
}
