//! One application: what it took, and what it would take with each change.

use super::effects;
use super::memory::sentence;
use super::scaling::curves;
use super::words::{self, Saved};
use crate::document::{Block, Cell, Column, Media, Row, Section, Table, Value};
use crate::words::{plural, small};
use elephant_engine::whatif::{ApplicationReplays, Prediction, Range, Replays, Scenario};

/// Columns of the time that a change saves or adds, with its error.
const DIFFERENCE: usize = 24;
/// Columns of each cost, and of money.
const COST: usize = 10;
const MONEY: usize = 7;

/// `currency` is that of costs, if there are prices.
pub(super) fn part<'a>(id: &str, app: &'a ApplicationReplays, currency: Option<&'a str>) -> Section<'a> {
    let name = app.name.as_deref().unwrap_or_default();
    let section = Section::job(id, "", &app.id, name);
    match &app.replays {
        Ok(replays) => {
            let section = section.with(Block::Facts(facts(app, replays)));
            let section =
                section.with(path(replays).map(Block::Told)).with(Block::Table(changes(replays, currency)));
            let curves = replays.scaling.as_ref().map(|scaling| curves(scaling, replays));
            section.only(Media::HTML, curves.filter(|all| !all.is_empty()).map(Block::Beside))
        }
        Err(why) => {
            let section = section.with(Block::Told(format!("cannot be replayed: {why}")));
            effects::of_memory(&app.memory).into_iter().map(Block::Told).fold(section, Section::with)
        }
    }
}

/// "took 1m", "replayed 1m (−0.2 %) on 2 slots", "45.2 s with unlimited slots (critical path)".
fn facts(app: &ApplicationReplays, replays: &Replays) -> Vec<String> {
    let Replays { recorded, replayed, residual_percent, slots, .. } = replays;
    // Zero has no sign.
    let residual = match format!("{residual_percent:+.1}").replace('-', "−") {
        text if matches!(text.as_str(), "+0.0" | "−0.0") => "0.0".to_owned(),
        text => text,
    };
    let slots = plural(u64::from(*slots), "slot");
    let mut facts = vec![
        app.engine.name().to_owned(),
        format!("took {recorded}"),
        format!("replayed {replayed} ({residual} %) on {slots}"),
    ];
    facts.extend(words::bounds(replays));
    facts
}

/// The longest stages on the critical path.
fn path(replays: &Replays) -> Option<String> {
    let stages: Vec<String> =
        replays.path.iter().map(|stage| format!("{} {}", words::stage(stage), stage.time)).collect();
    (!stages.is_empty()).then(|| format!("{}: {}", words::PATH, stages.join(", ")))
}

/// The run as it was, and with each change.
fn changes<'a>(replays: &'a Replays, currency: Option<&'a str>) -> Table<'a> {
    let columns = [
        Column::key("with", 16, usize::MAX).wrapped(),
        Column::number("takes", 8),
        Column::number("difference", DIFFERENCE).in_list(""),
        Column::number("core-hours", COST),
        Column::number("GB·h", COST),
    ];
    let money = currency.map(|currency| Column::number(currency.to_owned(), MONEY).on_page("Cost"));
    let rows = replays.scenarios.iter().map(|scenario| change(scenario, currency));
    let rows = [as_it_was(replays, currency)].into_iter().chain(rows);
    Table::new(columns.into_iter().chain(money), rows).named("Changes")
}

fn as_it_was<'a>(replays: &Replays, currency: Option<&str>) -> Row<'a> {
    let [cores, memory] = [replays.took.core_hours, replays.took.gb_hours].map(cost);
    let took = Value::Duration(replays.recorded).into();
    let cells = ["as it was".into(), took, Value::Nothing.into(), cores, memory];
    let money = currency.map(|_| cost(replays.cost));
    Row::new(cells.into_iter().chain(money)).current()
}

fn change<'a>(scenario: &'a Scenario, currency: Option<&str>) -> Row<'a> {
    let name = Cell::from(words::change(scenario));
    let unknown = || Cell::from(Value::Unknown);
    let money = currency.map(|_| cost(scenario.cost.map(|cost| cost.takes)));
    // A page has the sentences below the name, or next to what is unknown; a terminal has them below the row.
    let sentences = sentences(scenario, currency);
    let remarked = |cell: Cell<'a>| {
        sentences.iter().fold(cell, |cell, sentence| cell.remark(Value::words(sentence.clone())))
    };
    let cells = match &scenario.prediction {
        Ok(prediction) => {
            let Prediction { takes, .. } = prediction;
            let [cores, memory] = [takes.core_hours, takes.gb_hours].map(cost);
            let time = Value::Sorted(words::takes(prediction), Some(takes.wall_ms.point));
            [remarked(name), time.into(), difference(prediction), cores, memory]
        }
        Err(_) => [name, unknown(), remarked(unknown()), unknown(), unknown()],
    };
    sentences.into_iter().fold(Row::new(cells.into_iter().chain(money)), Row::below)
}

/// What the columns do not say: what changes besides time, whether memory is enough, and what a replay leaves out.
fn sentences(scenario: &Scenario, currency: Option<&str>) -> Vec<String> {
    let memory = scenario.memory.as_ref().map(sentence);
    match &scenario.prediction {
        // A run that does not end saves nothing.
        Ok(_) if scenario.would_break() => memory.into_iter().collect(),
        Ok(prediction) => {
            let is_short = !matches!(Saved::of(prediction), Saved::Less(_) | Saved::More(_));
            let besides = is_short.then(|| effects::besides_time(scenario, prediction, currency));
            let note = words::note(&scenario.change).map(str::to_owned);
            memory.into_iter().chain(besides.flatten()).chain(note).collect()
        }
        Err(why) => memory.into_iter().chain([format!("unknown: {why}")]).collect(),
    }
}

fn difference<'a>(prediction: &Prediction) -> Cell<'a> {
    let saved = prediction.saves.wall_ms.point;
    let cell = |text: String| Cell::from(Value::Sorted(text, Some(saved)));
    match Saved::of(prediction) {
        Saved::Nothing if !effects::changes_cost(prediction) => cell("no change".to_owned()),
        Saved::Nothing => cell("same time".to_owned()),
        Saved::WithinError => cell("within the error".to_owned()),
        Saved::Less(time) => cell(format!("{time} shorter")).better(true),
        Saved::More(time) => cell(format!("{time} longer")).better(false),
    }
}

/// An amount of the likely run.
pub(super) fn cost<'a>(amount: Option<Range>) -> Cell<'a> {
    Value::known(amount, |range| Value::Sorted(small(range.point), Some(range.point))).into()
}
