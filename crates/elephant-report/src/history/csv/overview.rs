//! The overview as CSV: one table with lines of several kinds, which the column `by` tells apart. Columns of other kinds of
//! lines are empty.

use std::io::{self, Write};

use super::super::words;
use super::{Named, OF_NODES, of_groups};
use crate::document::Value;
use crate::document::csv::{self, Column};
use elephant_store::{
    Answer, Fleet, Grouped, Grouping, InPeriod, NodeSums, OverTime, Periods, Ranked, Realised, Remedy, Unread,
};

/// Columns of groups that came first; the others are at the end, because scripts rely on the order.
const FIRST_OF_GROUPS: usize = 16;

/// The columns between those of groups and those of nodes.
const OTHERS: [&str; 18] = [
    "from",
    "until",
    "changes",
    "saved_gb_hours",
    "jobs",
    "value",
    "recommended_value",
    "alike",
    "changed",
    "first",
    "runs_before",
    "runs_after",
    "resource_used_before_gb_hours",
    "resource_used_after_gb_hours",
    "runtime_before_ms",
    "runtime_after_ms",
    "files",
    "example",
];
/// Of changes of configurations, of all of them, and of remedies; later than the others.
const LATER: [&str; 5] = ["cost_before", "cost_after", "saved_cost", "changes_cost_unknown", "direction"];

/// The answer and the fleet, in the line with all sums.
type All<'a> = (&'a Answer, &'a Fleet);

fn of_all<'a>() -> [Column<All<'a>>; 7] {
    [
        ("from", |(answer, _)| words::day(answer.from).into()),
        ("until", |(answer, _)| words::day(answer.until).into()),
        ("changes", |(_, fleet)| fleet.realised_of.into()),
        ("saved_gb_hours", |(_, fleet)| fleet.realised_gb_hours.into()),
        ("files", |(_, fleet)| fleet.unread_of.into()),
        ("saved_cost", |(_, fleet)| fleet.realised_cost.into()),
        ("changes_cost_unknown", |(answer, fleet)| {
            answer.currency.as_ref().map(|_| fleet.realised_unpriced).into()
        }),
    ]
}

/// What a group used in a period.
struct Period<'a> {
    by: &'static str,
    key: Option<&'a str>,
    of: InPeriod<'a>,
    until: String,
}

fn of_periods<'a>() -> [Column<Period<'a>>; 6] {
    [
        ("by", |period| period.by.into()),
        ("key", |period| period.key.into()),
        ("resource_used_gb_hours", |period| period.of.used_gb_hours.into()),
        ("resource_wasted_gb_hours", |period| period.of.wasted_gb_hours.into()),
        ("from", |period| period.of.from.into()),
        ("until", |period| period.until.as_str().into()),
    ]
}

const OF_REMEDIES: [Column<Remedy>; 10] = [
    ("by", |_| "remedy".into()),
    ("key", |remedy| remedy.setting.as_str().into()),
    ("applications", |remedy| remedy.applications.into()),
    ("jobs", |remedy| remedy.jobs.into()),
    ("value", |remedy| remedy.from.as_deref().into()),
    ("recommended_value", |remedy| remedy.to.as_str().into()),
    ("alike", |remedy| remedy.alike.into()),
    ("direction", |remedy| remedy.direction.name().into()),
    ("saves_gb_hours", |remedy| remedy.saved_gb_hours.into()),
    ("saves_ms", |remedy| remedy.saved_time.into()),
];

const OF_CHANGES: [Column<Realised>; 16] = [
    ("by", |_| "change".into()),
    ("key", |change| change.job.as_str().into()),
    ("from", |change| words::day(change.since).into()),
    ("until", |change| words::day(change.undone).into()),
    ("saved_gb_hours", |change| change.saved_gb_hours.into()),
    ("changed", |change| words::settings(change).into()),
    ("first", |change| change.first.as_str().into()),
    ("runs_before", |change| change.runs.0.into()),
    ("runs_after", |change| change.runs.1.into()),
    ("resource_used_before_gb_hours", |change| change.used_gb_hours.0.into()),
    ("resource_used_after_gb_hours", |change| change.used_gb_hours.1.into()),
    ("runtime_before_ms", |change| change.run_time.map(|(before, _)| before).into()),
    ("runtime_after_ms", |change| change.run_time.map(|(_, after)| after).into()),
    ("cost_before", |change| change.cost.map(|(before, _)| before).into()),
    ("cost_after", |change| change.cost.map(|(_, after)| after).into()),
    ("saved_cost", |change| change.saved_cost.into()),
];

const OF_UNREAD: [Column<Unread>; 4] = [
    ("by", |_| "unread".into()),
    ("key", |kind| kind.problem.as_str().into()),
    ("files", |kind| kind.files.into()),
    ("example", |kind| kind.example.as_str().into()),
];

/// The title of a column of nodes: as in the table of nodes, but `failed` is a column of applications.
fn of_node(title: &'static str) -> &'static str {
    match title {
        "node" => "key",
        "failed" => "failed_attempts",
        title => title,
    }
}

struct Lines<'o> {
    titles: Vec<&'static str>,
    out: &'o mut dyn Write,
}

impl Lines<'_> {
    fn write<T>(&mut self, columns: &[Column<T>], item: &T) -> io::Result<()> {
        self.cells(&csv::cells(columns, item))
    }

    fn cells(&mut self, known: &[(&str, String)]) -> io::Result<()> {
        let cell = |title: &&str| {
            known.iter().find(|(known, _)| known == title).map_or("", |(_, cell)| cell.as_str())
        };
        writeln!(self.out, "{}", self.titles.iter().map(cell).collect::<Vec<_>>().join(","))
    }

    fn groups(&mut self, grouping: Grouping, grouped: &Grouped) -> io::Result<()> {
        let by = grouping.name();
        grouped.groups.iter().try_for_each(|group| self.write(&of_groups(), &(by, group)))
    }

    fn ranked(&mut self, by: &'static str, ranked: &Ranked, periods: &Periods) -> io::Result<()> {
        let mut rows = ranked.grouped.groups.iter().zip(&ranked.over_time);
        rows.try_for_each(|(group, values)| self.over_time((by, group.key.as_deref()), values, periods))
    }

    fn over_time(
        &mut self,
        (by, key): (&'static str, Option<&str>),
        values: &OverTime,
        periods: &Periods,
    ) -> io::Result<()> {
        values.known(periods).try_for_each(|of| {
            let until = periods.last_day(of.from).unwrap_or_else(|| of.from.to_owned());
            self.write(&of_periods(), &Period { by, key, of, until })
        })
    }

    fn node(&mut self, node: &NodeSums) -> io::Result<()> {
        let cells = csv::cells(&OF_NODES, node).into_iter().map(|(title, cell)| (of_node(title), cell));
        self.cells(&[("by", csv::cell(&Value::from("node")))].into_iter().chain(cells).collect::<Vec<_>>())
    }
}

pub(super) fn write(answer: &Answer, fleet: &Fleet, out: &mut dyn Write) -> io::Result<()> {
    let groups = of_groups().map(|(title, _)| title);
    let (groups, latest) = groups.split_at(FIRST_OF_GROUPS.min(groups.len()));
    let nodes = OF_NODES.map(|(title, _)| of_node(title));
    let nodes = nodes.get(2..).unwrap_or_default();
    let titles = [groups, &OTHERS, nodes, &LATER, latest].concat();
    writeln!(out, "{}", titles.join(","))?;
    let mut lines = Lines { titles, out };
    let total: Named<'_> = ("all", &answer.total);
    lines.cells(&[csv::cells(&of_groups(), &total), csv::cells(&of_all(), &(answer, fleet))].concat())?;
    lines.groups(Grouping::Job, &fleet.jobs.grouped)?;
    lines.groups(Grouping::Trouble, &fleet.troubles)?;
    lines.groups(Grouping::User, &fleet.users.grouped)?;
    lines.groups(Grouping::Queue, &fleet.queues.grouped)?;
    if let Some(periods) = &fleet.periods {
        lines.over_time(("all_over_time", None), &fleet.over_time, periods)?;
        lines.ranked("job_over_time", &fleet.jobs, periods)?;
        lines.ranked("user_over_time", &fleet.users, periods)?;
        lines.ranked("queue_over_time", &fleet.queues, periods)?;
    }
    fleet.remedies.iter().try_for_each(|one| lines.write(&OF_REMEDIES, one))?;
    fleet.realised.iter().try_for_each(|one| lines.write(&OF_CHANGES, one))?;
    fleet.nodes.nodes.iter().try_for_each(|one| lines.node(one))?;
    fleet.unread.iter().try_for_each(|one| lines.write(&OF_UNREAD, one))
}
