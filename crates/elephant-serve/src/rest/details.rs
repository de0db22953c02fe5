//! One execution of a flow, one of a job, and one application.

use axum::http::StatusCode;

use super::super::failure::Failure;
use super::super::query::Asked;
use super::super::reply::{JSON, Reply};
use super::super::route::{Context, Kind, Parameter};
use super::{MOST_WHOLE, json, read, whole};
use elephant_report::site::dr_elephant;
use elephant_store::MemberOf;

pub(crate) const WORKFLOW_ID: Parameter =
    Parameter { name: "workflowid", about: "The name of the execution of a flow", kind: Kind::Text };
pub(crate) const JOB_ID: Parameter =
    Parameter { name: "jobid", about: "The name of the execution of a job", kind: Kind::Text };
pub(crate) const APPLICATION_ID: Parameter =
    Parameter { name: "applicationid", about: "The id of an application or a job", kind: Kind::Text };

/// Dr. Elephant's answer if there is no such thing.
fn nothing(key: &str) -> Result<Reply, Failure> {
    Ok(Reply::WithStatus(StatusCode::NOT_FOUND, JSON, dr_elephant::no_details(key)?))
}

pub(crate) fn workflow_details(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    const KEY: &str = "workflows";
    let Some(id) = asked.text(WORKFLOW_ID.name) else { return nothing(KEY) };
    let members = read(context, MemberOf::FlowExecution(id))?;
    if members.is_empty() {
        return nothing(KEY);
    }
    json(dr_elephant::workflow_details(id, &members)?)
}

pub(crate) fn job_details(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    const KEY: &str = "jobs";
    let Some(id) = asked.text(JOB_ID.name) else { return nothing(KEY) };
    let apps = whole(context, MemberOf::JobExecution(id), MOST_WHOLE)?;
    if apps.is_empty() {
        return nothing(KEY);
    }
    json(dr_elephant::job_details(id, &apps, context.rules)?)
}

pub(crate) fn application_details(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    const KEY: &str = "applications";
    let Some(id) = asked.text(APPLICATION_ID.name) else { return nothing(KEY) };
    match context.store.application(id)?.first() {
        Some(app) => json(dr_elephant::application_details(app, context.rules)?),
        None => nothing(KEY),
    }
}
