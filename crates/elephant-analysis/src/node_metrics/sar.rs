//! Output of `sar -u -d -n TCP,ETCP` (sysstat 10 to 12, English or ISO times).
//!
//! ```text
//! Linux 5.10.0 (node1)   11/21/2026   _x86_64_   (8 CPU)
//!
//! 10:00:01 AM     CPU     %user     %nice   %system   %iowait    %steal     %idle
//! 10:10:01 AM     all     61.20      0.00      8.10      2.00      0.00     28.70
//! Average:        all     61.20      0.00      8.10      2.00      0.00     28.70
//! ```
//!
//! Each table begins with a line of column names and the time of the record before its first row. Only the
//! first line of the report has a date; if a table's time goes back by more than half a day, the next day has
//! started. A file may contain several reports.

use chrono::{Days, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta};

use super::recorder::Recorder;
use super::sysstat::{Kind, Table};
use super::{Options, UtcOffset, clock};
use elephant_parse::{Position, Problems};

/// Whether a line is the first of a report: `Linux 5.10.0 (node1) 11/21/2026 …`.
pub(super) fn tells_format(line: &str) -> bool {
    heading(line).is_some()
}

/// The host and the date after it, as text.
fn heading(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.strip_prefix("Linux ")?.split_once(" (")?;
    let (host, rest) = rest.split_once(')')?;
    Some((host, rest.split_whitespace().next()?))
}

/// The report being read.
struct Report<'a> {
    host: &'a str,
    date: NaiveDate,
    table: Table,
    clocks: Vec<(Kind, Clock)>,
}

/// The latest time of one kind of table. All tables of a report start on its date.
#[derive(Clone, Copy)]
struct Clock {
    /// The time of the latest row, or of the header before the first row.
    now: NaiveDateTime,
    /// The time of the latest row or header before `now`.
    before: Option<NaiveDateTime>,
}

pub(super) fn read(text: &str, options: Options, recorder: &mut Recorder, problems: &mut Problems) {
    let mut report: Option<Report<'_>> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let position = Some(Position::Line(number));
        let line = line.trim();
        if let Some((host, date)) = heading(line) {
            report = clock::date(date).map(|date| Report::new(host, date));
            if report.is_none() {
                problems.warn("node-metrics-date", position, || {
                    format!(
                        "the date `{date}` of sar's report cannot be read, so the report was skipped; \
                         run sar with LC_ALL=C or S_TIME_FORMAT=ISO"
                    )
                });
            }
            continue;
        }
        let Some(report) = &mut report else { continue };
        let fields: Vec<&str> = line.split_whitespace().collect();
        if report.line(&fields, options.utc_offset, recorder).is_none() {
            problems.warn("node-metrics-line", position, || {
                "the line does not match the sar table above it; it was skipped".to_owned()
            });
        }
    }
}

impl<'a> Report<'a> {
    fn new(host: &'a str, date: NaiveDate) -> Self {
        Self { host, date, table: Table::of(&[]), clocks: Vec::new() }
    }

    /// Reads a line; `None` if it cannot be read.
    fn line(&mut self, fields: &[&str], offset: UtcOffset, recorder: &mut Recorder) -> Option<()> {
        let Some((&first, rest)) = fields.split_first() else { return Some(()) };
        // "Average:", in any language.
        if first.ends_with(':') {
            return Some(());
        }
        let (time, rest) = match rest.split_first() {
            Some((&half @ ("AM" | "PM"), rest)) => (clock::time_of_half(first, half)?, rest),
            _ => (clock::time(first)?, rest),
        };
        // Column names, or a restart message, after which the names are repeated.
        if rest.iter().all(|field| field.replace(',', ".").parse::<f64>().is_err()) {
            self.table = Table::of(rest);
            self.tick(time);
            return Some(());
        }
        if self.table.kind == Kind::Other {
            return Some(());
        }
        let reading = self.table.read(rest).ok()?;
        let clock = self.tick(time)?;
        let length = clock.before.map(|before| (clock.now - before).num_milliseconds());
        match reading {
            Some(reading) => {
                let end = offset.epoch_ms(clock.now);
                recorder.record(self.host, end, length, reading).then_some(())
            }
            None => Some(()),
        }
    }

    /// Updates the clock of the current table; `None` beyond the calendar.
    fn tick(&mut self, time: NaiveTime) -> Option<Clock> {
        let kind = self.table.kind;
        let Some((_, clock)) = self.clocks.iter_mut().find(|(known, _)| *known == kind) else {
            let clock = Clock { now: self.date.and_time(time), before: None };
            self.clocks.push((kind, clock));
            return Some(clock);
        };
        let mut now = clock.now.date().and_time(time);
        if now < clock.now - TimeDelta::hours(12) {
            now = now.checked_add_days(Days::new(1))?;
        }
        if now != clock.now {
            // If the clock was set back, the interval length is unknown.
            *clock = Clock { now, before: Some(clock.now).filter(|before| *before < now) };
        }
        Some(*clock)
    }
}
