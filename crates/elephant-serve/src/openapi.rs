//! The description of the API as `OpenAPI` 3.1, made from the routes.

use serde_json::{Map, Value, json};

use super::failure::Failure;
use super::posting::{HISTORIES, INGEST, NAME};
use super::reply::{JSON, Reply};
use super::route::{Kind, Parameter, Route};
use super::routes::{API, ROUTES};
use super::server::Shared;

/// The answer with the description.
#[expect(clippy::unnecessary_wraps, reason = "a route may fail")]
pub(crate) fn document(shared: &Shared) -> Result<Reply, Failure> {
    let url = shared.public_url.as_ref().map_or_else(|| "/".to_owned(), ToString::to_string);
    Ok(Reply::Content(JSON, format!("{:#}\n", description(&url)).into_bytes()))
}

/// The routes of the API.
pub(crate) fn described() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(|route| route.path.starts_with(API))
}

fn description(url: &str) -> Value {
    let mut paths: Map<String, Value> =
        described().map(|route| (route.path.to_owned(), path(route))).collect();
    paths.insert(HISTORIES.to_owned(), histories());
    paths.insert(INGEST.to_owned(), ingest());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "elephant-rs",
            "version": env!("CARGO_PKG_VERSION"),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            "description": "What applications of a cluster used and wasted, and what to change. The ending of a key names \
                its unit, and unknown values are null. Times are in UTC.",
        },
        "servers": [{"url": url}],
        "paths": paths,
        "components": {
            "schemas": {"Problem": problem()},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    })
}

/// Histories that are sent.
fn histories() -> Value {
    let content = json!({"application/json": {"schema": {"type": "object"}}});
    let mut responses = Map::new();
    let about = "What was found in the history, as the JSON report has it";
    responses.insert("201".to_owned(), json!({"description": about, "content": content}));
    with_problems(
        &mut responses,
        &[
            ("400", "A parameter has no meaning"),
            ("401", "The token is missing or wrong"),
            ("404", "The server accepts no histories"),
            ("413", "The history is too large"),
            ("422", "It is no history that can be read"),
            ("503", "Another history is being read, or the store cannot be written; see Retry-After"),
        ],
    );
    json!({"post": {
        "operationId": "post_history",
        "summary": "Judges a history and stores it at once",
        "security": [{"token": []}],
        "parameters": [parameter(&NAME)],
        "requestBody": {
            "required": true,
            "description": "One history as its file is, compressed or not; an archive may have the configuration beside it",
            "content": {"application/octet-stream": {}},
        },
        "responses": responses,
    }})
}

/// A turn of reading that is asked for.
fn ingest() -> Value {
    let mut responses = Map::new();
    responses.insert(
        "202".to_owned(),
        json!({"description": "A turn begins now, or after the one that is running"}),
    );
    with_problems(
        &mut responses,
        &[
            ("401", "The token is missing or wrong"),
            ("404", "The server accepts no histories, or reads none"),
        ],
    );
    json!({"post": {
        "operationId": "begin_ingest",
        "summary": "Reads new and changed histories now instead of at the next turn",
        "security": [{"token": []}],
        "responses": responses,
    }})
}

fn with_problems(responses: &mut Map<String, Value>, problems: &[(&str, &str)]) {
    for (status, description) in problems {
        let content =
            json!({"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}});
        responses.insert((*status).to_owned(), json!({"description": description, "content": content}));
    }
}

fn path(route: &Route) -> Value {
    let mut responses = Map::new();
    let content = json!({"application/json": {"schema": {"type": "object"}}});
    responses.insert("200".to_owned(), json!({"description": route.about, "content": content}));
    responses
        .insert("304".to_owned(), json!({"description": "The answer is the one that If-None-Match names"}));
    let mut problems = vec![("400", "A parameter has no meaning")];
    if route.parameters.iter().any(Parameter::is_in_path) {
        problems.push(("404", "There is no such thing in the store"));
    }
    problems
        .push(("503", "Too many questions are being asked, or the store cannot be read; see Retry-After"));
    problems.push(("504", "The answer took too long"));
    with_problems(&mut responses, &problems);
    json!({"get": {
        "operationId": operation(route.path),
        "summary": route.about,
        "parameters": route.parameters.iter().map(parameter).collect::<Vec<_>>(),
        "responses": responses,
    }})
}

/// `/api/v1/jobs/{key}` as `jobs_key`.
fn operation(path: &str) -> String {
    let rest = path.strip_prefix(API).unwrap_or(path);
    rest.replace(['{', '}'], "").replace(['/', '.'], "_")
}

/// A parameter. One without a value is the same as none.
fn parameter(parameter: &Parameter) -> Value {
    let (Parameter { name, about, kind }, is_in_path) = (parameter, parameter.is_in_path());
    let place = if is_in_path { "path" } else { "query" };
    let schema = match kind {
        Kind::Path => json!({"type": "string", "minLength": 1}),
        Kind::Text | Kind::Pattern | Kind::Moment => json!({"type": "string"}),
        Kind::Count { usual, most } => {
            json!({"type": ["integer", "string"], "minimum": 1, "maximum": most, "maxLength": 0, "default": usual})
        }
        Kind::Among(words) => {
            let words: Vec<&str> = words.iter().copied().chain([""]).collect();
            json!({"type": "string", "enum": words})
        }
        Kind::PathAmong(words) => json!({"type": "string", "enum": words}),
    };
    json!({"name": name, "in": place, "description": about, "required": is_in_path, "schema": schema})
}

/// RFC 9457.
fn problem() -> Value {
    json!({
        "type": "object",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
        },
    })
}
