//! Where the run times of a pair went, side by side.

use super::pair::columns;
use super::words::NOTABLE;
use crate::document::{Cell, Row, Table, Value};
use crate::words::millis;
use elephant_engine::diff::{Pair, PartOfSide, PartPair};

/// A part with at least this share of the change of the run time is most of it.
const MOST: f64 = 0.5;

pub(super) fn table(parts: &[PartPair]) -> Table<'_> {
    Table::new(columns("where the time went"), parts.iter().map(row)).in_order().named("Where the time went")
}

fn row(part: &PartPair) -> Row<'_> {
    let grew = part.grew_ms();
    let change = Cell::from(Value::Sorted(change(part), Some(grew)));
    let change = if grew.abs() < 1.0 { change } else { change.better(grew < 0.0) };
    Row::new([part.name().into(), side(&part.a), side(&part.b), change])
}

fn side<'a>(side: &PartOfSide) -> Cell<'a> {
    match side {
        PartOfSide::Told { time_ms, .. } => Value::Sorted(millis(*time_ms), Some(*time_ms)).into(),
        PartOfSide::AtMost(limit) if *limit > 0.0 => {
            Value::Sorted(format!("≤ {}", millis(*limit)), Some(*limit)).into()
        }
        PartOfSide::AtMost(_) => Value::Nothing.into(),
    }
}

/// "+21 s", "−4.2 s", "=", or "≥ +12 s" if a side has only a limit.
fn change(part: &PartPair) -> String {
    let grew = part.grew_ms();
    let known = part.a.time_ms().is_some() && part.b.time_ms().is_some();
    match grew {
        _ if grew.abs() < 1.0 && known => "=".to_owned(),
        _ if grew.abs() < 1.0 => String::new(),
        _ if known => signed(grew),
        _ if grew > 0.0 => format!("≥ {}", signed(grew)),
        _ => format!("≤ {}", signed(grew)),
    }
}

fn signed(grew: f64) -> String {
    format!("{}{}", if grew < 0.0 { "−" } else { "+" }, millis(grew.abs()))
}

/// "Most of the difference: query 3: scan of events, +21m 3s of +22m"; `None` if the run times are alike, or no part has
/// most of it.
pub(super) fn most(pair: &Pair) -> Option<String> {
    let figure = pair.run_time()?;
    figure.change().filter(|change| change.abs() >= NOTABLE)?;
    let changed = figure.a.zip(figure.b).map(|(a, b)| b - a)?;
    let parts = pair.account.as_deref()?.iter().filter(|part| !part.is_rest);
    let most = parts.filter(|part| part.grew_ms() * changed.signum() >= MOST * changed.abs());
    let most = most.max_by(|one, other| one.grew_ms().abs().total_cmp(&other.grew_ms().abs()))?;
    let grew = signed(most.grew_ms());
    Some(format!("Most of the difference: {}, {grew} of {}", most.name(), signed(changed)))
}
