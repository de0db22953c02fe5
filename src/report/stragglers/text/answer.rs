//! The answer: how many stragglers, how long applications waited for them, and why.

use std::io::{self, Write};

use super::{Page, counted};
use crate::report::stragglers::words;
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
        let delay: Millis = total.waiting.iter().map(|waiting| waiting.delay).sum();
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
        let waited: u64 = total.waiting.iter().map(|waiting| waiting.applications).sum();
        let who = if all == 1 { "It".to_owned() } else { counted(waited, "application") };
        self.paragraph(&format!("{who} waited {delay} only for stragglers, mainly because of"), 0, out)?;
        total.waiting.iter().take(CAUSES).try_for_each(|waiting| line(waiting, all, out))?;
        if let Some(more) = total.waiting.len().checked_sub(CAUSES).filter(|&more| more > 0) {
            let delay: Millis = total.waiting.iter().skip(CAUSES).map(|waiting| waiting.delay).sum();
            let delay = delay.to_string();
            writeln!(out, "  {delay:>9}  {}", counted(more as u64, "other cause"))?;
        }
        writeln!(out)
    }
}

fn line(waiting: &Waiting, all: u64, out: &mut dyn Write) -> io::Result<()> {
    let cause = words::cause(waiting.cause, waiting.confidence);
    let inside =
        if all == 1 { String::new() } else { format!(": {}", counted(waiting.applications, "application")) };
    let delay = waiting.delay.to_string();
    writeln!(out, "  {delay:>9}  {cause}{inside}")
}
