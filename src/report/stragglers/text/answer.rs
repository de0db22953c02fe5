//! The answer: how many stragglers, how long applications waited for them, and why.

use std::io::{self, Write};

use super::{Page, counted};
use crate::report::stragglers::words;
use crate::report::wrap::lines;
use crate::survey::{Total, Waiting};
use crate::units::Millis;

/// Causes that are listed.
const CAUSES: usize = 5;

impl Page<'_> {
    pub(super) fn answer(&self, out: &mut dyn Write) -> io::Result<()> {
        let total = &self.report.total;
        let Total { tasks, stragglers, applications: all, applications_hit: with, .. } = *total;
        if tasks == 0 {
            let text = "No task can be judged: no group has enough successful tasks with known times.";
            return self.paragraph(text, 0, out);
        }
        let verb = if stragglers == 1 { "was a straggler" } else { "were stragglers" };
        let inside = if all == 1 { String::new() } else { format!(", in {with} of {all} applications") };
        let text = format!("{stragglers} of {} {verb}{inside}.", counted(tasks, "task"));
        self.paragraph(&text, 0, out)?;
        if total.waiting.is_empty() {
            if stragglers > 0 {
                self.paragraph(
                    "No application waited only for stragglers: other tasks ended later.",
                    0,
                    out,
                )?;
            }
            return writeln!(out);
        }
        let (waited, delay) = Waiting::total(&total.waiting);
        let who = if all == 1 { "It".to_owned() } else { counted(waited, "application") };
        self.paragraph(&format!("{who} waited {delay} only for stragglers, mainly because of"), 0, out)?;
        total.waiting.iter().take(CAUSES).try_for_each(|waiting| line(waiting, all, self.columns, out))?;
        let others = total.waiting.get(CAUSES..).unwrap_or_default();
        if !others.is_empty() {
            let (_, delay) = Waiting::total(others);
            delayed(delay, &counted(others.len() as u64, "other cause"), self.columns, out)?;
        }
        writeln!(out)
    }
}

/// "    12 min  data skew: 3 applications".
fn line(waiting: &Waiting, all: u64, columns: usize, out: &mut dyn Write) -> io::Result<()> {
    let cause = words::cause(waiting.cause, waiting.confidence);
    let inside =
        if all == 1 { String::new() } else { format!(": {}", counted(waiting.applications, "application")) };
    delayed(waiting.delay, &format!("{cause}{inside}"), columns, out)
}

/// A time, and beside it a text of one or more lines.
fn delayed(delay: Millis, text: &str, columns: usize, out: &mut dyn Write) -> io::Result<()> {
    const INDENT: usize = 13;
    for (place, line) in lines(text, columns.saturating_sub(INDENT)).iter().enumerate() {
        let delay = if place == 0 { delay.to_string() } else { String::new() };
        writeln!(out, "  {delay:>9}  {line}")?;
    }
    Ok(())
}
