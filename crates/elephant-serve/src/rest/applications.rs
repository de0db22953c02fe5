//! Applications with their heuristics: one, those of an execution, those that a search finds, and two executions.

use axum::http::StatusCode;

use super::super::failure::Failure;
use super::super::query::Asked;
use super::super::reply::Reply;
use super::super::route::{Context, Kind, Parameter};
use super::searching::{Found, NUMBER, found};
use super::{FIRST, ID, MOST_WHOLE, SECOND, json, told, unknown, whole};
use elephant_report::site::dr_elephant;
use elephant_store::{MemberOf, StoredApplication};

/// Applications of one page, as Dr. Elephant had it.
const PAGE: usize = 100;
/// Applications of each of two executions that are compared.
const OF_EACH: usize = 100;

pub(crate) const FLOW_EXECUTION: Parameter =
    Parameter { name: "flow-exec-id", about: "Only applications of this execution", kind: Kind::Text };
/// There is nothing to prioritize: what was ingested is judged.
pub(crate) const PRIORITIZE: Parameter = Parameter {
    name: "prioritize",
    about: "Has no effect: what is stored is judged",
    kind: Kind::Among(&["true", "false"]),
};

pub(crate) fn job(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let Some(id) = asked.text(ID.name) else {
        return told(StatusCode::BAD_REQUEST, "No job id provided.");
    };
    one(context, id)
}

fn one(context: &Context<'_>, id: &str) -> Result<Reply, Failure> {
    match context.store.application(id)?.first() {
        Some(app) => json(dr_elephant::application(app, context.rules)?),
        None => unknown("id", &id.replace("job", "application")),
    }
}

pub(crate) fn job_execution(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let Some(id) = asked.text(ID.name) else {
        return told(StatusCode::BAD_REQUEST, "No job exec url provided.");
    };
    let apps = whole(context, MemberOf::JobExecution(id), MOST_WHOLE)?;
    if apps.is_empty() {
        return unknown("job exec url", id);
    }
    json(dr_elephant::applications(&apps, context.rules)?)
}

pub(crate) fn flow_execution(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let Some(id) = asked.text(ID.name) else {
        return told(StatusCode::BAD_REQUEST, "No flow exec url provided.");
    };
    let apps = whole(context, MemberOf::FlowExecution(id), MOST_WHOLE)?;
    if apps.is_empty() {
        return unknown("flow exec url", id);
    }
    json(dr_elephant::by_job_execution(&apps, context.rules)?)
}

pub(crate) fn search(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    if let Some(id) = asked.text(ID.name) {
        return one(context, id);
    }
    if let Some(id) = asked.text(FLOW_EXECUTION.name) {
        let apps = whole(context, MemberOf::FlowExecution(id), MOST_WHOLE)?;
        if apps.is_empty() {
            return unknown("flow execution", id);
        }
        return json(dr_elephant::applications(&apps, context.rules)?);
    }
    let before = asked.count(NUMBER).saturating_sub(1).saturating_mul(PAGE);
    let Found { apps, .. } = found(context, asked, (before, PAGE))?;
    if apps.is_empty() {
        return told(StatusCode::NOT_FOUND, "No records");
    }
    json(dr_elephant::applications(&apps, context.rules)?)
}

pub(crate) fn compare(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let (first, second) = (asked.text(FIRST.name), asked.text(SECOND.name));
    let both = first.zip(second).map(<[&str; 2]>::from);
    let names = both.unwrap_or_default();
    let of = |name: &str| -> Result<Vec<StoredApplication>, Failure> {
        if both.is_some() { whole(context, MemberOf::FlowExecution(name), OF_EACH) } else { Ok(Vec::new()) }
    };
    let [a, b] = names;
    let (of_a, of_b) = (of(a)?, of(b)?);
    json(dr_elephant::compared([(a, &of_a), (b, &of_b)], context.rules)?)
}
