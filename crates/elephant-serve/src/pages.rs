//! The pages.

use super::failure::Failure;
use super::filter::Which;
use super::ingest::Progress;
use super::query::Asked;
use super::reply::{HTML, Reply};
use super::route::{Context, Kind, Parameter};
use elephant_base::severity::Severity;
use elephant_base::units::Timestamp;
use elephant_engine::engine::Filter;
use elephant_model::diagnosis::FailureKind;
use elephant_report::site;
use elephant_ruleset::Pattern;
use elephant_store::{
    Answer, Cursor, Group, Grouped, Grouping, Order, Question, Run, Search, Store, View, local_path,
};

/// Lines of lists on pages that have several.
const FEW: usize = 10;
/// Applications there, which have sentences.
const FEWEST: usize = 5;
/// Runs of a job, and nodes, on a page.
const MANY: usize = 100;
/// Applications of one part of a search.
const PART: usize = 50;

const DAY_MS: i64 = 86_400_000;

pub(crate) const TEXT: Parameter = Parameter {
    name: "q",
    about: "Only applications whose id, name, user or queue has this text",
    kind: Kind::Text,
};
pub(crate) const SEVERITY: Parameter = Parameter {
    name: "severity",
    about: "Only applications with a finding at least as bad, of the rule if one is named",
    kind: Kind::Among(&["low", "moderate", "severe", "critical"]),
};
pub(crate) const KIND: Parameter =
    Parameter { name: "kind", about: "Only applications with a trouble of this kind", kind: Kind::Text };
pub(crate) const FAILURE: Parameter = Parameter {
    name: "failure",
    about: "Only applications with this kind of failure, such as heap-space",
    kind: Kind::Text,
};
pub(crate) const ENDED_FROM: Parameter = Parameter {
    name: "ended_from",
    about: "Only applications that ended at this time or later",
    kind: Kind::Moment,
};
pub(crate) const ENDED_TO: Parameter = Parameter {
    name: "ended_to",
    about: "Only applications that ended before this time",
    kind: Kind::Moment,
};
pub(crate) const EXECUTION: Parameter =
    Parameter { name: "run", about: "Only this execution", kind: Kind::Text };
pub(crate) const WITH: Parameter =
    Parameter { name: "with", about: "The execution to compare it with", kind: Kind::Text };
pub(crate) const STATUS: Parameter = Parameter {
    name: "status",
    about: "Only applications that ended like this",
    kind: Kind::Among(&["succeeded", "failed", "killed", "running", "unknown"]),
};
pub(crate) const SORT: Parameter = Parameter {
    name: "sort",
    about: "What comes first",
    kind: Kind::Among(&["latest", "waste", "saving", "severity", "runtime"]),
};
pub(crate) const AFTER: Parameter =
    Parameter { name: "after", about: "What `next` of the part before was", kind: Kind::Text };

/// The question that a search asks, with at most so many applications.
pub(crate) fn search_of<'a>(asked: &'a Asked, which: &'a Which, most: usize) -> Result<Search<'a>, Failure> {
    let after = asked.text(AFTER.name).map(str::parse::<Cursor>).transpose();
    let after = after.map_err(|error| Failure::Bad(format!("the parameter after is of no use: {error}")))?;
    let among = |name: &str| asked.text(name);
    Ok(Search {
        filter: &which.filter,
        only: &which.only,
        text: asked.text(TEXT.name),
        severity: among(SEVERITY.name)
            .and_then(|name| Severity::ALL.into_iter().find(|severity| severity.name() == name)),
        kind: asked.text(KIND.name),
        failure: asked.text(FAILURE.name),
        finished: [ENDED_FROM, ENDED_TO].map(|end| asked.moment(end.name)),
        status: among(STATUS.name),
        order: among(SORT.name)
            .and_then(|name| Order::ALL.into_iter().find(|order| order.name() == name))
            .unwrap_or_default(),
        after,
        most,
    })
}

fn answered(
    store: &Store,
    question: &Question,
    which: &Which,
    most: usize,
) -> Result<Option<Answer>, Failure> {
    Ok(store.answer(question, which.asked(None, most))?)
}

/// The groups of all applications.
fn grouped(store: &Store, grouping: Grouping, most: usize) -> Result<Grouped, Failure> {
    let answer = answered(store, &Question::Groups(grouping), &Which::default(), most)?;
    Ok(match answer.map(|answer| answer.view) {
        Some(View::Groups(_, grouped)) => grouped,
        _ => Grouped { groups: Vec::new(), of: 0 },
    })
}

/// The first few applications in an order.
fn first(store: &Store, which: &Which, order: Order) -> Result<Vec<Run>, Failure> {
    Ok(store.search(&Search::of(&which.filter, &which.only, (order, FEWEST)))?.runs)
}

pub(crate) fn overview(context: &Context<'_>, _: &Asked) -> Result<Reply, Failure> {
    let (store, all) = (context.store, Which::default());
    let Some(answer) = answered(store, &Question::Overview, &all, FEW)? else {
        return Err(Failure::Missing("answer".to_owned()));
    };
    // New is the last day that the store knows of, also if nothing was stored today.
    let since = answer.until.map(|until| Timestamp::from_millis(until.as_millis().saturating_sub(DAY_MS)));
    let new = Which::from(Filter { since, ..Filter::default() });
    // What goes wrong may name files of others.
    let ingest = context.ingest().filter(|_| context.viewer.visible().is_none());
    let page = site::overview(&site::Overview {
        all: &answer,
        days: &grouped(store, Grouping::Day, FEW)?,
        new: &if since.is_some() { first(store, &new, Order::Waste)? } else { Vec::new() },
        since,
        latest: &first(store, &all, Order::Latest)?,
        state: &state(ingest.as_ref(), store.last_ingest()?),
    })?;
    Ok(Reply::Content(HTML, page))
}

/// Sentences on how up to date the store is.
fn state(ingest: Option<&Progress>, stored: Option<Timestamp>) -> Vec<String> {
    let moment = |at: Timestamp| site::minute(at).unwrap_or_default();
    let stored = stored.map(|at| format!("Applications were last stored at {}.", moment(at)));
    let Some(progress) = ingest else { return stored.into_iter().collect() };
    let turn = match &progress.last {
        None => "The histories are being read for the first time.".to_owned(),
        Some((at, Ok(done))) => {
            format!("The histories were last read at {}: {}.", moment(*at), done.sentence)
        }
        Some((at, Err(problem))) => {
            format!("The histories could not be read at {}: {problem}.", moment(*at))
        }
    };
    let now =
        (progress.is_running && progress.last.is_some()).then(|| "They are being read again.".to_owned());
    [Some(turn), now, stored].into_iter().flatten().collect()
}

pub(crate) fn search(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let which = Which::of(asked);
    let search = search_of(asked, &which, PART)?;
    let store = context.store;
    // An id leads to its page at once.
    if let (Some(id), None) = (asked.text(TEXT.name), asked.text(AFTER.name))
        && asked.all().count() == 1
        && let [only] = store.application(id)?.as_slice()
    {
        return Ok(Reply::Elsewhere(site::application_address(&only.run.id)));
    }
    let found = store.search(&search)?;
    let kinds: Vec<String> = grouped(store, Grouping::Trouble, usize::MAX)?
        .groups
        .into_iter()
        .filter_map(|group| group.key)
        .collect();
    let page =
        site::Asked { parameters: asked.all().collect(), kinds: &sorted(kinds), rules: &store.rules()? };
    Ok(Reply::Content(HTML, site::search(&page, found)?))
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort_unstable();
    names
}

pub(crate) fn job(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let key = asked.text("key").unwrap_or_default();
    let history = context.store.job_history(key, Which::of(asked).asked(None, MANY))?;
    let history = history.ok_or_else(|| Failure::Missing(format!("job \"{key}\" in the store")))?;
    Ok(Reply::Content(HTML, site::job(&history)?))
}

pub(crate) fn me(context: &Context<'_>, _: &Asked) -> Result<Reply, Failure> {
    let missing = || Failure::Missing("user who is known to ask: no proxy tells (--user-header)".to_owned());
    let name = context.viewer.name().ok_or_else(missing)?;
    site::user_address(name).map(Reply::Elsewhere).ok_or_else(missing)
}

pub(crate) fn user(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let name = asked.text("name").unwrap_or_default();
    let mut which = Which::of(asked);
    which.filter.users = vec![Pattern::exactly(name)];
    group(context, "user", name, &which)
}

pub(crate) fn queue(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let name = asked.text("name").unwrap_or_default();
    let mut which = Which::of(asked);
    which.filter.queues = vec![Pattern::exactly(name)];
    group(context, "queue", name, &which)
}

fn group(context: &Context<'_>, what: &str, name: &str, which: &Which) -> Result<Reply, Failure> {
    let answer = answered(context.store, &Question::Overview, which, FEW)?;
    let answer = answer.filter(|answer| answer.total.applications > 0);
    let missing = || Failure::Missing(format!("application of the {what} \"{name}\" in the store"));
    let answer = answer.ok_or_else(missing)?;
    let latest = first(context.store, which, Order::Latest)?;
    Ok(Reply::Content(HTML, site::group(what, name, &answer, &latest)?))
}

pub(crate) fn flow(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let key = asked.text("key").unwrap_or_default();
    let missing = |what: String| Failure::Missing(format!("{what} of the flow \"{key}\" in the store"));
    let store = context.store;
    match (asked.text(WITH.name), asked.text(EXECUTION.name)) {
        (None, None) => {
            let history = store.flow(key, Which::of(asked).asked(None, MANY))?;
            let history = history.ok_or_else(|| missing("application".to_owned()))?;
            Ok(Reply::Content(HTML, site::flow(&history)?))
        }
        (None, Some(run)) => {
            let execution = store.execution(key, run)?;
            let execution = execution.ok_or_else(|| missing(format!("execution \"{run}\"")))?;
            Ok(Reply::Content(HTML, site::execution(key, run, &execution)?))
        }
        (Some(_), None) => Err(Failure::Bad("the parameter run is missing".to_owned())),
        (Some(a), Some(b)) => {
            let jobs = store.two_executions(key, [a, b])?;
            let jobs = jobs.map_err(|run| missing(format!("execution \"{run}\"")))?;
            Ok(Reply::Content(HTML, site::executions_compared(key, [a, b], &jobs)?))
        }
    }
}

pub(crate) fn failures(context: &Context<'_>, _: &Asked) -> Result<Reply, Failure> {
    let found = grouped(context.store, Grouping::Failure, usize::MAX)?;
    Ok(Reply::Content(HTML, site::failures(&found.groups)?))
}

pub(crate) fn failure(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let id = asked.text("id").unwrap_or_default();
    let kind = FailureKind::ALL.iter().find(|kind| kind.name() == id);
    let kind = *kind.ok_or_else(|| Failure::Missing(format!("kind of failure \"{id}\"")))?;
    let found = grouped(context.store, Grouping::Failure, usize::MAX)?;
    let of_kind = |group: &&Group| group.key.as_deref() == Some(id);
    Ok(Reply::Content(HTML, site::failure(kind, found.groups.iter().find(of_kind))?))
}

pub(crate) fn nodes(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let answer = answered(context.store, &Question::Nodes, &Which::of(asked), MANY)?;
    match answer.map(|answer| answer.view) {
        Some(View::Nodes(nodes)) => Ok(Reply::Content(HTML, site::nodes(&nodes)?)),
        _ => Err(Failure::Missing("node in the store".to_owned())),
    }
}

pub(crate) fn rules(context: &Context<'_>, _: &Asked) -> Result<Reply, Failure> {
    let found = grouped(context.store, Grouping::Rule, usize::MAX)?;
    Ok(Reply::Content(HTML, site::rules(&context.infos(), &found.groups)?))
}

pub(crate) fn rule(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let id = asked.text("id").unwrap_or_default();
    let info = context.infos().into_iter().find(|info| *info.id == *id);
    let info = info.ok_or_else(|| Failure::Missing(format!("rule \"{id}\"")))?;
    let found = grouped(context.store, Grouping::Rule, usize::MAX)?;
    let of_rule = |group: &&Group| group.key.as_deref() == Some(id);
    Ok(Reply::Content(HTML, site::rule(info, found.groups.iter().find(of_rule))?))
}

pub(crate) fn application(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let id = asked.text("id").unwrap_or_default();
    let found = context.store.application(id)?;
    if found.is_empty() {
        return Err(Failure::Missing(format!("application \"{id}\" in the store")));
    }
    Ok(Reply::Content(HTML, site::application(id, &found, is_there)?))
}

pub(crate) fn compare(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let (a, b) = (asked.text("a").unwrap_or_default(), asked.text("b").unwrap_or_default());
    if a.is_empty() || b.is_empty() {
        return Ok(Reply::Content(HTML, site::which_to_compare(site::Pair { a, b })?));
    }
    // The last attempt of each.
    let one = |id: &str| {
        let found = context.store.application(id)?.into_iter().next();
        found.ok_or_else(|| Failure::Missing(format!("application \"{id}\" in the store")))
    };
    Ok(Reply::Content(HTML, site::compare(&one(a)?, &one(b)?)?))
}

/// Whether a file that the store names, and no request, is still there. `None` of what is not on this machine.
fn is_there(source: &str) -> Option<bool> {
    local_path(source)?.try_exists().ok()
}
