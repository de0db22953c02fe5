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
    let hint = if details.is_some() { " (--details names them)" } else { "" };
    for shown in shown(problems) {
        match shown {
            Shown::One(entry) => line(entry),
            Shown::More(more, entry) => {
                let message = format!("{more} more such warnings: {}{hint}", entry.problem.message);
                output::print_message(Level::Warning.name(), &message);
            }
        }
    }
}

/// A line about problems.
enum Shown<'a> {
    One(&'a SourceProblem),
    /// The number of further warnings of a kind, and the first of them.
    More(usize, &'a SourceProblem),
}

/// The warnings and errors that are named, and the numbers of the other warnings, in the order of the problems.
fn shown(problems: &[SourceProblem]) -> Vec<Shown<'_>> {
    let is_warning = |entry: &&SourceProblem| entry.problem.level == Level::Warning;
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in problems.iter().filter(is_warning) {
        *kinds.entry(&entry.problem.code).or_default() += 1;
    }
    let mut named: BTreeMap<&str, usize> = BTreeMap::new();
    let mut shown = Vec::new();
    for entry in problems.iter().filter(|entry| entry.problem.level >= Level::Warning) {
        let alike = if is_warning(&entry) { kinds.get(&*entry.problem.code).copied() } else { None };
        // A single further one takes as much room as its count.
        let Some(alike) = alike.filter(|alike| *alike > NAMED + 1) else {
            shown.push(Shown::One(entry));
            continue;
        };
        let place = named.entry(&entry.problem.code).or_default();
        *place += 1;
        if *place <= NAMED {
            shown.push(Shown::One(entry));
        } else if *place == NAMED + 1 {
            shown.push(Shown::More(alike - NAMED, entry));
        }
    }
    shown
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

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_parse::Problem;

    #[test]
    fn warnings_of_one_kind_are_counted_and_errors_are_not() {
        let entry = |level, code: &'static str| SourceProblem {
            source: "a".to_owned(),
            problem: Problem { level, code: code.into(), position: None, message: String::new(), count: 1 },
        };
        let mut problems = vec![entry(Level::Warning, "cut"); 7];
        problems.extend(vec![entry(Level::Error, "cut"); 5]);
        problems.extend(vec![entry(Level::Warning, "other"); NAMED + 1]);
        problems.push(entry(Level::Info, "note"));
        let counts = |code: &str, level| {
            let is = |entry: &SourceProblem| entry.problem.code == code && entry.problem.level == level;
            shown(&problems).iter().filter(|it| matches!(it, Shown::One(entry) if is(entry))).count()
        };
        assert_eq!((counts("cut", Level::Warning), counts("cut", Level::Error)), (NAMED, 5));
        assert_eq!((counts("other", Level::Warning), counts("note", Level::Info)), (NAMED + 1, 0));
        let more = shown(&problems).into_iter().filter_map(|it| match it {
            Shown::More(more, entry) => Some((more, entry.problem.code.to_string())),
            Shown::One(_) => None,
        });
        assert_eq!(more.collect::<Vec<_>>(), [(4, "cut".to_owned())]);
    }
}
