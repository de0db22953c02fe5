//! Tables of nodes, levels, distributions and groups.

use super::words::{self, MAX_NAMED};
use crate::document::{Axis, Block, Cell, Column, Drawing, Media, Row, Section, Table, Value};
use crate::words::{grouped, plural};
use elephant_base::severity::Severity;
use elephant_base::units::three_digits;
use elephant_engine::nodes::indicators::Node;
use elephant_engine::nodes::levels::Interval;
use elephant_engine::nodes::settings::{IntervalKind, Settings};
use elephant_engine::nodes::summary::Summary;
use elephant_engine::nodes::{NodeGroup, NodesReport};

/// Rows of the table.
const MAX_ROWS: usize = 2000;
/// Levels and groups that are listed.
pub(super) const MAX_LISTED: usize = 20;
/// Nodes that are drawn on a page, and in a terminal.
const DRAWN: usize = 40;
const DRAWN_IN_TEXT: usize = 25;
/// Columns of a node's name.
const NAME: usize = 20;
/// Columns of a trend.
const TREND: usize = 16;

/// The mean and its interval for each of the first nodes, on one axis.
pub(super) fn intervals<'a>(nodes: &'a [Node], settings: &Settings) -> Section<'a> {
    let what = match settings.interval {
        IntervalKind::MeanConfidence => "interval of the mean",
        IntervalKind::Prediction => "interval of single tasks",
    };
    let percent = 100.0 * settings.confidence;
    let caption = format!("Mean z-score (line) and {percent:.0}\u{a0}% {what} (bar), 0 is the average");
    let ranked = nodes.iter().filter(|node| node.level.is_some());
    let all: Vec<_> = ranked.filter_map(|node| Some((node, node.interval()?))).collect();
    let columns = || {
        [
            Column::key("mean z, interval", NAME, NAME).on_page("Node"),
            Column::drawn(Axis::Values),
            Column::text("trend", TREND).only(Media::TEXT),
            Column::number("mean", 0).only(Media::HTML),
            Column::number("interval", 0).only(Media::HTML),
            Column::number("tasks", 0).only(Media::HTML),
        ]
    };
    let row = |(node, Interval { low, high }): &(&'a Node, Interval)| {
        let class = match (low, high) {
            _ if node.is_straggler() || node.failed => "bad",
            (0.0.., _) if *low > 0.0 => "large",
            (_, high) if *high < 0.0 => "held",
            _ => "open",
        };
        let interval = Drawing::Interval { class, range: (*low, *high), mean: node.mean };
        Row::new([
            (&*node.name).into(),
            Value::Drawing(interval).into(),
            words::trend(node).map_or(Value::Nothing, Value::words).into(),
            Value::known(node.mean, Value::Decimal).into(),
            Value::Range(*low, *high).into(),
            node.tasks.into(),
        ])
    };
    let table = |most: usize| {
        let more = all.len().saturating_sub(most) as u64;
        let more = (more > 0).then(|| format!("and {}", plural(more, "more node")));
        (!all.is_empty()).then(|| {
            Table::new(columns(), all.iter().take(most).map(row))
                .figure("intervals", caption.clone())
                .legend(legend())
                .note(more)
        })
    };
    Section::new("intervals", "Intervals", "How much slower, and how certain")
        .only(Media::HTML, table(DRAWN).map(Block::Table))
        .only(Media::TEXT, table(DRAWN_IN_TEXT).map(Block::Table))
}

fn legend() -> Vec<(&'static str, String)> {
    let keys = [
        ("bad", "called slow"),
        ("large", "above average"),
        ("open", "not distinguishable from the average"),
        ("held", "below"),
    ];
    keys.map(|(class, text)| (class, text.to_owned())).into()
}

/// What the columns of z are.
const Z: &str = "z is the number of standard deviations by which a task takes longer than the average of its group (the map tasks or the reduce tasks of a job, or a stage).";

/// The table of nodes, the slowest first; a terminal shows the ranked ones.
pub(super) fn all_nodes<'a>(report: &NodesReport, nodes: &'a [Node]) -> Section<'a> {
    let settings = &report.settings;
    let interval = match settings.interval {
        IntervalKind::MeanConfidence => "interval",
        IntervalKind::Prediction => "of tasks",
    };
    let percent = format!("{:.0} % {interval}", 100.0 * settings.confidence);
    let page = |column: Column| column.only(Media::HTML);
    let columns = [
        Column::number("level", 5),
        Column::key("node", NAME, NAME),
        page(Column::text("verdict", 0)),
        page(Column::text("rack", 0)),
        page(Column::text("lost", 0)),
        Column::number("tasks", 7),
        Column::number("mean z", 6),
        Column::number(percent, 14).on_page("Interval"),
        page(Column::number("deviation", 0)),
        Column::number("stragglers", 12),
        Column::number(format!("z>{}", three_digits(settings.extreme)), 5),
        page(Column::text("best fit", 0)),
        page(Column::number("trend per day", 0)),
    ];
    let table = Table::new(columns, nodes.iter().take(MAX_ROWS).map(row));
    let left_out = (report.ranking.nodes.len() - nodes.len().min(MAX_ROWS)) as u64;
    let unranked: Vec<&Node> =
        nodes.iter().filter(|node| node.level.is_none() && node.tasks > 0 && !node.suspected).collect();
    Section::new("nodes", "All nodes", "All nodes")
        .with(Block::Table(table))
        .hiding(left_out, "not shown (`--top`); the JSON report has all")
        .only(Media::TEXT, words::unranked(&unranked, settings, MAX_NAMED).map(Block::Lead))
        .only(Media::TEXT, Block::Lead(Z.to_owned()))
        .only(Media::TEXT, Block::Lead(words::basis(report)))
}

fn row(node: &Node) -> Row<'_> {
    let name = Cell::from(&*node.name);
    let name = if node.is_straggler() || node.failed { name.better(false) } else { name };
    let verdict = match node.level {
        _ if node.failed => Cell::from(Value::Nothing).badge(Severity::Critical, "failed"),
        _ if node.suspected => Cell::from(Value::Nothing).badge(Severity::Moderate, "suspected"),
        None => Value::Own("not ranked").into(),
        Some(_) if node.is_straggler() => Cell::from(Value::Nothing).badge(Severity::Severe, "slow"),
        Some(_) if node.is_significantly_slow() => Value::Own("slightly slow").into(),
        Some(_) => Value::Nothing.into(),
    };
    let decimal = |value: Option<f64>| Value::known(value, Value::Decimal).into();
    let interval = node.interval();
    let interval = Value::known(interval, |it| Value::Range(it.low, it.high));
    let stragglers = node.straggler_share.zip(node.straggler_interval);
    let stragglers = Value::known(stragglers, |(share, Interval { low, high })| {
        let text = format!("{:.0} % ({:.0}-{:.0})", 100.0 * share, 100.0 * low, 100.0 * high);
        Value::Sorted(text, Some(share))
    });
    let shown = if node.level.is_some() { Media::ALL } else { Media::HTML };
    let cells = [
        node.level.into(),
        name,
        verdict,
        node.rack.as_deref().map_or(Value::Nothing, Value::from).into(),
        words_or_nothing(words::lost(node)),
        node.tasks.into(),
        decimal(node.mean),
        interval.into(),
        decimal(node.deviation),
        stragglers.into(),
        Value::known(node.extreme_value, |share| Value::Percent(100.0 * share, 0)).into(),
        node.best().map_or(Value::Nothing, |fit| Value::Own(fit.family().name())).into(),
        decimal(node.trend.slope),
    ];
    Row::new(cells).only(shown)
}

fn words_or_nothing<'a>(words: String) -> Cell<'a> {
    if words.is_empty() { Value::Nothing.into() } else { Value::words(words).into() }
}

/// How many nodes each level has, from the slowest.
pub(super) fn levels(summary: &Summary) -> Option<Table<'static>> {
    let more = grouped(summary.levels.len().saturating_sub(MAX_LISTED) as u64);
    let more = (summary.levels.len() > MAX_LISTED).then(|| format!("and {more} more levels"));
    let levels = summary.levels.iter().enumerate().take(MAX_LISTED);
    let rows = levels.map(|(level, count)| (level.to_string(), *count)).collect();
    let table = shares("level", rows, summary.ranked)?;
    Some(table.figure("shares", "Nodes by level, 0 is the slowest").note(more))
}

/// How often each family fits best, the most frequent first.
pub(super) fn families(summary: &Summary) -> Option<Table<'static>> {
    let fits = words::by_frequency(summary).into_iter();
    let rows = fits.map(|(family, count)| (family.name().to_owned(), count)).collect();
    let table = shares("family", rows, summary.fitted)?;
    let best = format!(
        "By Anderson and Darling's A². loglogistic3 is among the best three of {} of {} nodes.",
        grouped(summary.loglogistic_in_top_three),
        grouped(summary.fitted)
    );
    Some(table.figure("shares", "Distribution that fits a node's z-scores best").note(best))
}

fn shares(title: &'static str, rows: Vec<(String, u64)>, whole: u64) -> Option<Table<'static>> {
    let columns = [
        Column::key(title, 0, 0),
        Column::drawn(Axis::Shares),
        Column::number("count", 0),
        Column::number("share", 0),
    ];
    let row = |(name, count): (String, u64)| {
        let share = count as f64 / whole.max(1) as f64;
        let bar = Value::Drawing(Drawing::Shares(vec![("ok", share)]));
        let percent = Value::Sorted(format!("{} %", three_digits(100.0 * share)), Some(share));
        Row::new([name.into(), bar.into(), count.into(), percent.into()])
    };
    (!rows.is_empty()).then(|| Table::new(columns, rows.into_iter().map(row)))
}

/// Racks or declared types of nodes.
pub(super) fn groups<'a>(name: &'static str, groups: &'a [NodeGroup]) -> Table<'a> {
    let columns = [
        Column::key(name, 0, 0),
        Column::number("mean z", 0),
        Column::number("stragglers", 0),
        Column::number("nodes", 0),
        Column::number("tasks", 0),
    ];
    let row = |group: &'a NodeGroup| {
        Row::new([
            (&*group.name).into(),
            Value::known(group.mean, Value::Decimal).into(),
            Value::known(group.straggler_share, |share| Value::Percent(100.0 * share, 0)).into(),
            group.nodes.into(),
            group.tasks.into(),
        ])
    };
    let more = groups.len().saturating_sub(MAX_LISTED);
    Table::new(columns, groups.iter().take(MAX_LISTED).map(row))
        .figure("groups", format!("Mean z-score by {name}"))
        .note((more > 0).then(|| format!("and {} more", grouped(more as u64))))
}
