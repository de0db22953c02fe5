//! Combines the results for all histories, and removes those that a later attempt repeats.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::gathered::{Gathered, HistoryRead};
use super::gc_logs::tell_unmatched;
use super::source::master_attempt;
use super::{SUPERSEDED, Visit, Visited};
use crate::engine::copies::counted;
use crate::results::{SourceProblem, Summary};
use elephant_base::address::Address;
use elephant_input::inventory::Skipped;
use elephant_input::kind::Reason;
use elephant_parse::{Level, Problem};

impl<T> Gathered<'_, T> {
    /// The result of a visit, still with copies.
    pub(crate) fn visited(self) -> Visited<T> {
        assemble(self)
    }
}

/// Combines what was read of all histories, which must be in the order of their paths.
fn assemble<T>(gathered: Gathered<'_, T>) -> Visited<T> {
    let Gathered { found, left_out: unasked, failures, notices, skipped, beside, histories, .. } = gathered;
    let mut visited = Visited {
        summary: Summary { files_found: found, ..Summary::default() },
        applications: Vec::new(),
        problems: Vec::new(),
        skipped: skipped.iter().map(|skipped| (skipped.reason.text(), skipped.count)).collect(),
        named_input_failed: failures.iter().any(|failure| failure.named_by_user),
    };
    // An archive with several logs is one file, and so is a log with an unreadable part.
    let (mut analysed, mut failed) = (BTreeSet::<Cow<'_, Path>>::new(), BTreeSet::<Cow<'_, Path>>::new());
    let (mut passed, mut left_out) = (0, unasked.applications);
    let mut left_out_copies = Vec::new();
    let mut files_left_out = BTreeSet::<Cow<'_, Path>>::new();
    for failure in failures {
        failed.insert(failure.file.into());
        visited.problems.push(failure.told);
    }
    visited.problems.extend(notices.into_iter().map(|notice| notice.told));
    visited.problems.extend(skipped.iter().filter_map(named_without_history));
    for HistoryRead { files: own, named_by_user, outcome, .. } in histories {
        let tells_nothing = outcome.all() == 0;
        visited.named_input_failed |= tells_nothing && named_by_user;
        let files = match (tells_nothing, outcome.is_left_out()) {
            (true, _) => &mut failed,
            (false, true) => &mut files_left_out,
            (false, false) => &mut analysed,
        };
        files.extend(own);
        passed += outcome.passed;
        left_out += outcome.left_out as u64;
        left_out_copies.extend(outcome.left_out_copies);
        visited.applications.extend(outcome.applications);
        visited.problems.extend(outcome.problems);
        analysed.extend(outcome.confs);
    }
    let summary = &mut visited.summary;
    summary.files_analysed = analysed.len() as u64;
    summary.files_failed = failed.difference(&analysed).count() as u64;
    summary.files_skipped = found.saturating_sub(summary.files_analysed + summary.files_failed);
    let only_left_out =
        files_left_out.iter().filter(|file| !analysed.contains(*file) && !failed.contains(*file));
    match only_left_out.count() as u64 + unasked.files {
        0 => {}
        files => visited.skipped.push(("left out by the filters", files)),
    }
    supersede(&mut visited);
    visited.summary.left_out = left_out + distinct(&visited.applications, left_out_copies);
    visited.summary.applications = (visited.applications.len() + passed) as u64;
    tell_unmatched(beside, &mut visited);
    visited
}

/// The number of applications among those that the filter leaves out, each counted once: without copies, also of `selected`
/// ones, and without attempts that a later one repeats.
fn distinct<T>(selected: &[Visit<T>], left_out: Vec<Visit<()>>) -> u64 {
    let mut left_out = Visited {
        summary: Summary::default(),
        applications: left_out,
        problems: Vec::new(),
        skipped: Vec::new(),
        named_input_failed: false,
    };
    supersede(&mut left_out);
    let copies = selected.iter().map(|visit| &*visit.copy);
    let counted = counted(copies.chain(left_out.applications.iter().map(|visit| &*visit.copy)));
    let (of_selected, of_others) = counted.split_at_checked(selected.len()).unwrap_or_default();
    let mut of_others: BTreeSet<usize> = of_others.iter().copied().collect();
    of_others.retain(|place| *place >= selected.len() && !of_selected.contains(place));
    of_others.len() as u64
}

/// The warning for files that the user named but that hold no history. Side files of histories get no
/// warning, because a pattern such as `history/*` includes them. Tables of a trace do, wherever they were found: only
/// `--trace` leaves them out.
fn named_without_history(skipped: &Skipped) -> Option<SourceProblem> {
    let Skipped { reason, named_by_user, count, path } = skipped;
    let is_side_file = matches!(
        reason,
        Reason::Checksum
            | Reason::SuccessMarker
            | Reason::JobSummary
            | Reason::LogMarker
            | Reason::SupersededPart
            | Reason::DuplicatePart
    );
    // A notice names the member.
    let is_told = matches!(reason, Reason::Archive | Reason::OtherFormat);
    let of_other_trace = matches!(reason, Reason::OtherTrace(_));
    (of_other_trace || *named_by_user && !is_side_file && !is_told).then(|| SourceProblem {
        source: Address::of(path).to_string(),
        problem: Problem {
            level: Level::Warning,
            code: "no-history".into(),
            position: None,
            message: format!("not an event log or job history ({reason})"),
            count: *count,
        },
    })
}

/// Keeps only the last attempt of each MapReduce application master. Each attempt leaves its own history in
/// the staging folder, and the later one repeats what it recovered from the earlier.
fn supersede<T>(visited: &mut Visited<T>) {
    let attempt = |app: &Visit<T>| -> Option<(PathBuf, String, u32)> {
        let (folder, number) = master_attempt(&app.sources)?;
        Some((folder.to_owned(), app.id.clone(), number))
    };
    let mut last: BTreeMap<(PathBuf, String), u32> = BTreeMap::new();
    for (folder, id, number) in visited.applications.iter().filter_map(attempt) {
        let latest = last.entry((folder, id)).or_default();
        *latest = number.max(*latest);
    }
    let mut superseded = Vec::new();
    visited.applications.retain(|app| {
        let Some((folder, id, number)) = attempt(app) else { return true };
        let latest = last.get(&(folder, id)).copied().unwrap_or_default();
        if number < latest {
            superseded.push((app.sources.first().cloned().unwrap_or_default(), latest));
        }
        number >= latest
    });
    for (source, latest) in superseded {
        let message = format!(
            "attempt {latest} of the application master has a more complete history; this one was skipped"
        );
        let problem =
            Problem { level: Level::Info, code: SUPERSEDED.into(), position: None, message, count: 1 };
        visited.problems.push(SourceProblem { source, problem });
    }
}
