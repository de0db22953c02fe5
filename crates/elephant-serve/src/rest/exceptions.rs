//! Why the jobs of an execution of a flow failed.

use axum::http::StatusCode;

use super::super::failure::Failure;
use super::super::query::Asked;
use super::super::reply::{JSON, Reply};
use super::super::route::{Context, Kind, Parameter};
use super::{MOST_WHOLE, json, told, whole};
use elephant_report::site::dr_elephant;
use elephant_store::MemberOf;

pub(crate) const FLOW_URL: Parameter =
    Parameter { name: "flow-exec-url", about: "The name of the execution of a flow", kind: Kind::Text };
pub(crate) const SCHEDULER: Parameter = Parameter {
    name: "scheduler",
    about: "The scheduler of the flow, which must be one of those that the store knows",
    kind: Kind::Text,
};

pub(crate) fn exceptions(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    if let Some(scheduler) = asked.text(SCHEDULER.name)
        && !context.store.schedulers()?.iter().any(|known| known == scheduler)
    {
        return told(StatusCode::SERVICE_UNAVAILABLE, "Service is currently unavailable");
    }
    match asked.text(FLOW_URL.name) {
        Some(id) => {
            let apps = whole(context, MemberOf::FlowExecution(id), MOST_WHOLE)?;
            json(dr_elephant::workflow_exceptions(&apps)?)
        }
        None => Ok(Reply::WithStatus(StatusCode::NOT_FOUND, JSON, dr_elephant::workflow_exceptions(&[])?)),
    }
}

pub(crate) fn exception_statuses(context: &Context<'_>, _: &Asked) -> Result<Reply, Failure> {
    json(dr_elephant::exception_statuses(&context.store.schedulers()?)?)
}
