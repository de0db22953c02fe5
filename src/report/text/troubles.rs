//! Troubles as text: what is wrong, what to change, and which rules tell of it.

use std::io::{self, Write};

use super::{RULE_COLUMN, TextOptions, advice_lines};
use crate::report::words::{saves, told_by};
use crate::report::wrap::{clean, lines};
use crate::troubles::{Recommended, Trouble};

/// The most lines of advice without details.
const ADVICE: usize = 3;

pub(super) fn write(
    trouble: &Trouble,
    currency: Option<&str>,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let TextOptions { columns, details, .. } = options;
    let style = options.style(trouble.severity);
    let severity = trouble.severity.name().to_uppercase();
    let indent = " ".repeat(RULE_COLUMN);
    let room = columns.saturating_sub(RULE_COLUMN).max(20);
    let text = format!("{}: {}", trouble.kind.words(), clean(&trouble.cause));
    for (index, line) in lines(&text, room).iter().enumerate() {
        if index == 0 {
            writeln!(out, "  {style}{severity:<8}{style:#}  {line}")?;
        } else {
            writeln!(out, "{indent}{line}")?;
        }
    }
    let most = if details { usize::MAX } else { ADVICE };
    for advice in trouble.advice.iter().take(most) {
        advice_lines(&advice.text, columns, out)?;
    }
    let ending = format!("{} · {}", saves(&trouble.savings, currency), told_by(trouble));
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
    writeln!(out, "\n  Recommended configuration:")?;
    for Recommended { change, .. } in recommended {
        let now = change.from.as_deref().map(|from| format!("  (now {})", clean(from))).unwrap_or_default();
        writeln!(out, "    {}{now}", clean(&change.argument()))?;
    }
    Ok(())
}
