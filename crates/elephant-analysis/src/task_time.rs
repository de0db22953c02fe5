//! The time in which tasks ran.

use crate::stragglers::group::covered;
use elephant_base::units::Millis;
use elephant_model::model::Application;
use elephant_model::model::table::TimePoint;

/// The time in which any attempt ran.
#[must_use]
pub fn time_of_tasks(app: &Application) -> Millis {
    time_of(app, |_, _| true)
}

/// The time in which any attempt ran for which `is_one` is true, given the place of its group and its row.
#[must_use]
pub fn time_of(app: &Application, is_one: impl Fn(usize, usize) -> bool) -> Millis {
    time_of_parts(app, |place, row| is_one(place, row).then_some(Millis::ZERO))
}

/// The same, where an attempt counts only after the time that `after` returns, and not at all if it returns none.
#[must_use]
pub fn time_of_parts(app: &Application, after: impl Fn(usize, usize) -> Option<Millis>) -> Millis {
    let after = &after;
    let spans = app.groups.iter().enumerate().flat_map(|(place, group)| {
        let attempts = &group.attempts;
        (0..attempts.len()).filter_map(move |row| {
            let (start, finish) =
                attempts.time(row, TimePoint::Start).zip(attempts.time(row, TimePoint::Finish))?;
            let start = start + after(place, row)?;
            Some((start.min(finish), finish))
        })
    });
    covered(spans)
}
