//! The queries of an application: a table to sort, and the plans of some.

use askama::Template;

use super::filters;
use super::links::Links;
use super::plan::PlanView;
use elephant_base::severity::Severity;
use elephant_base::units::{Bytes, Millis};
use elephant_query::{QuerySummary, Wall};
use elephant_rule::finding::{Finding, percent};
use elephant_verdict::charts::{QueryCharts, findings_on};

/// So many findings of a query are linked; more are counted.
const MOST_LINKS: usize = 3;

#[derive(Template)]
#[template(path = "queries.html")]
pub(super) struct QueriesView<'a> {
    pub(super) charts: &'a QueryCharts,
    pub(super) links: Links<'a>,
}

impl askama::filters::HtmlSafe for QueriesView<'_> {}

/// A value and its sort key. Both are empty if it is unknown.
#[derive(Default)]
struct Cell {
    key: String,
    text: String,
}

/// A finding as the table links to it.
pub(super) struct FindingLink<'a> {
    pub(super) href: &'a str,
    pub(super) severity: Severity,
    pub(super) title: &'a str,
}

/// The columns after the name.
const COLUMNS: [&str; 11] = [
    "Wall time",
    "Part of the run",
    "Task time",
    "Planning",
    "Jobs",
    "Between jobs",
    "After the last job",
    "Read",
    "Shuffled",
    "Spilled",
    "Written",
];

impl QueriesView<'_> {
    const COLUMNS: [&'static str; COLUMNS.len()] = COLUMNS;

    fn id(&self) -> String {
        format!("{}-queries", self.links.ids.application)
    }

    fn cells(query: &QuerySummary) -> [Cell; COLUMNS.len()] {
        let time = |time: Option<Millis>| {
            time.map(|time| Cell { key: time.get().to_string(), text: time.to_string() }).unwrap_or_default()
        };
        let size = |size: Option<Bytes>| {
            size.map(|size| Cell { key: size.get().to_string(), text: size.to_string() }).unwrap_or_default()
        };
        let of_wall = |part: fn(Wall) -> Millis| time(query.wall.map(part));
        let share = query.share.map(|share| Cell { key: format!("{share:.6}"), text: percent(share) });
        [
            of_wall(|wall| wall.total),
            share.unwrap_or_default(),
            time(query.task_time),
            of_wall(|wall| wall.planning),
            of_wall(|wall| wall.jobs),
            of_wall(|wall| wall.gaps),
            of_wall(|wall| wall.after),
            size(query.input),
            size(query.shuffled),
            size(query.spilled),
            size(query.output),
        ]
    }

    fn findings(&self, query: &QuerySummary) -> Vec<FindingLink<'_>> {
        self.links.findings(&findings_on(query, &self.links.app.findings))
    }

    fn plans(&self) -> impl Iterator<Item = PlanView<'_>> {
        let named = |id| self.charts.listed.shown.iter().find(move |query| query.id == id);
        let plans = self.charts.plans.iter();
        plans.filter_map(move |plan| Some(PlanView { plan, query: named(plan.query)?, links: self.links }))
    }
}

impl<'a> Links<'a> {
    /// The findings at these places.
    pub(super) fn findings(self, places: &[usize]) -> Vec<FindingLink<'a>> {
        let link = |&place: &usize| -> Option<FindingLink<'a>> {
            let finding: &Finding = self.app.findings.get(place)?;
            let href = self.ids.findings.get(place)?;
            Some(FindingLink { href, severity: finding.severity, title: &finding.title })
        };
        places.iter().filter_map(link).collect()
    }

    /// The id of the row of a query.
    pub(super) fn query_id(self, query: u64) -> String {
        format!("{}-query-{query}", self.ids.application)
    }

    /// The id of the plan of a query.
    pub(super) fn plan_id(self, query: u64) -> String {
        format!("{}-plan-{query}", self.ids.application)
    }

    /// The id of the row of an operator.
    pub(super) fn operator_id(self, query: u64, operator: u32) -> String {
        format!("{}-{operator}", self.plan_id(query))
    }

    /// The name of a query and its row in the table, if it is shown there.
    pub(super) fn query(self, query: u64) -> Option<(&'a str, String)> {
        let charts = self.app.charts.as_deref()?.queries.as_ref()?;
        let found = charts.listed.shown.iter().find(|listed| listed.id == query)?;
        Some((&found.name, self.query_id(query)))
    }

    /// The name of an operator and its row, if its plan is drawn.
    pub(super) fn operator(self, query: u64, operator: u32) -> Option<(&'a str, String)> {
        let plan = self.app.charts.as_deref()?.queries.as_ref()?.plan(query)?;
        let found = plan.drawn.operators.iter().find(|it| it.operator.place == operator)?;
        Some((&found.operator.name, self.operator_id(query, operator)))
    }

    /// The queries of a stage that are shown in the table, with their rows.
    pub(super) fn queries_of(self, subject: &elephant_model::model::Subject) -> Vec<(u64, String)> {
        let elephant_model::model::Subject::Stage(stage) = subject else { return Vec::new() };
        let charts = self.app.charts.as_deref().and_then(|charts| charts.queries.as_ref());
        let listed = charts.map(|charts| charts.listed.shown.as_slice()).unwrap_or_default();
        let of_stage = listed.iter().filter(|query| query.stages.contains(stage));
        of_stage.map(|query| (query.id, self.query_id(query.id))).collect()
    }

    /// Where the parts of queries are shown that a finding names: "`SortMergeJoin` on k of query 3", and the row.
    pub(super) fn parts_of_queries(self, finding: &Finding) -> Vec<(String, String)> {
        let part = |named: &elephant_rule::finding::InQuery| {
            let (query, row) = self.query(named.query)?;
            let operator = named.operator.and_then(|place| self.operator(named.query, place));
            Some(operator.map_or((query.to_owned(), row), |(name, row)| (format!("{name} of {query}"), row)))
        };
        finding.in_queries.iter().filter_map(part).take(MOST_LINKS).collect()
    }
}
