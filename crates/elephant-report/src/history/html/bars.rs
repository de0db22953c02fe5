//! Amounts over time as bars.

use super::super::words::amount;
use crate::html::draw::{Axis, HEIGHT, Part, WIDTH};
use elephant_store::{OverTime, Periods};

/// One bar for each period, with its wasted part.
pub(super) struct Bars {
    pub(super) all: Vec<Bar>,
    /// The numbers on the axis, from the top.
    pub(super) heights: Vec<String>,
    /// A description of the bars for screen readers.
    pub(super) text: String,
}

pub(super) struct Bar {
    pub(super) part: Part,
    pub(super) used: f64,
    pub(super) wasted: f64,
    pub(super) text: String,
}

impl Bars {
    /// Bars of the used memory, with the wasted part; `None` if nothing is known.
    pub(super) fn both(over_time: &OverTime, periods: &Periods) -> Option<Self> {
        let used = over_time.used_gb_hours.iter().flatten().copied();
        let axis = Axis::over(used, 1.0)?;
        let height = |value: Option<f64>| value.map_or(0.0, |value| HEIGHT - axis.y(value));
        let rows = over_time.used_gb_hours.iter().zip(&over_time.wasted_gb_hours).zip(&periods.names);
        let bars = rows.enumerate().map(|(place, ((used, wasted), name))| {
            let shown = |value: Option<f64>| value.map_or_else(|| "unknown".to_owned(), amount);
            let text = match (used, wasted) {
                (None, None) => format!("{name}: nothing"),
                _ => format!("{name}: {} GB·h used, {} wasted", shown(*used), shown(*wasted)),
            };
            Bar { part: place_of(place, periods), used: height(*used), wasted: height(*wasted), text }
        });
        let mut heights = axis.ticks();
        heights.reverse();
        Some(Self { all: bars.collect(), heights, text: summary(&over_time.used_gb_hours, "used", periods) })
    }

    /// Bars of the wasted memory, on a scale of their own, because rows differ by orders of magnitude. `None`
    /// if nothing was wasted.
    pub(super) fn wasted(over_time: &OverTime, periods: &Periods) -> Option<Self> {
        let most = over_time.wasted_gb_hours.iter().flatten().copied().fold(0.0, f64::max);
        if most <= 0.0 {
            return None;
        }
        let rows = over_time.wasted_gb_hours.iter().zip(&periods.names).enumerate();
        let bars = rows.filter_map(|(place, (wasted, name))| {
            let wasted = (*wasted)?;
            let text = format!("{name}: {} GB·h", amount(wasted));
            Some(Bar { part: place_of(place, periods), used: 0.0, wasted: HEIGHT * wasted / most, text })
        });
        let text = summary(&over_time.wasted_gb_hours, "wasted", periods);
        Some(Self { all: bars.collect(), heights: Vec::new(), text })
    }
}

fn place_of(place: usize, periods: &Periods) -> Part {
    let width = WIDTH / periods.names.len().max(1) as f64;
    Part { x: (place as f64 + 0.1) * width, width: 0.8 * width }
}

/// "most wasted in the week of 2026-11-02: 12.3 GB·h".
fn summary(values: &[Option<f64>], what: &str, periods: &Periods) -> String {
    let known = values.iter().zip(&periods.names).filter_map(|(value, name)| Some(((*value)?, name)));
    let most = known.max_by(|(one, a), (other, b)| one.total_cmp(other).then(b.cmp(a)));
    most.map_or_else(String::new, |(value, name)| {
        format!("most {what} in the {} of {name}: {} GB·h", periods.unit(), amount(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wasted_part_is_within_the_bar() {
        let periods = Periods::of_days(&["2026-11-01", "2026-11-02"]);
        let over_time =
            OverTime { used_gb_hours: vec![Some(4.0), None], wasted_gb_hours: vec![Some(1.0), None] };
        let bars = Bars::both(&over_time, &periods).unwrap();
        assert_eq!(bars.heights.first().unwrap(), "4");
        assert_eq!((bars.all[0].used, bars.all[0].wasted), (100.0, 25.0));
        assert_eq!((bars.all[1].used, bars.all[1].text.as_str()), (0.0, "2026-11-02: nothing"));
        assert_eq!(bars.text, "most used in the day of 2026-11-01: 4.00 GB·h");
        assert!(Bars::wasted(&OverTime::default(), &periods).is_none());
        assert_eq!(Bars::wasted(&over_time, &periods).unwrap().all.len(), 1);
    }
}
