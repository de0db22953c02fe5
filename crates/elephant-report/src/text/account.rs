//! Where the run time went, largest part first.

use std::io::{self, Write};

use super::application::hanging;
use super::{INDENT, TextOptions};
use crate::words::whole_percent as percent;
use crate::wrap::{clean, fit, width};
use elephant_engine::results::{Account, Part};

/// Columns of a time.
const TIME: usize = 8;
/// Columns before the name of a part: the indent, the share, the time, and blanks between them.
const NAME: usize = INDENT + 2 + 5 + 2 + TIME + 2;

pub(super) fn write(
    account: &Account,
    has_end: bool,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let total = account.total;
    let heading = if has_end {
        format!("Where {total} went")
    } else {
        format!("Where {total} went, up to the end of the log")
    };
    hanging(&heading, options.columns, out)?;
    account.parts.iter().try_for_each(|part| row(part, options, out))
}

/// "  53 %  22m 44s  query 3: scan of events (stage 0.0)   544 tasks share 200 slots".
fn row(part: &Part, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let room = options.columns.saturating_sub(NAME);
    let name = named(part, room);
    let note = part.note().map(|note| clean(&note));
    let indent = INDENT + 2;
    write!(out, "{:indent$}{:>3} %  {:>TIME$}  {name}", "", percent(part.share), part.time.to_string())?;
    match note {
        Some(note) if width(&name) + width(&note) + 2 <= room => writeln!(out, "  {note}"),
        Some(note) => writeln!(out, "\n{:NAME$}{}", "", fit(&note, room)),
        None => writeln!(out),
    }
}

/// "query 3: scan of events (stage 0.0)", with the stage in full.
fn named(part: &Part, room: usize) -> String {
    let name = clean(&part.name());
    match part.stages() {
        None => fit(&name, room),
        Some(stages) => {
            let stages = format!(" ({stages})");
            fit(&name, room.saturating_sub(width(&stages))) + &stages
        }
    }
}
