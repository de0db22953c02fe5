//! What the whole report of an application has beyond the tables of the store. It was written by this or an earlier
//! version as JSON, so a part that is missing or has another form is left out, and the rest is shown.

use serde::Deserialize;
use serde_json::{Map, Value as Json};

use crate::document::{Block, Cell, Column, Row, Section, Table, Value};
use crate::history::links::Addresses;
use crate::wrap::clean;
use elephant_base::units::{Bytes, Millis};
use elephant_base::whole::Whole as _;
use elephant_store::Grouping;

/// The parts of a report that its page has. Each is read for itself, so that one that cannot be read hides no other.
#[derive(Default)]
pub(super) struct WholeReport {
    parts: Vec<Part>,
    queries: Vec<Query>,
    findings: Vec<Finding>,
    not_evaluated: Vec<NotEvaluated>,
    troubles: Vec<Trouble>,
    suppressed: Vec<Suppressed>,
    /// Hive, Pig and others, of MapReduce's jobs.
    pub(super) job_type: Option<String>,
    /// Whether there is a report that can be read.
    is_known: bool,
    /// The flow and the task of a scheduler that it belongs to.
    pub(super) identity: Option<Identity>,
}

/// What a run is for its scheduler.
#[derive(Deserialize)]
pub(super) struct Identity {
    pub(super) scheduler: Option<String>,
    pub(super) flow: Option<String>,
    pub(super) run: Option<String>,
    pub(super) task: Option<String>,
    pub(super) owner: Option<String>,
}

/// A part of the run time.
#[derive(Deserialize)]
struct Part {
    name: String,
    note: Option<String>,
    time_ms: u64,
    share_ratio: f64,
}

#[derive(Deserialize)]
struct Query {
    name: String,
    wall: Option<Wall>,
    error: Option<String>,
    task_time_ms: Option<u64>,
    input_bytes: Option<u64>,
    output_bytes: Option<u64>,
    shuffle_write_bytes: Option<u64>,
    spilled_bytes: Option<u64>,
}

#[derive(Deserialize)]
struct Wall {
    total_ms: Option<u64>,
}

#[derive(Deserialize)]
struct Finding {
    rule: String,
    subject: String,
    score: Option<u64>,
    evidence: Map<String, Json>,
}

#[derive(Deserialize)]
struct NotEvaluated {
    rule: String,
    reason: String,
}

#[derive(Deserialize)]
struct Suppressed {
    rule: String,
}

#[derive(Deserialize)]
struct Failure {
    kind: String,
}

#[derive(Deserialize)]
struct Trouble {
    cause: String,
    failure: Option<Failure>,
    confidence: Option<String>,
    #[serde(default)]
    advice: Vec<String>,
}

impl Identity {
    /// Which flow, run and task it is, and whose; `None` if none of these is known.
    pub(super) fn words(&self) -> Option<String> {
        let Self { scheduler, flow, run, task, owner, .. } = self;
        let parts = [("flow", flow), ("task", task), ("run", run), ("owner", owner)];
        let known =
            parts.iter().filter_map(|(what, name)| Some(format!("{what} {}", clean(name.as_deref()?))));
        let known: Vec<String> = known.collect();
        let begin = scheduler.as_ref().map_or(String::new(), |scheduler| format!("{}: ", clean(scheduler)));
        (!known.is_empty()).then(|| format!("{begin}{}", known.join(", ")))
    }
}

impl WholeReport {
    /// Reads what is stored; all is missing in what cannot be read.
    pub(super) fn of(json: Option<&str>) -> Self {
        let report = json.and_then(|json| serde_json::from_str::<Map<String, Json>>(json).ok());
        let Some(mut report) = report else { return Self::default() };
        Self {
            parts: list(&mut report, "run_time_parts"),
            queries: list(&mut report, "queries"),
            findings: list(&mut report, "findings"),
            not_evaluated: list(&mut report, "not_evaluated"),
            troubles: list(&mut report, "troubles"),
            suppressed: list(&mut report, "suppressed"),
            job_type: report.get("job_type").and_then(Json::as_str).map(str::to_owned),
            is_known: true,
            identity: report.remove("identity").and_then(|identity| serde_json::from_value(identity).ok()),
        }
    }

    /// All advice against the trouble with this cause, and how sure the cause is.
    pub(super) fn trouble(&self, cause: &str) -> Option<(&[String], Option<&str>)> {
        let trouble = self.troubles.iter().find(|trouble| trouble.cause == cause)?;
        Some((&trouble.advice, trouble.confidence.as_deref()))
    }

    /// The sum of the scores of a rule's findings, if each is known.
    pub(super) fn score(&self, rule: &str) -> Option<u64> {
        let mut scores =
            self.findings.iter().filter(|finding| finding.rule == rule).map(|it| it.score).peekable();
        scores.peek()?;
        scores.sum()
    }

    /// Whether there is a report that can be read.
    pub(super) const fn is_known(&self) -> bool {
        self.is_known
    }

    /// The rules that were not evaluated, or whose findings a rule file suppresses.
    pub(super) fn without_result(&self) -> impl Iterator<Item = &str> {
        let suppressed = self.suppressed.iter().map(|it| it.rule.as_str());
        self.not_evaluated.iter().map(|it| it.rule.as_str()).chain(suppressed)
    }

    /// The kinds of failures with their causes.
    pub(super) fn failures(&self) -> impl Iterator<Item = (&str, &str)> {
        let troubles = self.troubles.iter();
        troubles.filter_map(|trouble| Some((trouble.failure.as_ref()?.kind.as_str(), trouble.cause.as_str())))
    }

    /// The parts of the run time by name, in milliseconds.
    pub(super) fn times(&self) -> impl Iterator<Item = (&str, u64)> {
        self.parts.iter().map(|part| (part.name.as_str(), part.time_ms))
    }

    /// Where the run time went.
    pub(super) fn time(&self, suffix: &str) -> Section<'static> {
        let section = Section::new(format!("time{suffix}"), "Run time", "Where the run time went");
        if self.parts.is_empty() {
            return section;
        }
        let columns = [Column::text("part", 0), Column::number("time", 0), Column::number("share", 0)];
        let rows = self.parts.iter().map(|part| {
            let note = part.note.clone().map(Value::words);
            Row::new([
                Cell::from(Value::words(part.name.clone())).remark(note),
                Value::Duration(Millis::new(part.time_ms)).into(),
                Value::Percent(100.0 * part.share_ratio, 1).into(),
            ])
        });
        section.with(Block::Table(Table::new(columns, rows).in_order()))
    }

    /// The queries that took longest.
    pub(super) fn queries(&self, suffix: &str) -> Section<'static> {
        let section = Section::new(format!("queries{suffix}"), "Queries", "Queries that took longest");
        if self.queries.is_empty() {
            return section;
        }
        let titles = ["took", "task time", "read", "written", "shuffled", "spilled"];
        let columns =
            [Column::text("query", 0)].into_iter().chain(titles.map(|title| Column::number(title, 0)));
        let rows = self.queries.iter().map(|query| {
            let time = |ms: Option<u64>| Cell::from(Value::known(ms.map(Millis::new), Value::Duration));
            let size = |size: Option<u64>| Cell::from(Value::known(size, bytes));
            let error = query.error.as_ref().map(|error| Value::words(format!("failed: {error}")));
            Row::new([
                Cell::from(Value::words(query.name.clone())).remark(error),
                time(query.wall.as_ref().and_then(|wall| wall.total_ms)),
                time(query.task_time_ms),
                size(query.input_bytes),
                size(query.output_bytes),
                size(query.shuffle_write_bytes),
                size(query.spilled_bytes),
            ])
        });
        section.with(Block::Table(Table::new(columns, rows)))
    }

    /// The numbers behind the findings.
    pub(super) fn numbers(&self, suffix: &str, addresses: Addresses) -> Section<'static> {
        let section = Section::new(format!("numbers{suffix}"), "Numbers", "Numbers behind the findings");
        if self.findings.is_empty() {
            return section;
        }
        let columns = [
            Column::key("rule", 0, 0),
            Column::text("part", 0),
            Column::text("figure", 0),
            Column::number("value", 0),
        ];
        let rows = self.findings.iter().flat_map(|finding| {
            finding.evidence.iter().filter_map(move |(key, json)| {
                let (figure, value) = figure(key, json)?;
                let rule = Cell::from(Value::Name(finding.rule.clone().into()));
                Some(Row::new([
                    rule.page((addresses.group)(Grouping::Rule, &finding.rule)),
                    Value::words(finding.subject.clone()).into(),
                    Value::words(figure).into(),
                    value.into(),
                ]))
            })
        });
        let table = Block::Table(Table::new(columns, rows).in_order());
        section.with(Block::Folded("Counters and sums of each finding".to_owned(), vec![table]))
    }

    /// The rules that were not evaluated, and why.
    pub(super) fn not_evaluated(&self, suffix: &str) -> Section<'static> {
        let section =
            Section::new(format!("missing{suffix}"), "Not evaluated", "Rules that were not evaluated");
        if self.not_evaluated.is_empty() {
            return section;
        }
        let count = crate::words::plural(self.not_evaluated.len() as u64, "rule");
        let reasons =
            self.not_evaluated.iter().map(|rule| format!("{}: {}", rule.rule, rule.reason)).collect();
        section.with(Block::Folded(format!("{count}, and what was missing"), vec![Block::List(reasons)]))
    }
}

/// The items of a list that can be read.
fn list<T: for<'de> Deserialize<'de>>(report: &mut Map<String, Json>, key: &str) -> Vec<T> {
    let Some(Json::Array(items)) = report.remove(key) else { return Vec::new() };
    items.into_iter().filter_map(|item| serde_json::from_value(item).ok()).collect()
}

/// Makes a value of a number in the unit of its key.
type Shown = fn(f64) -> Value<'static>;

/// A figure by its key in JSON, which ends with the unit, and its value for readers.
fn figure(key: &str, json: &Json) -> Option<(String, Value<'static>)> {
    let named = |name: &str| name.replace('_', " ");
    if let Json::String(text) = json {
        return Some((named(key.trim_end_matches("_text")), Value::words(text.clone())));
    }
    let number = json.as_f64()?;
    let units: [(&str, Shown); 6] = [
        ("_ms", |ms| Value::Duration(Millis::new(ms.as_u64()))),
        ("_bytes", |size| bytes(size.as_u64())),
        ("_count", |count| Value::Count(count.as_u64())),
        ("_percent", |percent| Value::Percent(percent, 1)),
        ("_gb_hours", |hours| Value::Amount(hours, "GB·h")),
        ("_ratio", Value::Decimal),
    ];
    let unit = units.into_iter().find_map(|(ending, value)| Some((key.strip_suffix(ending)?, value(number))));
    Some(unit.map_or_else(|| (named(key), Value::Number(number)), |(name, value)| (named(name), value)))
}

fn bytes(size: u64) -> Value<'static> {
    Value::Sorted(Bytes::new(size).to_string(), Some(size as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_another_form_hides_no_other() {
        let report = WholeReport::of(Some(
            r#"{"run_time_parts": [{"name": "a", "note": null, "time_ms": 5, "share_ratio": 1}, {"name": 7}],
                "queries": "none", "troubles": [{}, {"cause": "skew", "confidence": "measured"}], "new": []}"#,
        ));
        assert_eq!((report.parts.len(), report.queries.len(), report.findings.len()), (1, 0, 0));
        assert_eq!(report.trouble("skew"), Some((&[][..], Some("measured"))));
        assert_eq!(report.trouble("gc"), None);
        for other in [None, Some(""), Some("[]"), Some("{\"findings\": 3")] {
            assert!(WholeReport::of(other).findings.is_empty());
        }
    }

    #[test]
    fn figures_have_the_unit_of_their_key() {
        let told = |key: &str, json: Json| {
            let (name, value) = figure(key, &json).unwrap();
            let value = match value {
                Value::Duration(time) => time.to_string(),
                Value::Sorted(text, _) => text,
                Value::Words(text) => text.into_owned(),
                Value::Decimal(number) => format!("{number:.2}"),
                _ => panic!("{key}"),
            };
            format!("{name}: {value}")
        };
        assert_eq!(told("median_task_ms", 90_000.into()), "median task: 1m 30s");
        assert_eq!(told("largest_data_bytes", (3_u64 << 30).into()), "largest data: 3 GiB");
        assert_eq!(told("spill_text", "none".into()), "spill: none");
        assert_eq!(told("lost_ratio", Json::from(0.5)), "lost: 0.50");
        assert!(figure("lost_ms", &Json::Null).is_none());
    }
}
