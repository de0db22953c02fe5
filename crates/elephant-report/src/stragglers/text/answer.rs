//! The answer: how many stragglers, how long applications waited for them, and why.

use std::io::{self, Write};

use super::{Page, counted};
use crate::stragglers::{sentences, words};
use crate::wrap::lines;
use elephant_base::units::Millis;
use elephant_engine::survey::{Total, Waiting};

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
        let definition = sentences::definition(&self.report.settings);
        let text = format!("{stragglers} of {} {verb} ({definition}){inside}.", counted(tasks, "task"));
        self.paragraph(&text, 0, out)?;
        if total.waiting.is_empty() {
            if stragglers > 0 {
                self.paragraph(sentences::NO_WAIT, 0, out)?;
            }
            return self.causes_and_nodes(out);
        }
        let delay = Waiting::total(&total.waiting);
        let who = if all == 1 {
            "The application".to_owned()
        } else {
            counted(total.applications_waiting, "application")
        };
        self.paragraph(&format!("{who} waited {delay} only for stragglers:"), 0, out)?;
        let mut waiting = total.waiting.iter().take(CAUSES);
        waiting.try_for_each(|waiting| self.waited(waiting, delay, out))?;
        let others = total.waiting.get(CAUSES..).unwrap_or_default();
        if !others.is_empty() {
            let part = Waiting::total(others);
            let share = part.as_f64() / delay.as_f64();
            delayed(part, share, &counted(others.len() as u64, "other cause"), self.columns, out)?;
        }
        self.causes_and_nodes(out)
    }

    /// The causes of all stragglers, waited for or not, and the nodes that are slow over all applications.
    fn causes_and_nodes(&self, out: &mut dyn Write) -> io::Result<()> {
        let both = [sentences::all_causes(&self.report.total), sentences::slow_nodes(self.report)];
        both.iter().flatten().try_for_each(|text| self.paragraph(text, 0, out))?;
        writeln!(out)
    }

    /// "    12 min   76 %  data skew: 3 applications".
    fn waited(&self, waiting: &Waiting, total: Millis, out: &mut dyn Write) -> io::Result<()> {
        let cause = words::cause(waiting.cause, waiting.confidence);
        let inside = match self.report.total.applications {
            1 => String::new(),
            _ => format!(": {}", counted(waiting.applications, "application")),
        };
        let share = waiting.delay.as_f64() / total.as_f64();
        delayed(waiting.delay, share, &format!("{cause}{inside}"), self.columns, out)
    }
}

/// A time, its share of all, and next to it a text of one or more lines.
fn delayed(delay: Millis, share: f64, text: &str, columns: usize, out: &mut dyn Write) -> io::Result<()> {
    const INDENT: usize = 20;
    for (place, line) in lines(text, columns.saturating_sub(INDENT)).iter().enumerate() {
        let first = place == 0;
        let delay = if first { delay.to_string() } else { String::new() };
        let share = if first { format!("{:.0} %", 100.0 * share) } else { String::new() };
        writeln!(out, "  {delay:>9}  {share:>5}  {line}")?;
    }
    Ok(())
}
