//! Applications that match, part by part, and those of users.

use axum::http::StatusCode;

use super::super::failure::Failure;
use super::super::filter::Which;
use super::super::ingest::now;
use super::super::query::Asked;
use super::super::reply::{JSON, Reply};
use super::super::route::{Context, Kind, Parameter};
use super::{DAY_MS, MOST_READ, USERNAME, ago, json, just_after, millis};
use elephant_base::severity::Severity;
use elephant_base::units::Timestamp;
use elephant_engine::engine::Filter;
use elephant_model::model::Engine;
use elephant_report::site::dr_elephant::{self, Key, OfUsers, Part};
use elephant_ruleset::Pattern;
use elephant_store::{LONGEST_MS, Matching, Member, MemberOf, Order, Search, StoredApplication};

/// Applications of a part, if the request names no other number, and the most.
const USUAL: usize = 25;
const MOST: usize = 500;
/// The time that users are asked about, if the request names no other one.
const USUAL_DAYS: i64 = 7;

pub(crate) const QUEUE_NAME: Parameter =
    Parameter { name: "queue-name", about: "Only applications in this queue", kind: Kind::Text };
pub(crate) const SEVERITY: Parameter = Parameter {
    name: "severity",
    about: "Only applications at least as bad, from 0 (none) to 4 (critical)",
    kind: Kind::Among(&["0", "1", "2", "3", "4"]),
};
pub(crate) const ANALYSIS: Parameter = Parameter {
    name: "analysis",
    about: "With `severity`: the heuristic that must have found something as bad",
    kind: Kind::Text,
};
pub(crate) const JOB_TYPE: Parameter =
    Parameter { name: "job-type", about: "Only applications of this type, such as Hive", kind: Kind::Text };
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
pub(crate) const FINISHED_BEGIN: Parameter = Parameter {
    name: "finished-time-begin",
    about: "Only applications that ended at this time or later, in milliseconds since 1970",
    kind: Kind::Text,
};
pub(crate) const FINISHED_END: Parameter = Parameter {
    name: "finished-time-end",
    about: "Only applications that ended at this time or earlier, in milliseconds since 1970",
    kind: Kind::Text,
};
/// Pages that are not found by their beginning, so that all before them are read.
pub(crate) const NUMBER: Parameter =
    Parameter { name: "page", about: "The number of the page", kind: Kind::Count { usual: 1, most: 100 } };
pub(crate) const OFFSET: Parameter =
    Parameter { name: "offset", about: "How many applications come before", kind: Kind::Text };
pub(crate) const LIMIT: Parameter =
    Parameter { name: "limit", about: "The most applications, up to 500", kind: Kind::Text };
pub(crate) const USERNAMES: Parameter =
    Parameter { name: "usernames", about: "The users, separated by commas", kind: Kind::Text };
pub(crate) const SORT_KEY: Parameter = Parameter {
    name: "sortKey",
    about: "What they are ordered by: severity, resourceUsed, resourceWasted, delay or finish_time",
    kind: Kind::Text,
};
pub(crate) const INCREASING: Parameter =
    Parameter { name: "increasing", about: "Whether the least comes first", kind: Kind::Text };

/// What a search found.
#[derive(Default)]
pub(super) struct Found {
    pub(super) apps: Vec<StoredApplication>,
    /// How many are before them.
    start: usize,
    /// How many there are in all parts that can be asked for.
    total: usize,
}

/// The conditions of a search.
struct Conditions {
    which: Which,
    severity: Option<Severity>,
    finished: [Option<Timestamp>; 2],
    /// A type of jobs that is told only by the reports on them.
    job_type: Option<String>,
}

/// The engine of jobs of a type. Hive and Pig run on MapReduce and on Tez.
fn engine_of(job_type: &str) -> Option<Engine> {
    let is = |known: &str| job_type.eq_ignore_ascii_case(known);
    match job_type {
        _ if is(dr_elephant::SPARK) => Some(Engine::Spark),
        _ if dr_elephant::TEZ_JOB_TYPES.iter().any(|known| is(known)) => None,
        _ => Some(Engine::MapReduce),
    }
}

impl Conditions {
    /// `None` if no application can meet them.
    fn of(context: &Context<'_>, asked: &Asked) -> Result<Option<Self>, Failure> {
        let exactly = |parameter: Parameter| asked.text(parameter.name).map(Pattern::exactly).into_iter();
        let job_type = asked.text(JOB_TYPE.name);
        let engine = job_type.and_then(engine_of);
        let severity = asked.text(SEVERITY.name);
        let severity = severity.and_then(|value| Severity::ALL.get(value.parse::<usize>().ok()?).copied());
        let finished = [millis(asked, FINISHED_BEGIN)?, millis(asked, FINISHED_END)?.map(just_after)];
        let [from, until] = finished;
        // No index has ends. What ended at some time was submitted before, and rarely much earlier.
        let soon = from.map(|from| Timestamp::from_millis(from.as_millis().saturating_sub(LONGEST_MS)));
        let filter = Filter {
            engine,
            users: exactly(USERNAME).collect(),
            queues: exactly(QUEUE_NAME).collect(),
            since: millis(asked, BEGIN)?.max(soon),
            until: [millis(asked, END)?.map(just_after), until].into_iter().flatten().min(),
            ..Filter::default()
        };
        let mut which = Which::from(filter);
        if let (Some(name), Some(_)) = (asked.text(ANALYSIS.name), severity) {
            let Some(rule) = dr_elephant::rule_named(name, context.rules) else { return Ok(None) };
            which.only.rules = vec![rule.to_owned()];
        }
        let job_type = job_type.filter(|_| engine != Some(Engine::Spark)).map(str::to_owned);
        Ok(Some(Self { which, severity, finished, job_type }))
    }

    fn search(&self, most: usize) -> Search<'_> {
        let all = Search::of(&self.which.filter, &self.which.only, (Order::Latest, most));
        Search { severity: self.severity, finished: self.finished, ..all }
    }

    /// The members of the type, among the last ones that meet the other conditions.
    fn of_type(&self, context: &Context<'_>, job_type: &str) -> Result<Vec<Member>, Failure> {
        let mut members = context.store.members(MemberOf::Found(&self.search(MOST_READ)), MOST_READ)?;
        members.retain(|member| {
            dr_elephant::job_type_of(member).is_some_and(|known| known.eq_ignore_ascii_case(job_type))
        });
        Ok(members)
    }
}

/// At most `most` of the applications that the parameters admit, after the first `before` ones.
pub(super) fn found(
    context: &Context<'_>,
    asked: &Asked,
    (before, most): (usize, usize),
) -> Result<Found, Failure> {
    let Some(conditions) = Conditions::of(context, asked)? else { return Ok(Found::default()) };
    let store = context.store;
    if let Some(job_type) = &conditions.job_type {
        let members = conditions.of_type(context, job_type)?;
        let start = before.min(members.len());
        let part: Vec<&Member> = members.iter().skip(start).take(most).collect();
        return Ok(Found { apps: store.whole(&part)?, start, total: members.len() });
    }
    let total = match store.search(&conditions.search(1))?.of {
        Matching::Exactly(count) | Matching::MoreThan(count) => usize::try_from(count).unwrap_or(usize::MAX),
    };
    let start = before.min(total);
    let apps = store.search_whole(&conditions.search(start.saturating_add(most)), start)?;
    Ok(Found { apps, start, total })
}

/// The part that is asked for: how many come before it, and how many it has at most; `None` if that is none.
fn part_of(asked: &Asked) -> Result<Option<(usize, usize)>, Failure> {
    let number = |parameter: Parameter, usual: usize| {
        let Some(text) = asked.text(parameter.name) else { return Ok(Some(usual)) };
        let name = parameter.name;
        let wrong = |_| Failure::Bad(format!("the parameter {name} must be a number"));
        Ok::<_, Failure>(usize::try_from(text.parse::<i64>().map_err(wrong)?).ok())
    };
    let before = number(OFFSET, 0)?.unwrap_or_default();
    let most = number(LIMIT, USUAL)?.filter(|most| *most > 0);
    Ok(most.map(|most| (before, most.min(MOST))))
}

pub(crate) fn search_results(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let Some(part) = part_of(asked)? else { return json(b"{}\n".to_vec()) };
    let Found { apps, start, total } = found(context, asked, part)?;
    let conditions = asked.all().filter(|(name, _)| ![OFFSET.name, LIMIT.name].contains(name));
    let id = form_urlencoded::Serializer::new(String::new()).extend_pairs(conditions).finish();
    json(dr_elephant::search_results(Part { id: &id, start, total }, &apps, context.rules)?)
}

pub(crate) fn search_options(context: &Context<'_>, _: &Asked) -> Result<Reply, Failure> {
    json(dr_elephant::search_options(context.rules)?)
}

pub(crate) fn user_details(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let Some((before, most)) = part_of(asked)? else { return json(b"{}\n".to_vec()) };
    let Some(names) = asked.text(USERNAMES.name) else {
        let nothing = dr_elephant::no_details("user-results")?;
        return Ok(Reply::WithStatus(StatusCode::NOT_FOUND, JSON, nothing));
    };
    let users: Vec<&str> = names.split(',').collect();
    let from = millis(asked, FINISHED_BEGIN)?.unwrap_or_else(|| ago(USUAL_DAYS * DAY_MS));
    let to = millis(asked, FINISHED_END)?.unwrap_or_else(now);
    // One more shows whether these are all.
    let mut members = context.store.members(MemberOf::Users(&users, [from, to]), MOST_READ + 1)?;
    let are_all = members.len() <= MOST_READ;
    members.truncate(MOST_READ);
    let key = Key::named(asked.text(SORT_KEY.name).unwrap_or_default());
    let is_increasing = asked.text(INCREASING.name).is_none_or(|value| value.eq_ignore_ascii_case("true"));
    let ordered = dr_elephant::in_order(&members, key, is_increasing);
    let start = before.min(ordered.len());
    let shown: Vec<&Member> = ordered.into_iter().skip(start).take(most).collect();
    let apps = context.store.whole(&shown)?;
    let (users, part) =
        (OfUsers { members: &members, are_all }, Part { id: names, start, total: members.len() });
    json(dr_elephant::user_details(users, part, &apps, context.rules)?)
}
