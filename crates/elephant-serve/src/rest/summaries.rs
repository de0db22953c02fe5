//! The last applications, jobs and flows, and how many applications have each severity.

use super::super::failure::Failure;
use super::super::filter::Which;
use super::super::query::Asked;
use super::super::reply::Reply;
use super::super::route::Context;
use super::{DAY_MS, MOST_READ, USERNAME, ago, json, read};
use elephant_engine::engine::Filter;
use elephant_report::site::dr_elephant;
use elephant_ruleset::Pattern;
use elephant_store::{MemberOf, Order, Search};

/// Applications of a list.
const MOST: usize = 50;

pub(crate) fn dashboard(context: &Context<'_>, _: &Asked) -> Result<Reply, Failure> {
    json(dr_elephant::dashboard(context.store.severities_since(ago(DAY_MS))?)?)
}

pub(crate) fn application_summaries(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let users = asked.text(USERNAME.name).map(Pattern::exactly).into_iter().collect();
    let which = Which::from(Filter { users, ..Filter::default() });
    let search = Search::of(&which.filter, &which.only, (Order::Latest, MOST));
    let apps = context.store.search_whole(&search, 0)?;
    json(dr_elephant::application_summaries(&apps, context.rules)?)
}

pub(crate) fn job_summaries(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let members = read(context, MemberOf::AnyExecution(asked.text(USERNAME.name)))?;
    json(dr_elephant::job_summaries(&members, MOST_READ)?)
}

pub(crate) fn workflow_summaries(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let members = read(context, MemberOf::AnyExecution(asked.text(USERNAME.name)))?;
    json(dr_elephant::workflow_summaries(&members, MOST_READ)?)
}
