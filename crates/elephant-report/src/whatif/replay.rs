//! One application: what it took, and what it would take with each change.

use super::scaling::curves;
use super::words::{self, Saved};
use crate::document::{Block, Cell, Column, Media, Row, Section, Table, Value};
use crate::words::{plural, small};
use elephant_engine::whatif::{ApplicationReplays, Prediction, Range, Replays, Scenario};

/// Columns of the time that a change saves or adds, with its error.
const DIFFERENCE: usize = 24;
/// Columns of each cost.
const COST: usize = 10;

pub(super) fn part<'a>(id: &str, app: &'a ApplicationReplays) -> Section<'a> {
    let name = app.name.as_deref().unwrap_or_default();
    let section = Section::job(id, "", &app.id, name);
    match &app.replays {
        Ok(replays) => {
            let section = section.with(Block::Facts(facts(app, replays)));
            let section = section.with(path(replays).map(Block::Told)).with(Block::Table(changes(replays)));
            let curves = replays.scaling.as_ref().map(|scaling| curves(scaling, replays));
            section.only(Media::HTML, curves.filter(|all| !all.is_empty()).map(Block::Beside))
        }
        Err(why) => section.with(Block::Told(format!("cannot be replayed: {why}"))),
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

fn changes(replays: &Replays) -> Table<'_> {
    let columns = [
        Column::key("with", 16, usize::MAX).wrapped(),
        Column::number("takes", 8),
        Column::number("difference", DIFFERENCE).in_list(""),
        Column::number("core-hours", COST),
        Column::number("GB·h", COST),
    ];
    Table::new(columns, replays.scenarios.iter().map(change)).named("Changes")
}

fn change(scenario: &Scenario) -> Row<'_> {
    let name = Cell::from(words::change(scenario));
    let unknown = || Cell::from(Value::Unknown);
    match &scenario.prediction {
        Ok(prediction) => {
            let Prediction { takes, .. } = prediction;
            let [cores, memory] = [takes.core_hours, takes.gb_hours].map(cost);
            let time = Value::Sorted(words::takes(prediction), Some(takes.wall_ms.point));
            Row::new([name, time.into(), difference(prediction), cores, memory])
                .below(words::note(&scenario.change).map(str::to_owned))
        }
        Err(why) => {
            let why = format!("unknown: {why}");
            let difference = unknown().remark(Value::words(why.clone()));
            Row::new([name, unknown(), difference, unknown(), unknown()]).below(why)
        }
    }
}

fn difference(prediction: &Prediction) -> Cell<'_> {
    let saved = prediction.saves.wall_ms.point;
    let cell = |text: String| Cell::from(Value::Sorted(text, Some(saved)));
    match Saved::of(prediction) {
        Saved::Nothing => cell("no change".to_owned()),
        Saved::WithinError => cell("within the error".to_owned()),
        Saved::Less(time) => cell(format!("{time} shorter")).better(true),
        Saved::More(time) => cell(format!("{time} longer")).better(false),
    }
}

/// An amount of the likely run.
pub(super) fn cost<'a>(amount: Option<Range>) -> Cell<'a> {
    Value::known(amount, |range| Value::Sorted(small(range.point), Some(range.point))).into()
}
