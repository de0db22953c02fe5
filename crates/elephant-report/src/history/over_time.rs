//! Amounts over time, as bars and as a short table.

use super::words::{self, amount};
use crate::document::{Bar, Chart, Column, Row, Table};
use elephant_store::{Fleet, OverTime, Periods};

/// The memory of all applications that was used, and the part that was not needed.
pub(crate) fn chart(fleet: &Fleet) -> Option<Chart> {
    let periods = fleet.periods.as_ref().filter(|periods| periods.names.len() > 1)?;
    let OverTime { used_gb_hours, wasted_gb_hours } = &fleet.over_time;
    if !used_gb_hours.iter().flatten().any(|used| *used > 0.0) {
        return None;
    }
    let rows = used_gb_hours.iter().zip(wasted_gb_hours).zip(&periods.names);
    let bars = rows.map(|((used, wasted), name)| {
        let shown = |value: &Option<f64>| value.map_or_else(|| "unknown".to_owned(), amount);
        let text = match (used, wasted) {
            (None, None) => format!("{name}: nothing"),
            _ => format!("{name}: {} GB·h used, {} wasted", shown(used), shown(wasted)),
        };
        let wasted = wasted.unwrap_or_default();
        let parts = vec![("bad", wasted), ("open", (used.unwrap_or_default() - wasted).max(0.0))];
        Some(bar(name, parts, text))
    });
    Some(Chart {
        caption: format!("GB·h used, and of it not needed, by {} of submission", periods.unit()),
        label: most(used_gb_hours, "used", periods),
        ticks: words::ends(periods),
        bars: bars.collect(),
        legend: vec![vec![("open", "used".to_owned()), ("bad", "not needed".to_owned())]],
        remark: periods.is_cut.then_some("Applications outside these months are in the sums only."),
        told: None,
        limit: None,
    })
}

fn bar(name: &str, parts: Vec<(&'static str, f64)>, text: String) -> Bar {
    Bar { label: name.to_owned(), parts, text, is_marked: false }
}

/// The memory that a group wasted; `None` if it wasted nothing.
pub(crate) fn trend(over_time: &OverTime, periods: &Periods) -> Option<Chart> {
    let wasted = &over_time.wasted_gb_hours;
    if periods.names.len() < 2 || !wasted.iter().flatten().any(|wasted| *wasted > 0.0) {
        return None;
    }
    let bars = wasted.iter().zip(&periods.names).map(|(wasted, name)| {
        let text = format!("{name}: {} GB·h", amount((*wasted)?));
        Some(bar(name, vec![("bad", (*wasted)?)], text))
    });
    Some(Chart {
        caption: String::new(),
        label: most(wasted, "wasted", periods),
        ticks: Vec::new(),
        told: None,
        limit: None,
        bars: bars.collect(),
        legend: Vec::new(),
        remark: None,
    })
}

/// "most wasted in the week of 2026-11-02: 12.3 GB·h".
fn most(values: &[Option<f64>], what: &str, periods: &Periods) -> String {
    let known = values.iter().zip(&periods.names).filter_map(|(value, name)| Some(((*value)?, name)));
    let most = known.max_by(|(one, a), (other, b)| one.total_cmp(other).then(b.cmp(a)));
    most.map_or_else(String::new, |(value, name)| {
        format!("most {what} in the {} of {name}: {} GB·h", periods.unit(), amount(value))
    })
}

/// The most periods in a short table. A terminal shows them without scrolling.
const LATEST: usize = 12;

/// The latest periods, and the number of earlier ones.
pub(crate) fn latest(fleet: &Fleet) -> Option<(Table<'_>, u64)> {
    let (periods, latest, earlier) = fleet.latest(fleet.most.min(LATEST))?;
    let columns = [
        Column::key(words::period(periods), 10, 12),
        Column::number("GB·h", 7),
        Column::number("wasted", 7).long("not needed").in_list("wasted"),
    ];
    let amount = |value| words::hours(value).into();
    let rows = latest.into_iter().map(|period| {
        Row::new([period.from.into(), amount(period.used_gb_hours), amount(period.wasted_gb_hours)])
    });
    Some((Table::new(columns, rows), earlier))
}
