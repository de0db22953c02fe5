//! Troubles as text: what is wrong, what to change, and which rules tell of it.

use std::io::{self, Write};

use super::{TEXT_COLUMN, TextOptions};
use crate::report::words::{headline, saves, told_by};
use crate::report::wrap::{clean, fit, lines};
use crate::severity::Severity;
use crate::troubles::{Recommended, Trouble};

/// Columns of a present value. Options of a JVM may be very long.
const PRESENT: usize = 40;
/// The most lines of advice without details.
const ADVICE: usize = 3;
/// Troubles shown in full without details; later ones only if they are at least moderate.
const FULL: usize = 3;

pub(super) fn write(
    trouble: &Trouble,
    place: usize,
    currency: Option<&str>,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let TextOptions { columns, details, .. } = options;
    let style = options.style(trouble.severity);
    let severity = trouble.severity.name().to_uppercase();
    let indent = " ".repeat(TEXT_COLUMN);
    let room = columns.saturating_sub(TEXT_COLUMN).max(20);
    if !details && place >= FULL && trouble.severity < Severity::Moderate {
        let brief = fit(&headline(trouble), room);
        return writeln!(out, "    {style}{severity:<8}{style:#}  {brief}");
    }
    let text = format!("{}: {}", clean(trouble.words()), clean(&trouble.cause));
    for (index, line) in lines(&text, room).iter().enumerate() {
        if index == 0 {
            writeln!(out, "    {style}{severity:<8}{style:#}  {line}")?;
        } else {
            writeln!(out, "{indent}{line}")?;
        }
    }
    let most = if details { usize::MAX } else { ADVICE };
    for advice in trouble.advice.iter().take(most) {
        advice_lines(&advice.text, columns, out)?;
    }
    let page = trouble.failure.as_ref().map(|failure| format!(" · rules show {}", failure.kind.name()));
    let ending =
        format!("{} · {}{}", saves(&trouble.savings, currency), told_by(trouble), page.unwrap_or_default());
    for line in lines(&clean(&ending), room) {
        writeln!(out, "{indent}{line}")?;
    }
    Ok(())
}

/// The recommended configuration as arguments to paste, one a line.
pub(super) fn configuration(recommended: &[Recommended], out: &mut dyn Write) -> io::Result<()> {
    if recommended.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n    Recommended configuration:")?;
    for Recommended { change, .. } in recommended {
        let now = change
            .from
            .as_deref()
            .map(|from| format!("  (now {})", fit(&clean(from), PRESENT)))
            .unwrap_or_default();
        writeln!(out, "      {}{now}", clean(&change.argument()))?;
    }
    Ok(())
}

pub(super) fn advice_lines(advice: &str, columns: usize, out: &mut dyn Write) -> io::Result<()> {
    let indent = " ".repeat(TEXT_COLUMN);
    for (index, line) in
        lines(&clean(advice), columns.saturating_sub(TEXT_COLUMN + 2).max(20)).iter().enumerate()
    {
        writeln!(out, "{indent}{} {line}", if index == 0 { "→" } else { " " })?;
    }
    Ok(())
}
