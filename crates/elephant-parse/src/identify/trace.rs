//! Recognises the tables of cluster traces. They have no header, so the number of columns and the form of the values
//! in the first lines decide.

use elephant_input::kind::{Reason, SourceKind};
use elephant_input::trace_table::{TraceFormat, TraceTable};

/// Lines that are looked at.
const LINES: usize = 8;

/// More columns than any table has.
const MOST_COLUMNS: usize = 16;

/// The kind of a file with these first bytes, if it is a table. `insisted` is the trace that the user named: a table
/// that looks like another trace is unrelated.
pub(super) fn kind(head: &[u8], complete: bool, insisted: Option<TraceFormat>) -> Option<SourceKind> {
    let by_form = table(head, complete, None);
    let excluded = by_form.map(TraceTable::format).filter(|&format| Some(format) != insisted);
    match (insisted, excluded) {
        (Some(_), Some(other)) => Some(SourceKind::Unrelated(Reason::OtherTrace(other))),
        (Some(_), None) => table(head, complete, insisted).map(SourceKind::Trace),
        (None, _) => by_form.map(SourceKind::Trace),
    }
}

/// The table that these first bytes are from. One of the first lines may be damaged, so half of them must fit. With
/// `insisted`, only tables of that trace are considered, and the number of columns is enough.
fn table(head: &[u8], complete: bool, insisted: Option<TraceFormat>) -> Option<TraceTable> {
    let mut lines: Vec<&[u8]> = head.split(|&byte| byte == b'\n').take(LINES + 1).collect();
    // The last line may go on after the bytes in sight; a file of one line is that line.
    if lines.len() > 1 && (!complete || lines.len() > LINES || lines.last().is_some_and(|it| it.is_empty())) {
        lines.pop();
    }
    let rows: Vec<Vec<&[u8]>> = lines.iter().map(|line| columns(line)).collect();
    let fitting = |table: TraceTable| {
        let fits = |row: &&Vec<&[u8]>| {
            row.len() == table.columns() && (insisted.is_some() || has_form(table, row) == Some(true))
        };
        rows.iter().filter(fits).count()
    };
    let wanted = |table: &TraceTable| insisted.is_none_or(|format| table.format() == format);
    let fits = |table: &TraceTable| {
        let count = fitting(*table);
        count > 0 && 2 * count >= rows.len()
    };
    // Two tables of a trace have nine columns.
    let by_form =
        |table: &TraceTable| insisted.is_none() || rows.iter().any(|row| has_form(*table, row) == Some(true));
    let candidates = || TraceTable::ALL.into_iter().filter(wanted).filter(fits);
    candidates().find(by_form).or_else(|| candidates().next())
}

fn columns(line: &[u8]) -> Vec<&[u8]> {
    line.strip_suffix(b"\r").unwrap_or(line).split(|&byte| byte == b',').take(MOST_COLUMNS).collect()
}

/// Whether the values of a row have the form of this table's values; `None` if there are too few columns.
fn has_form(table: TraceTable, row: &[&[u8]]) -> Option<bool> {
    if row.len() != table.columns() {
        return None;
    }
    // Columns are counted from 1, as in the descriptions of the traces.
    let column = |number: usize| row.get(number - 1).copied();
    let is = |test: fn(&[u8]) -> bool, number: usize| column(number).map(test);
    Some(match table {
        TraceTable::GoogleJobs => {
            is(whole, 1)? && is(whole, 3)? && is(event, 4)? && !is(number, 5)? && !is(status, 6)?
        }
        TraceTable::GoogleMachines => {
            is(whole, 1)?
                && is(whole, 2)?
                && matches!(column(3)?, b"0" | b"1" | b"2")
                && is(share, 5)?
                && is(share, 6)?
        }
        TraceTable::GoogleTasks => {
            let ids = is(whole, 1)? && is(whole, 3)? && is(whole, 4)? && is(event, 6)?;
            // Users are hashes, and there are four scheduling classes.
            ids && !is(number, 7)? && matches!(column(8)?, [b'0'..=b'3']) && is(whole, 9)?
        }
        TraceTable::Alibaba2017Tasks => is(whole, 1)? && is(whole, 2)? && is(status, 6)?,
        TraceTable::Alibaba2017Instances => {
            is(second, 1)? && is(second, 2)? && is(status, 6)? && is(whole_or_none, 7)?
        }
        TraceTable::Alibaba2018Tasks => is(status, 5)? && is(whole, 6)? && is(second, 7)?,
        TraceTable::Alibaba2018Machines => is(machine, 1)? && is(whole, 2)? && !is(number, 7)?,
        TraceTable::Alibaba2018Usage => is(machine, 1)? && is(number, 2)? && !is(status, 5)?,
        TraceTable::Alibaba2018Instances => is(status, 5)? && is(second, 6)? && is(second, 7)?,
    })
}

fn whole(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

fn whole_or_none(text: &[u8]) -> bool {
    text.is_empty() || whole(text)
}

/// Seconds may be missing, or negative: before the trace.
fn second(text: &[u8]) -> bool {
    text.is_empty() || number(text)
}

fn number(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.parse::<f64>().is_ok_and(f64::is_finite))
}

/// A share of the largest machine, or nothing.
fn share(text: &[u8]) -> bool {
    let share = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
    text.is_empty() || share.is_some_and(|share| (0.0..=1.0).contains(&share))
}

/// An event of Google's trace: 0 to 8.
fn event(text: &[u8]) -> bool {
    matches!(text, [b'0'..=b'8'])
}

/// A state of a task or an instance of Alibaba's traces.
fn status(text: &[u8]) -> bool {
    [&b"Ready"[..], b"Waiting", b"Running", b"Terminated", b"Failed", b"Cancelled", b"Interrupted", b"Others"]
        .contains(&text)
}

/// `m_2637`.
fn machine(text: &[u8]) -> bool {
    text.strip_prefix(b"m_").is_some_and(whole)
}
