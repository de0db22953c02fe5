//! Answers as text: the sums first, then a table.

use std::io::{self, Write};

use anstyle::Style;

use super::super::grid::{Cell, Column, Grid, UNKNOWN};
use super::super::text::TextOptions;
use super::super::wrap::{clean, lines};
use super::nodes;
use super::words::{self, amount};
use elephant_store::{Answer, Fleet, Group, Grouped, Grouping, Nodes, Run, Runs, View};

pub(super) fn write(answer: &Answer, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let currency = answer.currency.as_deref();
    let page = Page { columns: options.columns, color: options.color, currency };
    page.paragraph(&words::extent(answer), out)?;
    if answer.total.applications == 0 {
        return match &answer.view {
            // Perhaps all histories were damaged.
            View::Overview(fleet) if !options.summary => page.unread(fleet, out),
            _ => Ok(()),
        };
    }
    page.paragraph(&words::costs(answer), out)?;
    if options.summary {
        return Ok(());
    }
    match &answer.view {
        View::Overview(fleet) => page.fleet(fleet, out),
        View::Groups(grouping, grouped) => page.groups(*grouping, grouped, out),
        View::Nodes(all) => {
            nodes::summary(all).iter().try_for_each(|summary| page.paragraph(summary, out))?;
            page.nodes(all, out)
        }
        View::Worst(runs) => {
            page.runs(runs, true, out)?;
            page.hidden(words::hidden(answer.total.applications, runs.len()), out)
        }
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
        self.hidden(words::hidden(grouped.of, grouped.groups.len()), out)
    }

    fn fleet(&self, fleet: &Fleet, out: &mut dyn Write) -> io::Result<()> {
        let saved = words::saved_so_far(fleet, self.currency);
        let sums = [saved, words::unread(fleet), nodes::summary(&fleet.nodes)];
        sums.iter().flatten().try_for_each(|sum| self.paragraph(sum, out))?;
        self.over_time(fleet, out)?;
        self.groups(Grouping::Job, &fleet.jobs.grouped, out)?;
        self.groups(Grouping::Trouble, &fleet.troubles, out)?;
        self.groups(Grouping::User, &fleet.users.grouped, out)?;
        self.groups(Grouping::Queue, &fleet.queues.grouped, out)?;
        self.remedies(fleet, out)?;
        self.realised(fleet, out)?;
        self.nodes(&fleet.nodes, out)?;
        self.unread(fleet, out)
    }

    fn over_time(&self, fleet: &Fleet, out: &mut dyn Write) -> io::Result<()> {
        let Some((periods, latest, earlier)) = words::latest(fleet) else { return Ok(()) };
        writeln!(out)?;
        let columns = [
            Column::key(words::period(periods), 10, 12),
            Column::number("GB·h", 7),
            Column::number("wasted", 7),
        ];
        let mut grid = Grid::new(0, columns).heading(self.heading());
        for period in &latest {
            grid.row([
                period.from.into(),
                hours(period.used_gb_hours).into(),
                hours(period.wasted_gb_hours).into(),
            ]);
        }
        grid.write(self.columns, out)?;
        if earlier == 0 { Ok(()) } else { self.paragraph(&format!("{earlier} earlier (--format json)"), out) }
    }

    fn nodes(&self, nodes: &Nodes, out: &mut dyn Write) -> io::Result<()> {
        if nodes.nodes.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
        let mut grid = Grid::new(0, nodes::columns()).heading(self.heading());
        nodes.nodes.iter().for_each(|node| grid.row(nodes::cells(node)));
        grid.write(self.columns, out)?;
        self.hidden(words::hidden(nodes.of, nodes.nodes.len()), out)
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
        self.hidden(words::hidden(fleet.remedies_of, fleet.remedies.len()), out)
    }

    fn realised(&self, fleet: &Fleet, out: &mut dyn Write) -> io::Result<()> {
        if fleet.realised.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{}changed configurations{:#}", self.heading(), self.heading())?;
        for change in &fleet.realised {
            self.paragraph(&words::realised(change, self.currency), out)?;
        }
        self.hidden(words::hidden(fleet.realised_of, fleet.realised.len()), out)
    }

    fn unread(&self, fleet: &Fleet, out: &mut dyn Write) -> io::Result<()> {
        if fleet.unread.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{}files that could not be read{:#}", self.heading(), self.heading())?;
        for kind in &fleet.unread {
            self.paragraph(&clean(&words::unread_kind(kind)), out)?;
        }
        self.hidden(fleet.unread_hidden(), out)
    }

    fn hidden(&self, hidden: u64, out: &mut dyn Write) -> io::Result<()> {
        if hidden == 0 { Ok(()) } else { self.paragraph(&format!("{hidden} more (--top)"), out) }
    }

    fn runs(&self, runs: &[Run], named: bool, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out)?;
        let first = if named { "application" } else { "run" };
        // An id of YARN and a cost fit into 80 columns.
        let columns = [
            Column::text("started", 10),
            Column::key(first, 20, 48).with_end(),
            Column::text("status", 6),
            Column::number("took", 7),
            Column::number("GB·h", 5),
            Column::number("wasted", 6),
        ];
        let cost = self.currency.map(|currency| Column::number(currency, 5));
        let mut grid = Grid::new(0, columns.into_iter().chain(cost)).heading(self.heading());
        for run in runs {
            let cells: [Cell; 6] = [
                words::day(run.submitted).unwrap_or_else(|| UNKNOWN.to_owned()).into(),
                clean(&run.id).into(),
                run.status.as_str().into(),
                run.run_time.map_or_else(|| UNKNOWN.to_owned(), |time| time.to_string()).into(),
                hours(run.used_gb_hours).into(),
                hours(run.wasted_gb_hours).into(),
            ];
            grid.row(cells.into_iter().chain(self.cost(run.cost)));
            let name = run.name.as_deref().filter(|_| named).map(clean);
            let trouble = run.trouble.as_ref();
            let cause = trouble.map(|(cause, _)| format!("{}: {}", run.severity.name(), clean(cause)));
            let known: Vec<String> = [name, cause].into_iter().flatten().collect();
            if !known.is_empty() {
                grid.note(2, known.join(", "));
            }
            if let Some((_, Some(remedy))) = trouble.filter(|_| named) {
                grid.note(2, format!("→ {}", clean(remedy)));
            }
        }
        grid.write(self.columns, out)
    }

    fn job(&self, runs: &Runs, out: &mut dyn Write) -> io::Result<()> {
        for change in &runs.changes {
            self.paragraph(&words::change(change), out)?;
        }
        if runs.changes.is_empty() {
            self.paragraph("neither run time nor memory changed its level", out)?;
        }
        self.runs(&runs.shown, false, out)?;
        let hidden = words::hidden(runs.of, runs.shown.len());
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
