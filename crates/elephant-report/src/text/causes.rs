//! The kinds of trouble over all applications, those first whose remedies save most.

use std::io::{self, Write};

use super::TextOptions;
use crate::totals::saved_of_cause;
use crate::words::plural;
use crate::wrap::{clean, fit, width};
use elephant_engine::results::{CauseTotal, Report};

/// The kinds that are listed without details.
const MOST: usize = 8;
/// With fewer columns, the places are left out.
const LEAST_ROOM: usize = 16;

pub(super) fn write(report: &Report, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let causes = &report.totals.causes;
    if causes.is_empty() {
        return Ok(());
    }
    let currency = report.currency.as_deref();
    let most = if options.details { causes.len() } else { MOST };
    let listed = || causes.iter().take(most);
    let saved: Vec<String> = listed().map(|cause| saved_of_cause(&cause.savings, currency)).collect();
    let savings = saved.iter().map(|saved| width(saved)).max().unwrap_or_default().max(width("saves"));
    let names = listed().map(|cause| width(cause.kind.words())).max().unwrap_or_default();
    let names = names.min(options.columns.saturating_sub(savings + 4));
    let room = options.columns.saturating_sub(names + savings + 6);
    let heading = if room < LEAST_ROOM { "" } else { "  where" };
    let heading = format!("{:width$}  {:savings$}{heading}", "Causes", "saves", width = names + 2);
    writeln!(out, "{}", heading.trim_end())?;
    for (cause, saved) in listed().zip(&saved) {
        let start = format!("  {:names$}  {saved:savings$}", fit(cause.kind.words(), names));
        if room < LEAST_ROOM {
            writeln!(out, "{}", start.trim_end())?;
        } else {
            writeln!(out, "{start}  {}", place(cause, room, currency))?;
        }
    }
    if let Some(more) = causes.len().checked_sub(most).filter(|more| *more > 0) {
        writeln!(out, "  {} (--details)", plural(more as u64, "more kind"))?;
    }
    writeln!(out)
}

/// "9 applications, 7 jobs; alice 42 GB·h", without the user if there is no room.
fn place(cause: &CauseTotal, room: usize, currency: Option<&str>) -> String {
    let CauseTotal { applications, jobs, most, .. } = cause;
    let jobs = if jobs < applications { format!(", {}", plural(*jobs, "job")) } else { String::new() };
    let all = format!("{}{jobs}", plural(*applications, "application"));
    let of_user = most.as_ref().filter(|most| most.savings != cause.savings);
    let of_user = of_user
        .map(|most| format!("{all}; {} {}", clean(&most.user), saved_of_cause(&most.savings, currency)));
    of_user.filter(|text| width(text) <= room).unwrap_or_else(|| fit(&all, room))
}
