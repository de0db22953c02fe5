//! Routes of Dr. Elephant that scripts ask and pages link to, with its parameters, statuses and the names of its fields.

mod applications;
mod details;
mod exceptions;
mod graphs;
mod old_pages;
mod operate;
mod searching;
mod summaries;
mod usage;

use axum::http::StatusCode;

use super::failure::Failure;
use super::ingest::now;
use super::query::Asked;
use super::reply::{JSON, Reply, TEXT};
use super::route::{Context, Kind, Parameter};
use elephant_base::units::Timestamp;
use elephant_store::{Member, MemberOf, StoredApplication};

pub(crate) use applications::{
    FLOW_EXECUTION, PRIORITIZE, compare, flow_execution, job, job_execution, search,
};
pub(crate) use details::{
    APPLICATION_ID, JOB_ID, WORKFLOW_ID, application_details, job_details, workflow_details,
};
pub(crate) use exceptions::{FLOW_URL, SCHEDULER, exception_statuses, exceptions};
pub(crate) use graphs::{flow_metrics, flow_scores, job_metrics, job_scores};
pub(crate) use old_pages::{
    FLOW_DEF_ID, GRAPH, JOB_DEF_ID, TOPIC, compare as compare_page, flow_history, help, job_history,
    new_pages, search as search_page,
};
pub(crate) use operate::{health_check, ping};
pub(crate) use searching::{
    ANALYSIS, BEGIN, END, FINISHED_BEGIN, FINISHED_END, INCREASING, JOB_TYPE, LIMIT, NUMBER, OFFSET,
    QUEUE_NAME, SEVERITY, SORT_KEY, USERNAMES, search_options, search_results, user_details,
};
pub(crate) use summaries::{application_summaries, dashboard, job_summaries, workflow_summaries};
pub(crate) use usage::{END_TIME, START_TIME, usage_by_user};

/// Applications of an answer on executions, of which no real one has as many.
const MOST_WHOLE: usize = 1000;
/// Applications that are read for graphs, summaries and sums, as Dr. Elephant read.
const MOST_READ: usize = 5000;
const DAY_MS: i64 = 86_400_000;

pub(crate) const ID: Parameter =
    Parameter { name: "id", about: "The id or name of what is asked for", kind: Kind::Text };
pub(crate) const USERNAME: Parameter =
    Parameter { name: "username", about: "Only applications of this user", kind: Kind::Text };
pub(crate) const FIRST: Parameter =
    Parameter { name: "flow-exec-id1", about: "The execution that is compared with", kind: Kind::Text };
pub(crate) const SECOND: Parameter =
    Parameter { name: "flow-exec-id2", about: "The other execution", kind: Kind::Text };

/// An answer as JSON.
#[expect(clippy::unnecessary_wraps, reason = "a route may fail")]
fn json(content: Vec<u8>) -> Result<Reply, Failure> {
    Ok(Reply::Content(JSON, content))
}

/// Dr. Elephant's text instead of an answer.
#[expect(clippy::unnecessary_wraps, reason = "a route may fail")]
fn told(status: StatusCode, text: impl Into<String>) -> Result<Reply, Failure> {
    Ok(Reply::WithStatus(status, TEXT, text.into().into_bytes()))
}

/// Dr. Elephant's text that there is no such thing.
fn unknown(what: &str, id: &str) -> Result<Reply, Failure> {
    told(StatusCode::NOT_FOUND, format!("Unable to find record on {what}: {id}"))
}

/// The time so long ago.
fn ago(ms: i64) -> Timestamp {
    Timestamp::from_millis(now().as_millis().saturating_sub(ms))
}

/// All that is stored of the last applications of an execution.
fn whole(context: &Context<'_>, of: MemberOf<'_>, most: usize) -> Result<Vec<StoredApplication>, Failure> {
    let members = context.store.members(of, most)?;
    Ok(context.store.whole(&members.iter().collect::<Vec<_>>())?)
}

/// The members that Dr. Elephant would read for a graph or a summary.
fn read(context: &Context<'_>, of: MemberOf<'_>) -> Result<Vec<Member>, Failure> {
    Ok(context.store.members(of, MOST_READ)?)
}

/// A time in milliseconds since 1970.
fn millis(asked: &Asked, parameter: Parameter) -> Result<Option<Timestamp>, Failure> {
    let Some(text) = asked.text(parameter.name) else { return Ok(None) };
    let name = parameter.name;
    let time = text
        .parse()
        .map_err(|_| Failure::Bad(format!("the parameter {name} must be milliseconds since 1970")))?;
    Ok(Some(Timestamp::from_millis(time)))
}

/// The first time after it: Dr. Elephant's ends belong to the time.
fn just_after(end: Timestamp) -> Timestamp {
    Timestamp::from_millis(end.as_millis().saturating_add(1))
}
