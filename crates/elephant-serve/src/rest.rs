//! Routes of Dr. Elephant that scripts ask, with its parameters and the names of its fields.

use chrono::{NaiveDate, NaiveTime};

use super::failure::Failure;
use super::filter::Which;
use super::query::Asked;
use super::reply::{JSON, Reply};
use super::route::{Context, Kind, Parameter};
use elephant_base::severity::Severity;
use elephant_base::units::Timestamp;
use elephant_engine::engine::Filter;
use elephant_report::site::dr_elephant;
use elephant_ruleset::Pattern;
use elephant_store::{Grouping, Only, Order, Question, Search, View};

/// Applications of one page, as Dr. Elephant had it.
const PAGE: usize = 100;

pub(crate) const ID: Parameter =
    Parameter { name: "id", about: "The id of an application or a job", kind: Kind::Text };
pub(crate) const USERNAME: Parameter =
    Parameter { name: "username", about: "Only applications of this user", kind: Kind::Text };
pub(crate) const SEVERITY: Parameter = Parameter {
    name: "severity",
    about: "Only applications at least as bad, from 0 (none) to 4 (critical)",
    kind: Kind::Among(&["0", "1", "2", "3", "4"]),
};
pub(crate) const BEGIN: Parameter = Parameter {
    name: "started-time-begin",
    about: "Only applications that were submitted at this time or later, in milliseconds since 1970",
    kind: Kind::Text,
};
pub(crate) const END: Parameter = Parameter {
    name: "started-time-end",
    about: "Only applications that were submitted at this time or earlier, in milliseconds since 1970",
    kind: Kind::Text,
};
/// Pages that are not found by their beginning, so that all before them are read.
pub(crate) const NUMBER: Parameter =
    Parameter { name: "page", about: "The number of the page", kind: Kind::Count { usual: 1, most: 100 } };
pub(crate) const START_TIME: Parameter = Parameter {
    name: "startTime",
    about: "Applications submitted from this day (2026-11-20) or hour (2026-11-20-13) on",
    kind: Kind::Text,
};
pub(crate) const END_TIME: Parameter =
    Parameter { name: "endTime", about: "Applications submitted before this day or hour", kind: Kind::Text };

pub(crate) fn job(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let id = asked.text(ID.name).ok_or_else(|| Failure::Bad("the parameter id is missing".to_owned()))?;
    one(context, id)
}

fn one(context: &Context<'_>, id: &str) -> Result<Reply, Failure> {
    let found = context.store.application(id)?;
    let app = found.first().ok_or_else(|| Failure::Missing(format!("application \"{id}\" in the store")))?;
    Ok(Reply::Content(JSON, dr_elephant::application(app, &context.infos())?))
}

pub(crate) fn search(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    if let Some(id) = asked.text(ID.name) {
        return one(context, id);
    }
    let filter = Filter {
        users: asked.text(USERNAME.name).map(Pattern::exactly).into_iter().collect(),
        since: millis(asked, BEGIN)?,
        // Dr. Elephant's end belongs to the time.
        until: millis(asked, END)?.map(|end| Timestamp::from_millis(end.as_millis().saturating_add(1))),
        ..Filter::default()
    };
    let severity =
        asked.text(SEVERITY.name).and_then(|value| Severity::ALL.get(value.parse::<usize>().ok()?).copied());
    let before = (asked.count(NUMBER) - 1) * PAGE;
    let of_page = Search::of(&filter, Only::ALL, (Order::Latest, before + PAGE));
    let search = Search { severity, ..of_page };
    let found = context.store.search_whole(&search, before)?;
    if found.is_empty() {
        return Err(Failure::Missing("application that matches".to_owned()));
    }
    Ok(Reply::Content(JSON, dr_elephant::applications(&found, &context.infos())?))
}

fn millis(asked: &Asked, parameter: Parameter) -> Result<Option<Timestamp>, Failure> {
    let Some(text) = asked.text(parameter.name) else { return Ok(None) };
    let name = parameter.name;
    let time = text
        .parse()
        .map_err(|_| Failure::Bad(format!("the parameter {name} must be milliseconds since 1970")))?;
    Ok(Some(Timestamp::from_millis(time)))
}

pub(crate) fn usage_by_user(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let which = Which::from(Filter {
        since: Some(hour(asked, START_TIME)?),
        until: Some(hour(asked, END_TIME)?),
        ..Filter::default()
    });
    let answer = context.store.answer(&Question::Groups(Grouping::User), which.asked(None, usize::MAX))?;
    let users = match answer.map(|answer| answer.view) {
        Some(View::Groups(_, grouped)) => grouped.groups,
        _ => Vec::new(),
    };
    Ok(Reply::Content(JSON, dr_elephant::users(&users)?))
}

/// A day, or an hour of one, in UTC.
fn hour(asked: &Asked, parameter: Parameter) -> Result<Timestamp, Failure> {
    let name = parameter.name;
    let text = asked.text(name).ok_or_else(|| Failure::Bad(format!("the parameter {name} is missing")))?;
    moment(text)
        .ok_or_else(|| Failure::Bad(format!("the parameter {name} must be as 2026-11-20 or 2026-11-20-13")))
}

fn moment(text: &str) -> Option<Timestamp> {
    let (day, hour) = match text.get(10..) {
        None | Some("") => (text, 0),
        Some(rest) => (text.get(..10)?, rest.strip_prefix('-')?.parse().ok()?),
    };
    let time = NaiveTime::from_hms_opt(hour, 0, 0)?;
    Some(Timestamp::from_millis(day.parse::<NaiveDate>().ok()?.and_time(time).and_utc().timestamp_millis()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_hours() {
        let millis = |text| moment(text).map(Timestamp::as_millis);
        assert_eq!(millis("1970-01-02"), Some(86_400_000));
        assert_eq!(millis("1970-01-02-03"), Some(86_400_000 + 3 * 3_600_000));
        for text in ["1970-01-02-24", "1970-01-02-", "1970-01-0203", "yesterday", "", "äääääää"] {
            assert_eq!(millis(text), None, "{text}");
        }
    }
}
