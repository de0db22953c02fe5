//! Accepted histories that were emptied or overwritten since: their applications are missing, and nothing else tells.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Baseline;
use crate::engine::visit;
use crate::results::Report;

/// The accepted histories below `inputs` that still exist, and in which `report` found no application and another look
/// finds none, either. A filter of the report leaves out applications, not what a file is.
#[must_use]
pub fn lost_histories(baseline: &Baseline, report: &Report, inputs: &[&Path]) -> Vec<String> {
    let read: BTreeSet<&str> =
        report.applications.iter().flat_map(|app| &app.sources).map(String::as_str).collect();
    let accepted: BTreeSet<&String> = baseline.jobs.iter().flat_map(|job| &job.histories).collect();
    let is_named = |path: &Path| inputs.iter().any(|input| path.starts_with(input));
    let unread = accepted.into_iter().filter(|path| !read.contains(path.as_str()));
    let unread = unread.filter(|path| is_named(Path::new(path)));
    unread.filter(|path| file_of(path).is_some_and(|file| holds_nothing(&file))).cloned().collect()
}

/// The file or folder of a history that exists, the archive for its member.
fn file_of(history: &str) -> Option<PathBuf> {
    let whole = PathBuf::from(history);
    let archive = || history.rsplit_once('!').map(|(archive, _)| PathBuf::from(archive));
    if whole.exists() { Some(whole) } else { archive().filter(|archive| archive.exists()) }
}

fn holds_nothing(file: &Path) -> bool {
    visit(&[file.to_path_buf()], |_, _| ()).applications.is_empty()
}
