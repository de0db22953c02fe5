//! Joins the logs of garbage collectors to the applications whose processes wrote them, by the ids in their paths.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::Visited;
use super::beside::{Beside, BesideKind, Fate};
use super::source::{SourceOutcome, error_problem};
use crate::engine::read::Extent;
use crate::results::SourceProblem;
use elephant_base::limits::Limits;
use elephant_base::units::{Bytes, Millis};
use elephant_gc_log::{GcLog, Process, parse_parts};
use elephant_input::inventory::{GcLogFile, Inventory, by_bytes};
use elephant_model::model::{Application, ProcessGcLog};
use elephant_parse::{Level, Problem};

/// Logs that were named and belong to no application are told one by one, up to this number.
const TOLD: usize = 20;

/// Reads the logs of an application's processes.
pub(super) fn attach<'a, T>(
    app: &mut Application,
    inventory: &'a Inventory,
    limits: &Limits,
    outcome: &mut SourceOutcome<'a, T>,
) {
    let mut processes: BTreeMap<&Process, BTreeMap<&str, Vec<&'a GcLogFile>>> = BTreeMap::new();
    for file in inventory.gc_logs_for(&app.id) {
        let Some(owner) = &file.owner else { continue };
        processes.entry(owner.process()).or_default().entry(base(&file.path)).or_default().push(file);
    }
    for (process, logs) in processes {
        // A JVM may write the same to its output and to a file: the log that tells most counts.
        let mut best: Option<ProcessGcLog> = None;
        for files in logs.into_values() {
            let Some(source) = files.first().map(|file| file.path.display().to_string()) else { continue };
            match read(&files, limits) {
                Ok(log) => {
                    outcome.confs.extend(files.iter().map(|file| Cow::from(file.part.file())));
                    outcome.problems.extend(damage(&source, &log));
                    if best.as_ref().is_none_or(|best| log.stops.all.count > best.log.stops.all.count) {
                        best = Some(ProcessGcLog { process: process.clone(), log, source });
                    }
                }
                Err(message) => outcome.problems.push(error_problem(source, "unreadable", message)),
            }
        }
        app.gc_logs.extend(best);
    }
}

/// The path of a log without what rotation appends: `gc.log` of `gc.log.0` and `gc.log.3.current`.
fn base(path: &Path) -> &str {
    let mut name = path.to_str().unwrap_or_default();
    while let Some((rest, last)) = name.rsplit_once('.') {
        let is_number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number && last != "current" {
            break;
        }
        name = rest;
    }
    name
}

fn read(files: &[&GcLogFile], limits: &Limits) -> Result<GcLog, String> {
    use std::io::Read;
    let most = limits.decoded.map_or(u64::MAX, Bytes::get);
    let mut parts = Vec::new();
    for file in files {
        let name = file.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        parts.push((name, file.part.open().map_err(|error| error.to_string())?.take(most)));
    }
    parse_parts(parts).map_err(|error| error.to_string())
}

/// Tells lines that were not understood.
fn damage(source: &str, log: &GcLog) -> Option<SourceProblem> {
    let line = log.damage.first_broken?;
    let message = match log.damage.broken {
        1 => format!("line {line} of the GC log was not understood; it is not counted"),
        count => format!(
            "{count} lines of the GC log were not understood, the first is {line}; they are not counted"
        ),
    };
    Some(told(source.to_owned(), Level::Info, "gc-log-lines", message))
}

fn told(source: String, level: Level, code: &'static str, message: String) -> SourceProblem {
    SourceProblem { source, problem: Problem { level, code: code.into(), position: None, message, count: 1 } }
}

/// The logs of an inventory. Those that are not among the `joined` files belong to no application that was read, unless the
/// filter has left it out; those of them that the user named are told with what they hold.
pub(super) fn beside<'i>(
    inventory: &'i Inventory,
    joined: &BTreeSet<PathBuf>,
    extent: Extent<'i>,
) -> impl Iterator<Item = Beside> {
    let mut files: Vec<&GcLogFile> = inventory.gc_logs.iter().collect();
    files.sort_by(|a, b| by_bytes(&a.path, &b.path));
    let (mut left, is_all) = (TOLD, extent.filter.is_everything());
    let fates: Vec<Fate> = files
        .iter()
        .map(|file| {
            if joined.contains(file.part.file()) {
                return Fate::Joined;
            }
            if !is_all {
                return Fate::Passed;
            }
            let is_told = file.named_by_user && left > 0;
            left -= usize::from(is_told);
            Fate::Unmatched(is_told.then(|| unmatched(file, extent.limits)))
        })
        .collect();
    files.into_iter().zip(fates).map(|(file, fate)| Beside {
        path: file.path.clone(),
        kind: BesideKind::Collector,
        applications: file.owner.iter().map(|owner| owner.key().to_owned()).collect(),
        fate,
    })
}

/// Tells what a log holds whose application was not read.
fn unmatched(file: &GcLogFile, limits: &Limits) -> SourceProblem {
    let source = file.path.display().to_string();
    match read(&[file], limits) {
        Ok(log) => {
            let message = format!("{}; {}", why(file), in_words(&log));
            told(source, Level::Warning, "gc-log-unmatched", message)
        }
        Err(message) => error_problem(source, "unreadable", message),
    }
}

/// Counts the logs that belong to no application that was read, and tells the first of those that the user named.
pub(super) fn tell_unmatched<T>(beside: Vec<Beside>, visited: &mut Visited<T>) {
    let unmatched = beside.into_iter().filter_map(|log| match log.fate {
        Fate::Unmatched(told) => Some(told),
        Fate::Joined | Fate::Passed => None,
    });
    let unmatched: Vec<_> = unmatched.collect();
    if !unmatched.is_empty() {
        visited.skipped.push(("GC log of no application that was read", unmatched.len() as u64));
    }
    visited.problems.extend(unmatched.into_iter().flatten().take(TOLD));
}

fn why(file: &GcLogFile) -> String {
    match &file.owner {
        Some(owner) => format!("a GC log of {}, whose application was not read", owner.process().id()),
        None => {
            "a GC log whose path names no container or executor, so it belongs to no application".to_owned()
        }
    }
}

fn in_words(log: &GcLog) -> String {
    let collector = log.collector.map_or("unknown collector", elephant_gc_log::Collector::name);
    let stops = &log.stops;
    let millis = |duration: std::time::Duration| {
        Millis::new(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)).precise()
    };
    if !stops.are_logged {
        return format!("{collector}, {} collections, no stop is logged", log.cycles);
    }
    format!(
        "{collector}, stops: {}, together {}, the longest {}",
        stops.all.count,
        millis(stops.all.total),
        millis(stops.all.longest)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotation_appends_numbers() {
        for (path, expected) in [
            ("a/gc.log", "a/gc.log"),
            ("a/gc.log.0", "a/gc.log"),
            ("a/gc.log.3.current", "a/gc.log"),
            ("container_1_2_3_000004/stdout", "container_1_2_3_000004/stdout"),
            ("a/gc.log.0.gz", "a/gc.log.0.gz"),
        ] {
            assert_eq!(base(Path::new(path)), expected);
        }
    }
}
