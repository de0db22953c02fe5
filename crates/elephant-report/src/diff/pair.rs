//! A pair with all tables: costs, where the time went, findings, settings and phases.

use super::account;
use super::queries::plans;
use super::words::{NOTABLE, UNKNOWN, change, details, label, largest_differences, setting, severity, value};
use crate::document::{Axis, Block, Cell, Column, Drawing, Finding, Media, Row, Section, Table, Value};
use crate::words::{grouped, plural};
use elephant_base::severity::Severity;
use elephant_engine::diff::{
    Configuration, Figure, FindingPair, Label, Move, Pair, PhasePair, Setting, Unit,
};

/// Columns of each value, and of a change.
const NUMBER: usize = 13;
const CHANGE: usize = 9;
/// The fewest columns of a name.
const NAME: usize = 12;
/// Settings of a pair that are listed.
const MAX_SETTINGS: usize = 300;
/// Maximum width of a setting's value in a terminal.
const VALUE: usize = 200;

/// A pair; its title depends on the format.
pub(super) fn part<'a>(id: &str, title: &str, pair: &'a Pair) -> Section<'a> {
    let sides = [("A", &pair.a), ("B", &pair.b)].map(|(side, label)| in_words(side, label));
    let section = Section::job(id, "", title, "").with(Block::List(sides.into()));
    let notes = pair.notes.iter().map(|note| Block::Warning(note.clone()));
    let section = notes.fold(section, Section::with).with(account::most(pair).map(Block::Told));
    let heading = |name: &str, title: &str| Block::Heading(format!("{id}-{name}"), title.to_owned());
    let section = section
        .only(Media::HTML, heading("costs", "Costs"))
        .with(Block::Table(costs(pair)))
        .only(Media::HTML, pair.account.as_ref().map(|_| heading("account", "Where the time went")))
        .with(pair.account.as_deref().map(|parts| Block::Table(account::table(parts))))
        .only(Media::HTML, heading("findings", "Findings"))
        .only(Media::TEXT, Block::Label("findings".to_owned()));
    let section = findings(&pair.findings, section);
    let section = match &pair.queries {
        Some(queries) => plans(queries, id, section),
        None => section,
    };
    let section = section.only(Media::HTML, heading("settings", "Settings"));
    let section = match &pair.configuration {
        Some(configuration) => settings(configuration, section),
        None => section.only(Media::HTML, Block::Told("The configuration of a side is unknown.".to_owned())),
    };
    let section = section.only(Media::HTML, heading("phases", "Phases"));
    match pair.phases.as_deref() {
        Some(list @ [_, ..]) => {
            let summary = plural(list.len() as u64, "phase");
            section
                .only(Media::TEXT.or(Media::HTML), Block::Table(phases(list)))
                .only(Media::MARKDOWN, Block::Folded(summary, vec![Block::Table(phases(list))]))
        }
        _ => section.only(Media::HTML, Block::Told("The durations of phases are unknown.".to_owned())),
    }
}

/// "A: app-1, nightly sales, succeeded, 2026-11-20T…".
fn in_words(side: &str, label: &Label) -> String {
    let parts = [Some(&label.id), label.name.as_ref(), Some(&label.status), label.started_at.as_ref()];
    let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
    format!("{side}: {}", parts.join(", "))
}

/// The value of one side.
pub(super) fn side<'a>(figure: &Figure, of: Option<f64>) -> Cell<'a> {
    Value::known(of, |number| Value::Sorted(value(figure.unit, of), Some(number))).into()
}

/// A change in its colour: less time, memory or cores is better.
pub(super) fn changed_cell<'a>(figure: &Figure) -> Cell<'a> {
    let share = figure.change();
    let cell = Cell::from(Value::Sorted(change(figure), share));
    match share.filter(|share| figure.unit != Unit::Count && share.abs() >= NOTABLE) {
        Some(share) => cell.better(share < 0.0),
        None => cell,
    }
}

pub(super) fn columns(name: &'static str) -> [Column; 4] {
    [
        Column::key(name, NAME, usize::MAX).with_end(),
        Column::number("A", NUMBER),
        Column::number("B", NUMBER),
        Column::number("change", CHANGE),
    ]
}

fn costs(pair: &Pair) -> Table<'_> {
    let row = |figure: &'_ Figure| {
        let name = Cell::from(figure.name.clone());
        Row::new([name, side(figure, figure.a), side(figure, figure.b), changed_cell(figure)])
    };
    Table::new(columns("cost"), pair.figures.iter().map(row)).in_order().named("Costs")
}

/// The findings that changed.
fn findings<'a>(findings: &[FindingPair], section: Section<'a>) -> Section<'a> {
    let moved: Vec<&FindingPair> = findings.iter().filter(|pair| pair.moved != Move::Same).collect();
    let same = (findings.len() - moved.len()) as u64;
    let none = match same {
        _ if !moved.is_empty() => None,
        0 => Some("No findings on either side.".to_owned()),
        _ => Some("No finding changed.".to_owned()),
    };
    let section = moved.into_iter().map(finding).fold(section, Section::with).with(none.map(Block::Told));
    section.with((same > 0).then(|| Block::Note(format!("The same on both sides: {}.", grouped(same)))))
}

/// A finding in the colour of the worse side if it is new or worse.
fn finding<'a>(pair: &FindingPair) -> Block<'a> {
    let worst = match pair.moved {
        Move::Came | Move::Worse => pair.b.or(pair.a).unwrap_or(Severity::None),
        _ => Severity::None,
    };
    Block::Finding(Finding {
        label: Some(label(pair.moved)),
        place: Some(format!("({}), {}", pair.subject, severity(pair))),
        more: pair.reason.iter().chain([&pair.message]).cloned().collect(),
        ..Finding::new(worst, &pair.rule, "")
    })
}

fn settings<'a>(configuration: &'a Configuration, section: Section<'a>) -> Section<'a> {
    let Configuration { settings: all, left_out, .. } = configuration;
    let ids = "ids, ports or folders of a run";
    if all.is_empty() {
        let except = if *left_out > 0 { format!(", except those with {ids}") } else { String::new() };
        return section
            .only(Media::TEXT.or(Media::HTML), Block::Told(format!("No setting differs{except}.")));
    }
    let columns = || [Column::key("setting", 0, 0), Column::text("A", 0), Column::text("B", 0)];
    let cell = |value: Option<&'a str>| value.map_or(Value::Own("not set"), Value::from).into();
    let row = |item: &'a Setting| {
        let (a, b) = setting(item);
        Row::new([Value::Code(item.name.as_str().into()).into(), cell(a), cell(b)])
    };
    let table = |most: usize| {
        Block::Table(Table::new(columns(), all.iter().take(most).map(row)).in_order().named("Settings"))
    };
    let more = all.len().saturating_sub(MAX_SETTINGS) as u64;
    let more = (more > 0).then(|| format!("and {} more; the JSON report has all.", grouped(more)));
    let left_out = *left_out as u64;
    let hidden = (left_out > 0).then(|| {
        format!("… {} with {ids}; `--all-configuration` shows them", plural(left_out, "more setting"))
    });
    let summary = format!("{} changed", plural(all.len() as u64, "setting"));
    section
        .only(Media::TEXT, Block::Label("settings".to_owned()))
        .only(Media::TEXT, Block::List(all.iter().map(in_one_line).collect()))
        .only(Media::HTML, table(MAX_SETTINGS))
        .only(Media::HTML, more.map(Block::Note))
        .only(Media::MARKDOWN, Block::Folded(summary, vec![table(usize::MAX)]))
        .only(Media::TEXT.or(Media::HTML), hidden.map(Block::Note))
}

/// "+ spark.executor.cores = 4".
fn in_one_line(item: &Setting) -> String {
    let (name, show) = (&item.name, |value: &str| crate::wrap::fit(value, VALUE));
    match setting(item) {
        (None, Some(b)) => format!("+ {name} = {}", show(b)),
        (Some(a), None) => format!("- {name} = {}", show(a)),
        (a, b) => format!("~ {name}: {} → {}", show(a.unwrap_or_default()), show(b.unwrap_or_default())),
    }
}

/// The phases that differ most, with their durations as bars.
fn phases(phases: &[PhasePair]) -> Table<'_> {
    let (shown, left_out) = largest_differences(phases);
    let [name, a, b, change] = columns("phases, by change of duration");
    let drawn = Column::drawn(Axis::Times).only(Media::HTML);
    let others = Column::text("other differences", 0).only(Media::MARKDOWN);
    let more = plural(left_out as u64, "more phase");
    let more = (left_out > 0).then(|| format!("… and {more} that differ less; the JSON report has all"));
    Table::new([name.long("phase"), drawn, a, b, change, others], shown.into_iter().map(phase))
        .figure("phases", "Duration of each phase")
        .legend(vec![("side-A", "A".to_owned()), ("side-B", "B".to_owned())])
        .note(more)
}

fn phase(phase: &PhasePair) -> Row<'_> {
    let name = phase.key.strip_prefix("stage ").unwrap_or(&phase.key);
    let details = details(phase);
    let others = (!details.is_empty()).then(|| details.clone());
    let duration = phase.figures.iter().find(|figure| figure.key == "duration_ms");
    let shown = |pick: fn(&Figure) -> Option<f64>| {
        duration.map_or_else(|| Cell::from(Value::Own(UNKNOWN)), |figure| side(figure, pick(figure)))
    };
    let change = match (&phase.a, &phase.b) {
        (Some(_), None) => Value::Own("only in A"),
        (None, Some(_)) => Value::Own("only in B"),
        _ => duration.map_or(Value::Nothing, |figure| Value::Sorted(change(figure), figure.change())),
    };
    let (a, b) = phase.durations();
    let bars = [phase.a.as_ref().map(|_| a), phase.b.as_ref().map(|_| b)];
    let cells = [
        Cell::from(name).remark(others.clone().map(Value::words)),
        Value::Drawing(Drawing::Sides(bars)).into(),
        shown(|figure| figure.a),
        shown(|figure| figure.b),
        change.into(),
        others.clone().map_or(Value::Nothing, Value::words).into(),
    ];
    Row::new(cells).below(others)
}
