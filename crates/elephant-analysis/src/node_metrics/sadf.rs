//! Output of `sadf -d -- -u -d -n TCP,ETCP` (sadf(1)).
//!
//! ```text
//! # hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle
//! node1;600;2026-11-21 10:10:01 UTC;-1;61.20;0.00;8.10;2.00;0.00;28.70
//! ```
//!
//! Times are in UTC and marked so; with `-t` or `-T` they are local, with `-U` seconds since the epoch. The
//! interval is in seconds.

use chrono::NaiveDateTime;

use super::Options;
use super::recorder::Recorder;
use super::sysstat::{Damaged, Kind, Table};
use elephant_parse::{Position, Problems};

const HEADER: &str = "# hostname;interval;timestamp";

/// Whether a line is a header of this format.
pub(super) fn tells_format(line: &str) -> bool {
    line.starts_with(HEADER)
}

pub(super) fn read(text: &str, options: Options, recorder: &mut Recorder, problems: &mut Problems) {
    let mut table = Table::of(&[]);
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        let fields: Vec<&str> = line.split(';').collect();
        if line.starts_with(HEADER) {
            table = Table::of(fields.get(3..).unwrap_or_default());
            continue;
        }
        if line.is_empty() || line.starts_with('#') || table.kind == Kind::Other {
            continue;
        }
        if record(&fields, &table, options, recorder).is_err() {
            problems.warn("node-metrics-line", Some(Position::Line(number)), || {
                "the line is not a record of sadf -d with the header's columns; it was skipped".to_owned()
            });
        }
    }
}

fn record(fields: &[&str], table: &Table, options: Options, recorder: &mut Recorder) -> Result<(), Damaged> {
    let [host, interval, time, values @ ..] = fields else { return Err(Damaged) };
    // Restart and comment records have the interval −1 and a text instead of values.
    if *interval == "-1" && values.len() < 2 {
        return Ok(());
    }
    let seconds: i64 = interval.parse().map_err(|_| Damaged)?;
    let end = epoch_ms(time, options).ok_or(Damaged)?;
    let Some(reading) = table.read(values)? else { return Ok(()) };
    let length = Some(seconds.saturating_mul(1000));
    if recorder.record(host, end, length, reading) { Ok(()) } else { Err(Damaged) }
}

fn epoch_ms(text: &str, options: Options) -> Option<i64> {
    if let Ok(seconds) = text.parse::<i64>() {
        return seconds.checked_mul(1000);
    }
    // Newer versions add the name of the local time zone, which does not give its offset.
    let (date_time, zone) = match text.match_indices(' ').nth(1) {
        Some((at, _)) => text.split_at_checked(at)?,
        None => (text, ""),
    };
    let local = NaiveDateTime::parse_from_str(date_time, "%Y-%m-%d %H:%M:%S").ok()?;
    let offset = if zone.trim() == "UTC" { super::UtcOffset::default() } else { options.utc_offset };
    Some(offset.epoch_ms(local))
}
