//! What graphs of flows and jobs are drawn from.

use std::io;

use super::super::failure::Failure;
use super::super::query::Asked;
use super::super::reply::Reply;
use super::super::route::Context;
use super::{ID, MOST_READ, json, read};
use elephant_report::site::dr_elephant;
use elephant_store::{Member, MemberOf};

type Shape = fn(&[Member], usize) -> io::Result<Vec<u8>>;

/// An answer on the members of what the parameter names; that of nothing if it is missing.
fn graph(
    context: &Context<'_>,
    asked: &Asked,
    (of, shape): (fn(&str) -> MemberOf<'_>, Shape),
) -> Result<Reply, Failure> {
    let members = match asked.text(ID.name) {
        Some(id) => read(context, of(id))?,
        None => Vec::new(),
    };
    json(shape(&members, MOST_READ)?)
}

pub(crate) fn flow_scores(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    graph(context, asked, (|name| MemberOf::Flow(name), dr_elephant::flow_scores))
}

pub(crate) fn flow_metrics(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    graph(context, asked, (|name| MemberOf::Flow(name), dr_elephant::flow_metrics))
}

pub(crate) fn job_scores(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    graph(context, asked, (|name| MemberOf::Job(name), dr_elephant::job_scores))
}

pub(crate) fn job_metrics(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    graph(context, asked, (|name| MemberOf::Job(name), dr_elephant::job_metrics))
}
