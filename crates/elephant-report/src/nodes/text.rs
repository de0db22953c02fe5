//! The ranking as text: a verdict in words, then the table, worst node first.

mod verdict;

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::super::grid::{Cell, Column, Grid, UNKNOWN};
use super::super::text::TextOptions;
use super::super::words::matching;
use super::super::wrap::{clean, fit, lines, width};
use super::chart::Axis;
use super::words::MAX_NAMED;
use super::{shown, words};
use elephant_base::units::three_digits;
use elephant_engine::nodes::NodesReport;
use elephant_engine::nodes::indicators::Node;
use elephant_engine::nodes::levels::Interval;
use elephant_engine::nodes::settings::IntervalKind;
use elephant_engine::nodes::summary::Summary;
use elephant_engine::nodes::types::NodeGroup;

/// Columns of a node's name.
const NAME: usize = 20;
/// Fewer columns show nothing; the table has the numbers.
const LEAST_ROOM: usize = 10;
/// Maximum number of nodes in the chart.
const MAX_CHARTED: usize = 25;

pub(super) fn write(
    report: &NodesReport,
    options: TextOptions,
    top: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let page = Page { report, columns: options.columns, color: options.color };
    let nodes = shown(report, top);
    if report.ranking.nodes.is_empty() {
        page.no_nodes(out)?;
        return page.files(out);
    }
    page.verdict(out)?;
    if options.summary {
        writeln!(out)?;
        return page.files(out);
    }
    let (ranked, unranked): (Vec<&Node>, Vec<&Node>) = nodes.iter().partition(|node| node.level.is_some());
    let unranked: Vec<&Node> =
        unranked.into_iter().filter(|node| node.tasks > 0 && !node.suspected).collect();
    if !ranked.is_empty() {
        page.table(&ranked, out)?;
        page.chart(&ranked, out)?;
    }
    page.unranked(&unranked, out)?;
    page.summary(nodes.len(), out)?;
    page.files(out)
}

struct Page<'a> {
    report: &'a NodesReport,
    columns: usize,
    color: bool,
}

impl Page<'_> {
    fn paragraph(&self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        lines(text, self.columns).iter().try_for_each(|line| writeln!(out, "{line}"))
    }

    fn no_nodes(&self, out: &mut dyn Write) -> io::Result<()> {
        self.paragraph(&words::no_nodes(&self.report.settings), out)
    }

    fn table(&self, nodes: &[&Node], out: &mut dyn Write) -> io::Result<()> {
        let interval = match self.report.settings.interval {
            IntervalKind::MeanConfidence => "interval",
            IntervalKind::Prediction => "of tasks",
        };
        let extreme = format!("z>{}", three_digits(self.report.settings.extreme));
        let percent = format!("{:.0} % {interval}", 100.0 * self.report.settings.confidence);
        let mut grid = Grid::new(
            0,
            [
                Column::number("level", 5),
                Column::key("node", NAME, NAME),
                Column::number("tasks", 7),
                Column::number("mean z", 6),
                Column::text(percent, 14),
                Column::text("stragglers", 14),
                Column::number(extreme, 5),
            ],
        );
        for node in nodes {
            grid.row(self.row(node));
        }
        writeln!(out)?;
        grid.write(self.columns, out)
    }

    fn row(&self, node: &Node) -> [Cell; 7] {
        let style =
            if self.color && node.is_straggler() { AnsiColor::Red.on_default().bold() } else { Style::new() };
        let interval =
            node.interval().map(|Interval { low, high }| format!("{} to {}", rounded(low), rounded(high)));
        let stragglers = node.straggler_share.zip(node.straggler_interval);
        let stragglers = stragglers.map(|(share, Interval { low, high })| {
            format!("{:3.0} % ({:.0}-{:.0})", 100.0 * share, 100.0 * low, 100.0 * high)
        });
        let extreme = node.extreme_value.map(|share| format!("{:.0} %", 100.0 * share));
        let known = |value: Option<String>| Cell::from(value.unwrap_or_else(|| UNKNOWN.to_owned()));
        [
            node.level.map(|level| level.to_string()).unwrap_or_default().into(),
            Cell::styled(clean(&node.name), style),
            node.tasks.to_string().into(),
            two_places(node.mean).into(),
            known(interval),
            known(stragglers),
            known(extreme),
        ]
    }

    fn chart(&self, nodes: &[&Node], out: &mut dyn Write) -> io::Result<()> {
        const TREND: usize = 16;
        let drawn = nodes.get(..nodes.len().min(MAX_CHARTED)).unwrap_or_default();
        let room = self.columns.saturating_sub(NAME + 1 + 2 + TREND);
        if room < LEAST_ROOM {
            return Ok(());
        }
        let Some(axis) = Axis::over(drawn.iter().filter_map(|node| node.interval()), room) else {
            return Ok(());
        };
        let title = "mean z, interval";
        writeln!(out, "\n{title:<NAME$} {}  trend", axis.labels())?;
        for node in drawn {
            let Some(interval) = node.interval() else { continue };
            let bar = axis.draw(interval, node.mean);
            let line = format!("{} {bar}  {}", padded(&clean(&node.name), NAME), trend(node));
            writeln!(out, "{}", line.trim_end())?;
        }
        let more = nodes.len().saturating_sub(MAX_CHARTED);
        if more > 0 {
            writeln!(out, "and {more} more")?;
        }
        Ok(())
    }

    fn unranked(&self, nodes: &[&Node], out: &mut dyn Write) -> io::Result<()> {
        if nodes.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = nodes
            .iter()
            .take(MAX_NAMED)
            .map(|node| {
                let (mean, tasks) = (two_places(node.mean), counted(node.tasks, "task"));
                format!("{} (mean z {mean}, {tasks})", clean(&node.name))
            })
            .collect();
        let more = if nodes.len() > MAX_NAMED { " …" } else { "" };
        let verb = if nodes.len() == 1 { "is" } else { "are" };
        let text = format!(
            "{} with fewer than {} tasks {verb} not ranked: {}{more}",
            counted(nodes.len() as u64, "node"),
            self.report.settings.min_node_tasks,
            names.join(", ")
        );
        writeln!(out)?;
        self.paragraph(&text, out)
    }

    fn summary(&self, shown: usize, out: &mut dyn Write) -> io::Result<()> {
        let summary = &self.report.ranking.summary;
        writeln!(out)?;
        self.paragraph(
            "z is the number of standard deviations by which a task takes longer than the average of its group (the map tasks or the reduce tasks of a job, or a stage).",
            out,
        )?;
        if summary.levels.len() > 1 {
            let levels = summary.levels.iter().enumerate();
            let levels: Vec<String> = levels.map(|(level, count)| format!("{level}: {count}")).collect();
            let text = format!("Nodes by level (0 is the slowest): {}", shortened(&levels).join(", "));
            self.paragraph(&text, out)?;
        }
        if let Some(fits) = best_fits(summary) {
            self.paragraph(&fits, out)?;
        }
        if summary.racks.len() > 1 {
            self.paragraph(&format!("Mean z by rack: {}", groups_in_words(&summary.racks)), out)?;
        }
        if !summary.types.is_empty() {
            let untyped = match summary.untyped {
                0 => String::new(),
                count => format!("; {} without a type", counted(count, "node")),
            };
            let text = format!("Mean z by type: {}{untyped}", groups_in_words(&summary.types));
            self.paragraph(&text, out)?;
        }
        let hidden = self.report.ranking.nodes.len() - shown;
        if hidden > 0 {
            self.paragraph(&format!("{} not shown (--top)", counted(hidden as u64, "node")), out)?;
        }
        self.paragraph(&words::basis(self.report), out)
    }

    fn files(&self, out: &mut dyn Write) -> io::Result<()> {
        let files = &self.report.files;
        let text = format!(
            "{} read, {} skipped, {} failed · {}",
            counted(files.files_analysed, "file"),
            files.files_skipped,
            files.files_failed,
            matching(files)
        );
        self.paragraph(&text, out)?;
        match words::conditions(self.report) {
            Some(conditions) => self.paragraph(&conditions, out),
            None => Ok(()),
        }
    }
}

/// "r5 0.12 (3 nodes), r6 -0.04 (5 nodes)".
fn groups_in_words(groups: &[NodeGroup]) -> String {
    let group = |group: &NodeGroup| {
        format!("{} {} ({})", clean(&group.name), two_places(group.mean), counted(group.nodes, "node"))
    };
    let groups: Vec<String> = groups.iter().map(group).collect();
    shortened(&groups).join(", ")
}

/// "Best fit of z by Anderson-Darling: loglogistic3 2 (67 %), …".
fn best_fits(summary: &Summary) -> Option<String> {
    if summary.fitted == 0 {
        return None;
    }
    let percent = |count: u64| 100.0 * count as f64 / summary.fitted as f64;
    let mut fits = summary.best_fits.clone();
    fits.sort_by_key(|&(family, count)| (std::cmp::Reverse(count), family));
    let fits: Vec<String> = fits
        .iter()
        .map(|&(family, count)| format!("{} {count} ({:.0} %)", family.name(), percent(count)))
        .collect();
    let top = summary.loglogistic_in_top_three;
    Some(format!(
        "Best fit of z by Anderson-Darling: {}; loglogistic3 is among the best three of {} ({:.0} %)",
        fits.join(", "),
        counted(top, "node"),
        percent(top)
    ))
}

/// "+0.02 per day", or a note that the node was slow only on some days.
fn trend(node: &Node) -> String {
    if node.trend.transient {
        return "comes and goes".to_owned();
    }
    let slope = node.trend.slope.map(|slope| format!("{slope:+.2} per day"));
    slope.map(|text| text.replace("-0.00", "+0.00")).unwrap_or_default()
}

fn two_places(value: Option<f64>) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), rounded)
}

/// With two decimals. Zero has no sign.
fn rounded(value: f64) -> String {
    let text = format!("{value:.2}");
    if text == "-0.00" { "0.00".to_owned() } else { text }
}

/// Cut or filled to a width in columns.
fn padded(text: &str, columns: usize) -> String {
    let text = fit(text, columns);
    let missing = columns.saturating_sub(width(&text));
    text + &" ".repeat(missing)
}

/// The first few of a long list.
fn shortened(list: &[String]) -> Vec<&str> {
    const SHOWN: usize = 12;
    let mut short: Vec<&str> = list.iter().take(SHOWN).map(String::as_str).collect();
    if list.len() > SHOWN {
        short.push("…");
    }
    short
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
