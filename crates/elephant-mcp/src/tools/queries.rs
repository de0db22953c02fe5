//! `queries`

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::diagnose::Judged;
use super::{json, stored_json};
use crate::about::{About, Number, time};
use crate::failure::Failure;
use crate::library::{Context, Which};
use crate::page::{After, Part};
use crate::told::{Name, Told, Word};
use crate::tool::Question;

/// Operators of each query: those that took longest.
const MOST_OPERATORS: usize = 3;
/// Milliseconds of an hour.
const HOUR_MS: f64 = 3_600_000.0;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Queries {
    /// The id of the application, as `list_applications` has it
    application: Word,
    /// Which one, if several have this id (attempts, clusters, copies): 1 is the first
    which: Option<Which>,
    /// Only queries with this in their name or in an operator, such as a table; upper and lower case are the same
    contains: Option<Word>,
    /// The `next` of the part before
    cursor: Option<After>,
}

/// What the queries of an application took.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Taken {
    application: About,
    /// `history`: read now from its history. `store`: as it was stored, with few queries
    from: Judged,
    /// How many queries match
    queries_count: usize,
    /// The queries, the one that took most task time first
    queries: Vec<Query>,
    /// The cursor of the next part; null at the end
    next: Option<String>,
}

/// What a query took.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Query {
    id: u64,
    name: Name,
    started_at: Option<Told<40>>,
    /// Its run time, and the parts of it
    wall: Option<Wall>,
    /// The time of its tasks, in hours
    task_hours: Option<Number>,
    /// Its share of the task time of all queries of the application
    task_time_percent: Option<Number>,
    input_bytes: Option<u64>,
    output_bytes: Option<u64>,
    shuffle_write_bytes: Option<u64>,
    spilled_bytes: Option<u64>,
    /// Why it failed
    error: Option<Name>,
    /// Those that took longest
    #[schemars(length(max = 3))]
    operators: Vec<Operator>,
}

/// The run time of a query.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct Wall {
    total_ms: u64,
    planning_ms: u64,
    jobs_ms: u64,
    between_jobs_ms: u64,
    after_jobs_ms: u64,
}

/// An operator of a query's plan.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct Operator {
    name: Told<80>,
    text: Name,
    /// Its share of the time of tasks, as far as its metrics tell
    time_ms: Option<u64>,
    rows_count: Option<u64>,
    bytes: Option<u64>,
}

/// The part of the report's JSON that is told.
#[derive(Debug, Deserialize)]
struct Report {
    queries: Vec<Whole>,
}

/// A query with all that its answer has.
#[derive(Debug, Deserialize)]
struct Whole {
    id: u64,
    name: String,
    started_at: Option<Told<40>>,
    wall: Option<Wall>,
    task_time_ms: Option<u64>,
    input_bytes: Option<u64>,
    output_bytes: Option<u64>,
    shuffle_write_bytes: Option<u64>,
    spilled_bytes: Option<u64>,
    error: Option<Name>,
    operators: Vec<WholeOperator>,
}

/// An operator, and whether adaptive execution replaced it.
#[derive(Debug, Deserialize)]
struct WholeOperator {
    name: String,
    text: String,
    #[serde(default)]
    replaced: bool,
    time_ms: Option<u64>,
    rows_count: Option<u64>,
    bytes: Option<u64>,
}

impl Question for Queries {
    type Answer = Taken;
    const NAME: &'static str = "queries";
    const TITLE: &'static str = "What queries took";
    const ABOUT: &'static str = "The queries of one Spark application by the time of their tasks: run time with its \
        parts, bytes, share of the application, and the operators that took longest. With contains, those that read \
        or write a table. Most queries need the history.";

    fn answer(&self, context: &Context<'_>) -> Result<(Taken, String), Failure> {
        let found = context.application(&self.application, self.which)?;
        let (from, report): (Judged, Report) = match context.analysis(&found.stored) {
            Ok(analysis) => (Judged::History, json(&analysis)?),
            Err(Failure::Gone(why)) => (Judged::Store, stored_json(&found.stored).ok_or(Failure::Gone(why))?),
            Err(failure) => return Err(failure),
        };
        let mut part = Part::after(self.cursor.as_ref())?;
        let application = About::of(&found);
        part.reserve(&application);
        part.line(&application.to_string());
        let all: u64 = report.queries.iter().filter_map(|query| query.task_time_ms).sum();
        let mut queries = report.queries;
        if let Some(contains) = &self.contains {
            let contains = contains.as_str().to_lowercase();
            queries.retain(|query| query.contains(&contains));
        }
        queries.sort_by_key(|query| (Reverse(query.task_time_ms), query.id));
        let queries_count = queries.len();
        let queries = part.take(queries.into_iter().map(|query| query.told(all)), Query::line);
        let next = part.next();
        let taken = Taken { application, from, queries_count, queries, next };
        let text = part.text(match queries_count {
            0 => "It has no such query.",
            _ => "Queries, the one that took most task time first.",
        });
        Ok((taken, text))
    }
}

impl Whole {
    /// Whether the name of the query or an operator has this text, which is in lower case.
    fn contains(&self, text: &str) -> bool {
        let has = |it: &str| it.to_lowercase().contains(text);
        has(&self.name) || self.operators.iter().any(|operator| has(&operator.name) || has(&operator.text))
    }

    /// As it is told, with its share of the task time of all queries.
    fn told(self, all: u64) -> Query {
        let share = |time: u64| (all > 0).then(|| Number::of(100.0 * time as f64 / all as f64));
        let mut operators = self.operators;
        operators.retain(|operator| !operator.replaced);
        operators.sort_by_key(|operator| Reverse(operator.time_ms));
        operators.truncate(MOST_OPERATORS);
        Query {
            id: self.id,
            name: Told::of(&self.name),
            started_at: self.started_at,
            wall: self.wall,
            task_hours: self.task_time_ms.map(|time| Number::of(time as f64 / HOUR_MS)),
            task_time_percent: self.task_time_ms.and_then(share),
            input_bytes: self.input_bytes,
            output_bytes: self.output_bytes,
            shuffle_write_bytes: self.shuffle_write_bytes,
            spilled_bytes: self.spilled_bytes,
            error: self.error,
            operators: operators.into_iter().map(Operator::from).collect(),
        }
    }
}

impl From<WholeOperator> for Operator {
    fn from(operator: WholeOperator) -> Self {
        let WholeOperator { name, text, time_ms, rows_count, bytes, .. } = operator;
        Self { name: Told::of(&name), text: Told::of(&text), time_ms, rows_count, bytes }
    }
}

impl Query {
    /// "query 3, count at Job.scala:12: 4.0 s, 38 % of the task time of all queries".
    fn line(&self) -> String {
        let mut line = format!("query {}, {}", self.id, self.name);
        line.extend(self.wall.as_ref().map(|wall| format!(": {}", time(Number::of(wall.total_ms as f64)))));
        line.extend(
            self.task_time_percent
                .map(|share| format!(", {:.0} % of the task time of all queries", share.get())),
        );
        line.extend(self.error.as_ref().map(|error| format!(", failed: {error}")));
        line
    }
}
