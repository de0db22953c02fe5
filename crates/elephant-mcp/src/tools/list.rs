//! `list_applications`

use chrono::{NaiveDate, NaiveTime};
use elephant_base::units::Timestamp;
use elephant_engine::engine::Filter;
use elephant_ruleset::Pattern;
use elephant_store::{Cursor, Matches, Matching, Only, Order, Search, Store};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::about::{Level, Line};
use crate::failure::Failure;
use crate::library::{Context, Source};
use crate::page::{MORE, Part};
use crate::told::{Argument, Word};
use crate::tool::Question;

use super::groups::{By, Groups, grouped};

/// Applications of one part at most.
const MOST: usize = 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListApplications {
    /// Only applications whose id, name, user or queue has this text
    text: Option<Word>,
    /// Only applications of this user: a word, a glob such as etl-*, or a regular expression between slashes
    user: Option<Word>,
    /// Only applications in this queue, such as root.etl.*
    queue: Option<Word>,
    /// Only applications of this flow of a scheduler (a DAG, a workflow)
    flow: Option<Word>,
    /// Only applications of flows and jobs of this owner
    owner: Option<Word>,
    /// Only applications that are known to be of this cluster
    cluster: Option<Word>,
    /// Sums over the applications with the same value of this instead of single ones; text, severity, status and sort do not
    /// apply then
    by: Option<By>,
    /// Only applications with a finding at least as bad
    severity: Option<Level>,
    /// Only applications with a finding of this rule
    rule: Option<Word>,
    /// Only applications that ended like this
    status: Option<Status>,
    /// Only applications that were submitted at this day or time (2026-11-20, or 2026-11-20T12:00:00Z) or later
    since: Option<Argument<40>>,
    /// Only applications that were submitted before this day or time
    until: Option<Argument<40>>,
    /// What comes first; latest if left out
    sort: Option<Sort>,
    /// Where to look if the user named both a store and histories: the store if left out
    source: Option<Source>,
    /// The `next` of the part before, with the same other arguments
    cursor: Option<Argument<60>>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Status {
    Succeeded,
    Failed,
    Killed,
    Running,
    Unknown,
}

impl Status {
    const fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Killed => "killed",
            Self::Running => "running",
            Self::Unknown => "unknown",
        }
    }
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Sort {
    Latest,
    Waste,
    Saving,
    Severity,
    Runtime,
}

impl From<Sort> for Order {
    fn from(sort: Sort) -> Self {
        match sort {
            Sort::Latest => Self::Latest,
            Sort::Waste => Self::Waste,
            Sort::Saving => Self::Saving,
            Sort::Severity => Self::Severity,
            Sort::Runtime => Self::RunTime,
        }
    }
}

/// The applications that match, in the order that was asked for.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Listed {
    source: Source,
    /// How many match in all parts, or the number beyond which they are not counted
    applications_count: u64,
    /// Whether there are more than that
    applications_count_is_least: bool,
    applications: Vec<Line>,
    /// If by was given
    groups: Option<Groups>,
    /// The cursor of the next part; null at the end
    next: Option<String>,
}

impl Question for ListApplications {
    type Answer = Listed;
    const NAME: &'static str = "list_applications";
    const TITLE: &'static str = "List applications";
    const ABOUT: &'static str = "Find Spark applications and MapReduce jobs: those that waste most, the longest, the \
        latest, those of a user or queue, those that failed or have a finding. Or sums over them by user, queue, job, \
        flow, recommended setting, failure, node and others. Begin here to learn the ids that the other tools need.";

    fn answer(&self, context: &Context<'_>) -> Result<(Listed, String), Failure> {
        let (filter, only) = (self.filter()?, self.only()?);
        let (source, store) = context.source(self.source)?;
        if let Some(by) = self.by {
            return self.groups(by, (source, &store), (&filter, &only));
        }
        let search = self.search(&filter, &only)?;
        let found = store.search(&search)?;
        let mut part = Part::after(None)?;
        let applications = part.take(found.runs.iter().map(Line::of), ToString::to_string);
        let next = next(&store, &search, &found, applications.len())?;
        let (applications_count, applications_count_is_least) = match found.of {
            Matching::Exactly(count) => (count, false),
            Matching::MoreThan(count) => (count, true),
        };
        let least = if applications_count_is_least { "More than " } else { "" };
        let mut text = part.text(&format!("{least}{applications_count} applications match."));
        if next.is_some() && !text.ends_with(MORE) {
            text.push_str(MORE);
        }
        let listed = Listed {
            source,
            applications_count,
            applications_count_is_least,
            applications,
            groups: None,
            next: next.map(|next| next.to_string()),
        };
        Ok((listed, text))
    }
}

/// Where the next part begins, if only so many of this one are shown.
fn next(
    store: &Store,
    search: &Search<'_>,
    found: &Matches,
    shown: usize,
) -> Result<Option<Cursor>, Failure> {
    if shown == found.runs.len() {
        return Ok(found.next);
    }
    Ok(store.search(&Search { most: shown, ..*search })?.next)
}

impl ListApplications {
    fn filter(&self) -> Result<Filter, Failure> {
        Ok(Filter {
            users: patterns("user", self.user.as_ref())?,
            queues: patterns("queue", self.queue.as_ref())?,
            since: moment("since", self.since.as_ref())?,
            until: moment("until", self.until.as_ref())?,
            ..Filter::default()
        })
    }

    fn only(&self) -> Result<Only, Failure> {
        let named = |written: &Option<Word>| written.iter().map(|name| name.as_str().to_owned()).collect();
        Ok(Only {
            rules: named(&self.rule),
            clusters: named(&self.cluster),
            flows: patterns("flow", self.flow.as_ref())?,
            owners: patterns("owner", self.owner.as_ref())?,
        })
    }

    /// Sums instead of single applications.
    fn groups(
        &self,
        by: By,
        (source, store): (Source, &Store),
        (filter, only): (&Filter, &Only),
    ) -> Result<(Listed, String), Failure> {
        let mut part = Part::from(self.cursor.as_ref().map(Argument::as_str))?;
        let (groups, told) = grouped(store, by, (filter, only), &mut part)?;
        let listed = Listed {
            source,
            applications_count: 0,
            applications_count_is_least: false,
            applications: Vec::new(),
            groups: Some(groups),
            next: part.next(),
        };
        Ok((listed, part.text(&told)))
    }

    fn search<'a>(&'a self, filter: &'a Filter, only: &'a Only) -> Result<Search<'a>, Failure> {
        let cursor = self.cursor.as_ref().map(|cursor| cursor.as_str().parse::<Cursor>()).transpose();
        Ok(Search {
            text: self.text.as_ref().map(Word::as_str),
            severity: self.severity.map(Into::into),
            status: self.status.map(Status::name),
            after: cursor.map_err(|error| Failure::Bad(format!("cursor is of no use: {error}")))?,
            ..Search::of(filter, only, (self.sort.map(Order::from).unwrap_or_default(), MOST))
        })
    }
}

fn patterns(name: &str, written: Option<&Word>) -> Result<Vec<Pattern>, Failure> {
    let parsed = written.iter().map(|written| written.as_str().parse());
    parsed.collect::<Result<_, _>>().map_err(|error| Failure::Bad(format!("{name}: {error}")))
}

/// A time with its zone, or the beginning of a day in UTC.
fn moment(name: &str, written: Option<&Argument<40>>) -> Result<Option<Timestamp>, Failure> {
    let Some(text) = written.map(Argument::as_str) else { return Ok(None) };
    let at = match text.parse::<NaiveDate>() {
        Ok(day) => Some(Timestamp::from_millis(day.and_time(NaiveTime::MIN).and_utc().timestamp_millis())),
        Err(_) => Timestamp::from_rfc3339(text),
    };
    let expected =
        || Failure::Bad(format!("{name} must be a time such as 2026-11-20 or 2026-11-20T12:00:00Z"));
    at.map(Some).ok_or_else(expected)
}
