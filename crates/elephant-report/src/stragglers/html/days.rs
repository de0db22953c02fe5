//! Stragglers by the day of submission, with their causes.

use super::causes::Palette;
use crate::html::draw::{Part, WIDTH};
use crate::html::filters::grouped;
use crate::stragglers::{sentences, words};
use elephant_analysis::stragglers::cause::CauseCounts;
use elephant_engine::survey::StragglerDay;

/// A row of the table and of the chart.
pub(super) struct DayRow<'a> {
    pub(super) day: &'a StragglerDay,
    /// The stragglers among the tasks by cause, with the class of each.
    pub(super) parts: Vec<(&'static str, Part)>,
}

impl<'a> DayRow<'a> {
    pub(super) fn of(day: &'a StragglerDay, palette: &Palette) -> Self {
        let mut causes = day.causes.by_frequency();
        causes.sort_by_key(|(count, _)| palette.order(count.cause));
        let share = |count: u64| count as f64 / day.tasks.max(1) as f64;
        let mut x = 0.0;
        let parts = causes.into_iter().map(|(count, _)| {
            let width = share(count.primary) * WIDTH;
            x += width;
            (palette.class(count.cause), Part { x: x - width, width })
        });
        Self { day, parts: parts.collect() }
    }

    pub(super) fn date(&self) -> String {
        words::date(self.day.begin).unwrap_or_default()
    }

    pub(super) fn causes(&self) -> String {
        sentences::causes(&self.day.causes)
    }

    /// Tasks with a DoS-index of at least 2.5.
    pub(super) fn reported(&self) -> String {
        counted(self.day.dos.map(|(report, _)| report))
    }

    /// Tasks with a DoS-index of at least 10.
    pub(super) fn extreme(&self) -> String {
        counted(self.day.dos.map(|(_, diagnose)| diagnose))
    }

    /// The causes of the stragglers with a DoS-index of at least 10.
    pub(super) fn diagnosed(&self) -> String {
        let diagnosed: &CauseCounts = &self.day.diagnosed;
        sentences::causes(diagnosed)
    }
}

/// "unknown" if no input is known.
fn counted(count: Option<u64>) -> String {
    count.map_or_else(|| "unknown".to_owned(), grouped)
}
