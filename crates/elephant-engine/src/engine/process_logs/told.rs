//! What is told of logs that no application's report tells.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::results::SourceProblem;
use elephant_base::address::Address;
use elephant_container_log::{Chain, Digest};
use elephant_input::error::InputError;
use elephant_parse::{Level, Position, Problem};

/// Kinds that are named.
const KINDS: usize = 5;

/// A log that could not be opened.
pub(super) fn unreadable(path: &Path, error: &InputError) -> SourceProblem {
    problem(&Address::of(path).to_string(), Level::Warning, error.code(), error.to_string(), 1, None)
}

/// The chains of a log of whose application no history was read.
pub(super) fn without_history(path: &str, applications: &BTreeSet<String>, digest: &Digest) -> SourceProblem {
    let of = match applications.first() {
        Some(id) if applications.len() == 1 => format!("log of {id}, whose history was not read"),
        Some(_) => format!("log of {} applications, whose histories were not read", applications.len()),
        None => "log without a history: it names no application".to_owned(),
    };
    let (level, message) = match chains(digest) {
        chains if chains.is_empty() => (Level::Info, format!("{of}; it tells no failure")),
        chains => (Level::Warning, format!("{of}; it tells {chains}")),
    };
    let first = digest.chains.iter().find(|chain| chain.kind.is_some());
    problem(path, level, "log-without-history", message, 1, first.map(|chain| chain.line))
}

/// What limits or damage left out of a log.
pub(super) fn left_out(path: &str, digest: &Digest) -> Option<SourceProblem> {
    let mut parts = digest.skipped.words();
    if digest.is_damaged {
        parts.push(format!("reading ended with an error after line {}", digest.lines));
    }
    for section in &digest.sections {
        if let Some((shown, total)) = section.cut {
            parts.push(format!(
                "it has only {shown} of {total} bytes of {}",
                section.log_type.as_deref().unwrap_or("a log")
            ));
            break;
        }
    }
    let message = parts.join("; ");
    (!message.is_empty()).then(|| problem(path, Level::Warning, "log-incomplete", message, 1, None))
}

/// "3 × heap-space (java.lang.OutOfMemoryError at com.acme.Job.run (Job.java:1)), 1 × network (…)", the most frequent first;
/// kinds that only repeat others' failures come last.
fn chains(digest: &Digest) -> String {
    let mut kinds: BTreeMap<(bool, &str), (u64, &Chain)> = BTreeMap::new();
    for chain in &digest.chains {
        let name = chain.kind.as_ref().map_or("other errors", |kind| kind.name.as_str());
        let (count, _) = kinds.entry((chain.is_echo(), name)).or_insert((0, chain));
        *count += chain.count;
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|((is_echo, name), (count, _))| (*is_echo, std::cmp::Reverse(*count), *name));
    let told = kinds.iter().take(KINDS).map(|((_, name), (count, chain))| {
        let class = chain.innermost();
        let frame = chain.own.as_ref().map(ToString::to_string);
        let details = match (class, frame) {
            (Some(class), Some(frame)) => format!(" ({class} at {frame})"),
            (Some(class), None) => format!(" ({class})"),
            (None, Some(frame)) => format!(" (at {frame})"),
            (None, None) => String::new(),
        };
        format!("{count} × {name}{details}")
    });
    let told = told.collect::<Vec<_>>().join(", ");
    match kinds.len().saturating_sub(KINDS) {
        0 => told,
        more => format!("{told} and {more} more kinds"),
    }
}

fn problem(
    path: &str,
    level: Level,
    code: &'static str,
    message: String,
    count: u64,
    line: Option<u64>,
) -> SourceProblem {
    let problem = Problem { level, code: code.into(), position: line.map(Position::Line), message, count };
    SourceProblem { source: path.to_owned(), problem }
}
