//! Answers as text: the sums first, then a table.

use std::io::{self, Write};

use anstyle::Style;

use super::super::grid::{Cell, Column, Grid, UNKNOWN};
use super::super::text::TextOptions;
use super::super::words::plural;
use super::super::wrap::{clean, lines};
use super::nodes;
use super::words::{self, amount};
use crate::store::{Answer, Fleet, Group, Grouped, Grouping, Nodes, Run, Runs, View};

pub(super) fn write(answer: &Answer, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let currency = answer.currency.as_deref();
    let page = Page { columns: options.columns, color: options.color, currency };
    page.paragraph(&words::extent(answer), out)?;
    if answer.total.applications == 0 {
        return Ok(());
    }
    page.paragraph(&words::costs(answer), out)?;
    if options.summary {
        return Ok(());
    }
    match &answer.view {
        View::Overview(fleet) => page.fleet(fleet, out),
        View::Groups(grouping, grouped) => page.groups(*grouping, grouped, out),
        View::Nodes(all) => page.nodes(all, out),
        View::Worst(runs) => page.runs(runs, true, out),
        View::Job(runs) => page.job(runs, out),
    }
}

struct Page<'a> {
    columns: usize,
    color: bool,
    /// Of costs, if there are prices.
    currency: Option<&'a str>,
}

impl Page<'_> {
    fn paragraph(&self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        lines(text, self.columns).iter().try_for_each(|line| writeln!(out, "{line}"))
    }

    fn heading(&self) -> Style {
        if self.color { Style::new().bold() } else { Style::new() }
    }

    fn cost_column(&self) -> Option<Column> {
        self.currency.map(|currency| Column::number(currency, 6))
    }

    fn cost(&self, cost: Option<f64>) -> Option<Cell> {
        self.currency.map(|_| hours(cost).into())
    }

    fn groups(&self, grouping: Grouping, grouped: &Grouped, out: &mut dyn Write) -> io::Result<()> {
        if grouped.groups.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
        let columns = [
            Column::key(words::key(grouping), 12, 48),
            Column::number("runs", 5),
            Column::number("failed", 6),
            Column::number("GB·h", 7),
            Column::number("wasted", 7),
            Column::number("%", 4).named("wasted %"),
            Column::number("saves", 7).named("saves GB·h"),
        ];
        let mut grid = Grid::new(0, columns.into_iter().chain(self.cost_column())).heading(self.heading());
        for group in &grouped.groups {
            grid.row(cells(group).into_iter().chain(self.cost(group.cost)));
        }
        grid.write(self.columns, out)?;
        self.hidden(grouped.of.saturating_sub(grouped.groups.len() as u64), out)
    }

    fn fleet(&self, fleet: &Fleet, out: &mut dyn Write) -> io::Result<()> {
        if fleet.realised_of > 0 {
            let (count, saved) = (plural(fleet.realised_of, "change"), fleet.realised_gb_hours);
            let what = if saved < 0.0 { "took" } else { "saved" };
            let more = if saved < 0.0 { " more" } else { "" };
            let sum = format!("{count} of configurations {what} {} GB·h{more} so far", amount(saved.abs()));
            self.paragraph(&sum, out)?;
        }
        if fleet.unread_of > 0 {
            self.paragraph(&format!("{} could not be read", plural(fleet.unread_of, "file")), out)?;
        }
        if let Some(summary) = nodes::summary(&fleet.nodes) {
            self.paragraph(&summary, out)?;
        }
        self.groups(Grouping::Job, &fleet.jobs.grouped, out)?;
        self.groups(Grouping::Trouble, &fleet.troubles, out)?;
        self.groups(Grouping::User, &fleet.users.grouped, out)?;
        self.remedies(fleet, out)?;
        self.realised(fleet, out)
    }

    fn nodes(&self, nodes: &Nodes, out: &mut dyn Write) -> io::Result<()> {
        if let Some(summary) = nodes::summary(nodes) {
            self.paragraph(&summary, out)?;
        }
        if nodes.nodes.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
        let mut grid = Grid::new(0, nodes::columns()).heading(self.heading());
        nodes.nodes.iter().for_each(|node| grid.row(nodes::cells(node)));
        grid.write(self.columns, out)?;
        self.hidden(nodes.of.saturating_sub(nodes.nodes.len() as u64), out)
    }

    fn remedies(&self, fleet: &Fleet, out: &mut dyn Write) -> io::Result<()> {
        if fleet.remedies.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
        let columns = [Column::key("setting", 16, 60), Column::number("runs", 5), Column::number("jobs", 5)];
        let mut grid = Grid::new(0, columns).heading(self.heading());
        for remedy in &fleet.remedies {
            let (runs, jobs) = (remedy.applications.to_string(), remedy.jobs.to_string());
            grid.row([clean(&remedy.setting).into(), runs.into(), jobs.into()]);
            grid.note(2, format!("most often {}", clean(&words::remedy(remedy))));
        }
        grid.write(self.columns, out)?;
        self.hidden(fleet.remedies_of.saturating_sub(fleet.remedies.len() as u64), out)
    }

    fn realised(&self, fleet: &Fleet, out: &mut dyn Write) -> io::Result<()> {
        if fleet.realised.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{}changed configurations{:#}", self.heading(), self.heading())?;
        for change in &fleet.realised {
            self.paragraph(&words::realised(change), out)?;
        }
        self.hidden(fleet.realised_of.saturating_sub(fleet.realised.len() as u64), out)
    }

    fn hidden(&self, hidden: u64, out: &mut dyn Write) -> io::Result<()> {
        if hidden == 0 { Ok(()) } else { self.paragraph(&format!("{hidden} more (--top)"), out) }
    }

    fn runs(&self, runs: &[Run], named: bool, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out)?;
        let first = if named { "application" } else { "run" };
        let columns = [
            Column::text("started", 10),
            Column::key(first, 12, 40),
            Column::text("status", 9),
            Column::number("took", 8),
            Column::number("GB·h", 6),
            Column::number("wasted", 6),
            Column::text("", 8).named("severity"),
        ];
        let mut grid = Grid::new(0, columns.into_iter().chain(self.cost_column())).heading(self.heading());
        for run in runs {
            let severity = if run.trouble.is_some() { run.severity.name() } else { "" };
            let cells: [Cell; 7] = [
                words::day(run.submitted).unwrap_or_else(|| UNKNOWN.to_owned()).into(),
                clean(&run.id).into(),
                run.status.as_str().into(),
                run.run_time.map_or_else(|| UNKNOWN.to_owned(), |time| time.to_string()).into(),
                hours(run.used_gb_hours).into(),
                hours(run.wasted_gb_hours).into(),
                severity.into(),
            ];
            grid.row(cells.into_iter().chain(self.cost(run.cost)));
            if let Some((cause, remedy)) = &run.trouble {
                let name = run.name.as_deref().filter(|_| named).map(|name| format!("{}: ", clean(name)));
                grid.note(2, format!("{}{}", name.unwrap_or_default(), clean(cause)));
                if let Some(remedy) = remedy.as_deref().filter(|_| named) {
                    grid.note(2, format!("→ {}", clean(remedy)));
                }
            } else if let Some(name) = run.name.as_deref().filter(|_| named) {
                grid.note(2, clean(name));
            }
        }
        grid.write(self.columns, out)
    }

    fn job(&self, runs: &Runs, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out)?;
        self.paragraph(&format!("{}: {}", clean(&runs.job), plural(runs.of, "run")), out)?;
        for change in &runs.changes {
            self.paragraph(&words::change(change), out)?;
        }
        if runs.changes.is_empty() {
            self.paragraph("neither run time nor memory changed its level", out)?;
        }
        self.runs(&runs.shown, false, out)?;
        let hidden = runs.of.saturating_sub(runs.shown.len() as u64);
        if hidden == 0 { Ok(()) } else { self.paragraph(&format!("{hidden} earlier (--top)"), out) }
    }
}

fn cells(group: &Group) -> [Cell; 7] {
    // Findings have no saving of their own.
    let saved = group.saved_gb_hours.map_or_else(|| UNKNOWN.to_owned(), amount);
    let share = words::share(group).map_or_else(|| UNKNOWN.to_owned(), |share| format!("{share:.0}"));
    [
        group.key.as_deref().map_or_else(|| "(unknown)".to_owned(), clean).into(),
        group.applications.to_string().into(),
        group.failed.to_string().into(),
        hours(group.used_gb_hours).into(),
        hours(group.wasted_gb_hours).into(),
        share.into(),
        saved.into(),
    ]
}

/// An amount, or a dash if it is unknown.
fn hours(value: Option<f64>) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), amount)
}
