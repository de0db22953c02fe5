//! Addresses of Dr. Elephant's pages, in bookmarks, mails and tickets. They lead to the pages that answer the same.

use super::super::failure::Failure;
use super::super::pages;
use super::super::query::Asked;
use super::super::reply::Reply;
use super::super::route::{Context, Kind, Parameter};
use super::applications::FLOW_EXECUTION;
use super::{FIRST, ID, SECOND};
use elephant_report::site;
use elephant_report::site::dr_elephant;
use elephant_store::{Grouping, MemberOf};

pub(crate) const TOPIC: Parameter =
    Parameter { name: "topic", about: "The name of a heuristic", kind: Kind::Text };
pub(crate) const JOB_DEF_ID: Parameter =
    Parameter { name: "job-def-id", about: "The key of the job", kind: Kind::Text };
pub(crate) const FLOW_DEF_ID: Parameter =
    Parameter { name: "flow-def-id", about: "The name of the flow", kind: Kind::Text };
/// The pages have all graphs.
pub(crate) const GRAPH: Parameter =
    Parameter { name: "select-graph-type", about: "Has no effect", kind: Kind::Text };

fn elsewhere(address: impl Into<String>) -> Reply {
    Reply::Elsewhere(address.into())
}

/// The page of a group; that of everything if there is none.
fn group(grouping: Grouping, key: Option<&str>) -> Reply {
    let address = key.and_then(|key| site::group_address(grouping, key));
    elsewhere(address.unwrap_or_else(|| "/".to_owned()))
}

#[expect(clippy::unnecessary_wraps, reason = "a route may fail")]
pub(crate) fn help(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let rule = asked.text(TOPIC.name).and_then(|topic| dr_elephant::rule_named(topic, context.rules));
    let address = rule.and_then(|rule| site::group_address(Grouping::Rule, rule));
    Ok(elsewhere(address.unwrap_or_else(|| "/rules".to_owned())))
}

#[expect(clippy::unnecessary_wraps, reason = "a route may fail")]
pub(crate) fn job_history(_: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    Ok(group(Grouping::Job, asked.text(JOB_DEF_ID.name)))
}

#[expect(clippy::unnecessary_wraps, reason = "a route may fail")]
pub(crate) fn flow_history(_: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    Ok(group(Grouping::Flow, asked.text(FLOW_DEF_ID.name)))
}

/// The page within the other user interface is after `#`, which no browser sends.
#[expect(clippy::unnecessary_wraps, reason = "a route may fail")]
pub(crate) fn new_pages(_: &Context<'_>, _: &Asked) -> Result<Reply, Failure> {
    Ok(elsewhere("/"))
}

/// The flow and the run of an execution; `None` if it is not in the store.
fn flow_and_run(context: &Context<'_>, execution: &str) -> Result<Option<(String, String)>, Failure> {
    let members = context.store.members(MemberOf::FlowExecution(execution), 1)?;
    let run = members.into_iter().next().map(|member| member.run);
    Ok(run.and_then(|run| run.flow.zip(run.flow_run)))
}

fn missing(execution: &str) -> Failure {
    Failure::Missing(format!("execution \"{execution}\" in the store"))
}

/// A search by Dr. Elephant's ids leads to the page of what has the id; all others are our own.
pub(crate) fn search(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    if let Some(id) = asked.text(ID.name) {
        return Ok(elsewhere(site::application_address(id)));
    }
    if let Some(execution) = asked.text(FLOW_EXECUTION.name) {
        let (flow, run) = flow_and_run(context, execution)?.ok_or_else(|| missing(execution))?;
        return Ok(elsewhere(site::execution_address(&flow, &run)));
    }
    match asked.text(JOB_DEF_ID.name) {
        Some(key) => Ok(group(Grouping::Job, Some(key))),
        None => pages::search(context, asked),
    }
}

/// Two executions lead to their page; two applications have ours here.
pub(crate) fn compare(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let (Some(first), Some(second)) = (asked.text(FIRST.name), asked.text(SECOND.name)) else {
        return pages::compare(context, asked);
    };
    let (flow, run) = flow_and_run(context, first)?.ok_or_else(|| missing(first))?;
    let (other_flow, other) = flow_and_run(context, second)?.ok_or_else(|| missing(second))?;
    if flow != other_flow {
        return Err(Failure::Bad(
            "these are executions of two flows; only those of one are compared".to_owned(),
        ));
    }
    Ok(elsewhere(site::comparison_address(&flow, &run, &other)))
}
