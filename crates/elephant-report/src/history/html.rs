//! Answers as one HTML file: sums, how they went on, and tables to sort.

mod bars;

use std::io::{self, Write};

use askama::Template;

use super::nodes;
use super::words::{self, amount};
use crate::html::filters;
use crate::html::frame::{self, Code};
use bars::Bars;
use elephant_store::{
    Answer, Fleet, Group, Grouped, Grouping, NodeSums, Nodes, Periods, Ranked, Run, Runs, View,
};

pub(super) fn write(answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
    Page { answer }.write_into(out)
}

#[derive(Template)]
#[template(path = "history.html")]
struct Page<'a> {
    answer: &'a Answer,
}

/// A table of groups, with the waste of each over time if that is known.
struct GroupTable<'a> {
    id: &'static str,
    title: &'static str,
    key: &'static str,
    rows: Vec<(&'a Group, Option<Bars>)>,
    hidden: u64,
    /// Findings have no saving of their own.
    saves: bool,
}

impl<'a> Page<'a> {
    const STYLES: &'static [Code] = &[frame::STYLE, frame::CHART_STYLE];
    const SCRIPTS: &'static [Code] = &[frame::SORT];

    /// The answer in one line.
    fn headline(&self) -> String {
        words::extent(self.answer)
    }

    fn costs(&self) -> String {
        words::costs(self.answer)
    }

    fn total(&self) -> &'a Group {
        &self.answer.total
    }

    fn fleet(&self) -> Option<&'a Fleet> {
        match &self.answer.view {
            View::Overview(fleet) => Some(fleet),
            _ => None,
        }
    }

    /// All applications over time.
    fn over_time(&self) -> Option<(&'a Periods, Bars)> {
        let fleet = self.fleet()?;
        let periods = fleet.periods.as_ref().filter(|periods| periods.names.len() > 1)?;
        Some((periods, Bars::both(&fleet.over_time, periods)?))
    }

    /// The tables of groups, in their order on the page.
    fn tables(&self) -> Vec<GroupTable<'a>> {
        match &self.answer.view {
            View::Overview(fleet) => {
                let ranked = |id, title, grouping, ranked: &'a Ranked| {
                    let series = fleet.periods.as_ref().map(|periods| (ranked, periods));
                    GroupTable::of((id, title), grouping, &ranked.grouped, series)
                };
                vec![
                    ranked("jobs", "Jobs", Grouping::Job, &fleet.jobs),
                    ranked("users", "Users", Grouping::User, &fleet.users),
                    ranked("queues", "Queues", Grouping::Queue, &fleet.queues),
                    GroupTable::of(("troubles", "Troubles"), Grouping::Trouble, &fleet.troubles, None),
                ]
            }
            View::Groups(grouping, grouped) => {
                vec![GroupTable::of(("groups", "Groups"), *grouping, grouped, None)]
            }
            View::Nodes(_) | View::Worst(_) | View::Job(_) => Vec::new(),
        }
        .into_iter()
        .filter(|table| !table.rows.is_empty())
        .collect()
    }

    fn nodes(&self) -> Option<&'a Nodes> {
        match &self.answer.view {
            View::Overview(fleet) => Some(&fleet.nodes).filter(|nodes| nodes.of > 0),
            View::Nodes(nodes) => Some(nodes),
            _ => None,
        }
    }

    fn runs(&self) -> Option<&'a [Run]> {
        match &self.answer.view {
            View::Worst(runs) => Some(runs.as_slice()),
            View::Job(job) => Some(job.shown.as_slice()),
            _ => None,
        }
        .filter(|runs| !runs.is_empty())
    }

    fn job(&self) -> Option<&'a Runs> {
        match &self.answer.view {
            View::Job(job) => Some(job),
            _ => None,
        }
    }

    /// How many runs are not in the table.
    fn runs_hidden(&self) -> u64 {
        self.runs().map_or(0, |runs| words::hidden(self.answer.total.applications, runs.len()))
    }

    fn has_costs(&self) -> bool {
        self.answer.currency.is_some()
    }

    fn money(&self, value: Option<f64>) -> String {
        words::money(value, self.currency())
    }

    /// Money that a change saved; negative if it cost more.
    fn signed_money(&self, value: Option<f64>) -> String {
        match value {
            Some(value) if value < 0.0 => format!("−{}", words::money(Some(-value), self.currency())),
            value => words::money(value, self.currency()),
        }
    }

    fn currency(&self) -> Option<&'a str> {
        self.answer.currency.as_deref()
    }
}

impl<'a> GroupTable<'a> {
    fn of(
        (id, title): (&'static str, &'static str),
        grouping: Grouping,
        grouped: &'a Grouped,
        series: Option<(&'a Ranked, &'a Periods)>,
    ) -> Self {
        let rows = grouped.groups.iter().enumerate().map(|(place, group)| {
            let bars = series.and_then(|(ranked, periods)| {
                let over_time = ranked.over_time.get(place)?;
                (periods.names.len() > 1).then(|| Bars::wasted(over_time, periods))?
            });
            (group, bars)
        });
        let rows: Vec<_> = rows.collect();
        let hidden = words::hidden(grouped.of, rows.len());
        let key = words::key(grouping);
        Self { id, title, key, rows, hidden, saves: grouping != Grouping::Rule }
    }

    fn has_bars(&self) -> bool {
        self.rows.iter().any(|(_, bars)| bars.is_some())
    }
}

/// GB·h, or nothing if unknown.
fn hours(value: Option<f64>) -> String {
    value.map_or_else(String::new, amount)
}

/// An amount that may be negative.
fn signed(value: f64) -> String {
    if value < 0.0 { format!("−{}", amount(-value)) } else { amount(value) }
}

/// The first and the last day of all periods.
fn ends(periods: &Periods) -> Vec<String> {
    let last = periods.names.last();
    let last = last.map(|name| periods.last_day(name).unwrap_or_else(|| name.clone()));
    [periods.names.first().cloned(), last].into_iter().flatten().collect()
}

/// A sort key, empty if unknown.
fn key(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| format!("{value:.6}"))
}

/// The share of stragglers in percent.
fn stragglers(node: &NodeSums) -> String {
    nodes::share(node).map_or_else(String::new, |share| format!("{share}\u{a0}%"))
}

/// The share that was wasted.
fn share(group: &Group) -> String {
    words::share(group).map_or_else(String::new, |share| format!("{share:.0}\u{a0}%"))
}
