//! Lines for people at a terminal.

use std::io::{self, Write};

use super::super::ascii::in_charset;
use super::super::wrap::{clean, lines};
use super::super::{TextOptions, words::plural};
use super::{Silent, group};
use elephant_analysis::stragglers::detect::{Compared, Needs};
use elephant_base::units::{Millis, Timestamp};
use elephant_engine::watch::{Flag, Identity, Status, Told};

/// The indent of lines after the first.
const INDENT: &str = "    ";

/// Which detectors watch, and which cannot.
pub fn begin(
    active: &[&'static str],
    silent: &Silent,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let names = |ids: &mut dyn Iterator<Item = &'static str>| ids.collect::<Vec<_>>().join(", ");
    paragraph(&format!("Detectors that watch: {}", active.join(", ")), options, out)?;
    let needing = |needs| names(&mut silent.iter().filter(|(_, other)| *other == needs).map(|(id, _)| *id));
    let others = Needs::ALL.map(|needs| (needs.name(), needing(needs)));
    let others = others.into_iter().filter(|(_, ids)| !ids.is_empty());
    let others: Vec<String> = others.map(|(needs, ids)| format!("{needs} ({ids})")).collect();
    if others.is_empty() {
        return Ok(());
    }
    let text = format!(
        "The others are silent, because they need data on running tasks that is not available: {}.",
        others.join("; ")
    );
    paragraph(&text, options, out)
}

/// One line, wrapped.
pub fn write(told: &Told, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let text = match told {
        Told::Application { identity, source } => {
            let started = identity
                .started_at
                .and_then(Timestamp::to_second)
                .map(|at| format!("{at} "))
                .unwrap_or_default();
            format!("{started}watching {}: {}", name(identity), source)
        }
        Told::End { identity, at, .. } => {
            let at = at.and_then(Timestamp::to_second).map(|at| format!("{at} ")).unwrap_or_default();
            format!("{at}{} has ended", name(identity))
        }
        // Warnings go to standard error.
        Told::Problem { .. } => return Ok(()),
        Told::Flag(told) => flag(told),
    };
    paragraph(&text, options, out)
}

fn flag(flag: &Flag) -> String {
    let (flagged, launch) = (&flag.flagged, &flag.flagged.launch);
    let detector = flag.detector;
    let at = flagged.at.to_second().unwrap_or_default();
    let on = launch.host.as_ref().map(|host| format!(" on {host}")).unwrap_or_default();
    let attempt = launch.attempt.filter(|attempt| *attempt > 0);
    let attempt = attempt.map(|attempt| format!(" (attempt {attempt})")).unwrap_or_default();
    let task = format!("task {} of {}{attempt}{on}", launch.task, group(flag.group));
    let application = name(&flag.application);
    if let Some(end) = flag.had_ended {
        let end = end.to_second().unwrap_or_default();
        return format!("{at} {application}: withdrawn by {detector}: {task} had ended at {end}");
    }
    let usual = flagged.median.map(|median| format!(", median {}", median.precise())).unwrap_or_default();
    let limit = flagged.compared.and_then(limit).unwrap_or_default();
    let group = flag.group_name.as_ref().map(|name| format!(" [{name}]")).unwrap_or_default();
    format!(
        "{at} {application}: {task} has run {}{usual}{limit} ({detector}){group}",
        flagged.elapsed.precise()
    )
}

/// ", limit 3.1 s", or what was compared, too, if it is not the run time.
fn limit(Compared { measure, value, limit }: Compared) -> Option<String> {
    let time = |ms: f64| Millis::from_f64(ms).map(Millis::precise);
    Some(match measure {
        Compared::ELAPSED => format!(", limit {}", time(limit)?),
        Compared::TIME_LEFT => format!(", {} left, limit {}", time(value)?, time(limit)?),
        Compared::PROGRESS => format!(", progress {:.1}%, limit {:.1}%", 100.0 * value, 100.0 * limit),
        _ => format!(", progress {:.3}% a second, limit {:.3}%", 100.0 * value, 100.0 * limit),
    })
}

/// "3 applications, 1,204 running tasks, 5 flagged".
#[must_use]
pub fn status(status: Status) -> String {
    let applications = plural(status.applications as u64, "application");
    let tasks = plural(status.tasks as u64, "running task");
    format!("{applications}, {tasks}, {} flagged", status.flagged)
}

fn name(identity: &Identity) -> String {
    match (&identity.id, &identity.name) {
        (Some(id), Some(name)) => format!("{id} ({name})"),
        (Some(one), None) | (None, Some(one)) => one.clone(),
        (None, None) => "an application without an id".to_owned(),
    }
}

fn paragraph(text: &str, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let columns = options.usable().columns;
    in_charset(options, out, |out| {
        let whole = clean(text);
        let mut first = true;
        for line in lines(&whole, columns.saturating_sub(INDENT.len())) {
            writeln!(out, "{}{line}", if std::mem::take(&mut first) { "" } else { INDENT })?;
        }
        Ok(())
    })
}
