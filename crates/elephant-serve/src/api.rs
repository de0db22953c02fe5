//! The API, version 1.

use super::failure::Failure;
use super::filter::Which;
use super::pages::{AFTER, search_of};
use super::query::Asked;
use super::reply::{JSON, Reply};
use super::route::{Context, Kind, Parameter};
use elephant_report::TextOptions;
use elephant_report::history::{HistoryFormat, write};
use elephant_report::site::json;
use elephant_store::{Answer, Grouping, Question, View};

/// How many lines a list has.
pub(crate) const LIMIT: Parameter = Parameter {
    name: "limit",
    about: "The most lines of each list",
    kind: Kind::Count { usual: 50, most: 1000 },
};

fn whole(answer: &Answer) -> Result<Reply, Failure> {
    let mut out = Vec::new();
    write(answer, HistoryFormat::Json, TextOptions::default(), &mut out)?;
    Ok(Reply::Content(JSON, out))
}

fn answered(
    context: &Context<'_>,
    asked: &Asked,
    question: &Question,
    most: usize,
) -> Result<Option<Answer>, Failure> {
    Ok(context.store.answer(question, Which::of(asked).asked(None, most))?)
}

pub(crate) fn summary(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let answer = answered(context, asked, &Question::Overview, asked.count(LIMIT))?;
    whole(&answer.ok_or_else(|| Failure::Missing("answer".to_owned()))?)
}

/// What applications are grouped by, as addresses have it.
pub(crate) const GROUPS: &[&str] = &[
    "user", "queue", "job", "day", "cluster", "flow", "owner", "engine", "status", "trouble", "rule",
    "failure", "setting",
];

pub(crate) fn groups(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let by = asked.text("by").unwrap_or_default();
    let grouping = Grouping::ALL.iter().find(|grouping| grouping.name() == by);
    let grouping = grouping.ok_or_else(|| Failure::Missing(format!("grouping \"{by}\"")))?;
    let answer = answered(context, asked, &Question::Groups(*grouping), asked.count(LIMIT))?;
    whole(&answer.ok_or_else(|| Failure::Missing("answer".to_owned()))?)
}

pub(crate) fn not_judged(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let answer = answered(context, asked, &Question::Unjudged, asked.count(LIMIT))?;
    whole(&answer.ok_or_else(|| Failure::Missing("answer".to_owned()))?)
}

pub(crate) fn flow(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let key = asked.text("key").unwrap_or_default();
    let history = context.store.flow(key, Which::of(asked).asked(None, asked.count(LIMIT)))?;
    let history =
        history.ok_or_else(|| Failure::Missing(format!("application of the flow \"{key}\" in the store")))?;
    Ok(Reply::Content(JSON, json::flow(&history)?))
}

pub(crate) fn applications(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let which = Which::of(asked);
    let found = context.store.search(&search_of(asked, &which, asked.count(LIMIT))?)?;
    Ok(Reply::Content(JSON, json::applications(&found)?))
}

pub(crate) fn application(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let id = asked.text("id").unwrap_or_default();
    let found = context.store.application(id)?;
    if found.is_empty() {
        return Err(Failure::Missing(format!("application \"{id}\" in the store")));
    }
    Ok(Reply::Content(JSON, json::application(&found)?))
}

/// The jobs that waste most. The sums of all jobs are kept, so that all are read to find those after one of them.
pub(crate) fn jobs(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let answer = answered(context, asked, &Question::Groups(Grouping::Job), usize::MAX)?;
    let Some(View::Groups(_, grouped)) = answer.map(|answer| answer.view) else {
        return Err(Failure::Missing("answer".to_owned()));
    };
    let begin = match asked.text(AFTER.name) {
        None => 0,
        Some(key) => {
            let place = grouped.groups.iter().position(|group| group.key.as_deref() == Some(key));
            let unknown =
                || Failure::Bad("the parameter after is of no use: there is no such job".to_owned());
            place.ok_or_else(unknown)? + 1
        }
    };
    let rest = grouped.groups.get(begin..).unwrap_or_default();
    let shown = rest.get(..asked.count(LIMIT)).unwrap_or(rest);
    let next = shown.last().filter(|_| shown.len() < rest.len()).and_then(|last| last.key.as_deref());
    Ok(Reply::Content(JSON, json::jobs(shown, grouped.of, next)?))
}

pub(crate) fn job(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let key = asked.text("key").unwrap_or_default();
    let answer = answered(context, asked, &Question::Job(key.to_owned()), asked.count(LIMIT))?;
    whole(&answer.ok_or_else(|| Failure::Missing(format!("job \"{key}\" in the store")))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_groups_have_an_address() {
        let names: Vec<&str> = Grouping::ALL.iter().map(|grouping| grouping.name()).collect();
        assert_eq!(names, GROUPS);
    }
}
