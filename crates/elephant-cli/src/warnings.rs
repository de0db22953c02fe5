//! Problems with inputs, on standard error.

use std::collections::BTreeMap;

use super::output;
use elephant_engine::engine::DUPLICATE;
use elephant_engine::results::SourceProblem;
use elephant_parse::Level;

/// Copies, and warnings of one kind, that are named.
const NAMED: usize = 3;

/// Prints a line for each error, for the first warnings of each kind, and for the first copies of histories. The others are
/// counted, unless `--details` is given; `None` for a command without that option.
pub(super) fn print(problems: &[SourceProblem], details: Option<bool>) {
    copies(problems);
    if details == Some(true) {
        return print_all(problems, Level::Warning);
    }
    let mut kinds: BTreeMap<&str, Vec<&SourceProblem>> = BTreeMap::new();
    for entry in problems.iter().filter(|entry| entry.problem.level == Level::Warning) {
        kinds.entry(&entry.problem.code).or_default().push(entry);
    }
    let mut named: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in problems.iter().filter(|entry| entry.problem.level >= Level::Warning) {
        let Some(alike) = kinds.get(&*entry.problem.code).filter(|_| entry.problem.level == Level::Warning)
        else {
            line(entry);
            continue;
        };
        let place = named.entry(&entry.problem.code).or_default();
        *place += 1;
        match *place {
            // A single further one takes as much room as its count.
            place if place <= NAMED || alike.len() == NAMED + 1 => line(entry),
            place if place == NAMED + 1 => {
                let more = alike.len().saturating_sub(NAMED);
                let hint = if details.is_some() { " (--details names them)" } else { "" };
                let message = format!("{more} more such warnings: {}{hint}", entry.problem.message);
                output::print_message(Level::Warning.name(), &message);
            }
            _ => {}
        }
    }
}

/// Prints a line for each problem of `least` or worse.
pub(super) fn print_all(problems: &[SourceProblem], least: Level) {
    problems.iter().filter(|entry| entry.problem.level >= least).for_each(line);
}

fn copies(problems: &[SourceProblem]) {
    let copies = || problems.iter().filter(|entry| entry.problem.code == DUPLICATE);
    for copy in copies().take(NAMED) {
        output::print_note(&format!("{}: {}", copy.source, copy.problem.message));
    }
    match copies().count().saturating_sub(NAMED) {
        0 => {}
        1 => output::print_note("1 more copy of a history is counted once"),
        more => output::print_note(&format!("{more} more copies of histories are counted once")),
    }
}

fn line(entry: &SourceProblem) {
    let problem = &entry.problem;
    let place = problem.position.map(|at| format!(", {at}")).unwrap_or_default();
    let times = if problem.count > 1 { format!(" ({} times)", problem.count) } else { String::new() };
    let source = if place.is_empty() && names(&problem.message, &entry.source) {
        String::new()
    } else {
        format!("{}{place}: ", entry.source)
    };
    output::print_message(problem.level.name(), &format!("{source}{}{times}", problem.message));
}

/// Whether a message begins with its file: "cannot read a.log: …".
fn names(message: &str, source: &str) -> bool {
    ["", "cannot read ", "cannot read the archive ", "cannot decompress "].iter().any(|words| {
        let rest = message.strip_prefix(words).and_then(|rest| rest.strip_prefix(source));
        rest.is_some_and(|rest| rest.starts_with([':', ' ']))
    })
}
