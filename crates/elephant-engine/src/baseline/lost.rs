//! Accepted histories that were emptied or overwritten since: their applications are missing, and nothing else tells.
//!
//! A baseline knows the names of the files only as hashes: it is committed, and shall tell nothing about the machine.

use std::collections::BTreeSet;
use std::path::Path;

use twox_hash::XxHash3_128;
use walkdir::WalkDir;

use super::Baseline;
use crate::engine::visit;
use crate::results::Report;

/// The files below `inputs` with the name of an accepted history in which `report` found no application and another look
/// finds none, either. A filter of the report leaves out applications, not what a file is.
#[must_use]
pub fn lost_histories(baseline: &Baseline, report: &Report, inputs: &[&Path]) -> Vec<String> {
    let read = report.applications.iter().flat_map(|app| &app.sources);
    let read: BTreeSet<String> = read.filter_map(|source| hash_of(source)).collect();
    let accepted = baseline.jobs.iter().flat_map(|job| &job.histories);
    let unread: BTreeSet<&String> = accepted.filter(|name| !read.contains(*name)).collect();
    if unread.is_empty() {
        return Vec::new();
    }
    let entries =
        inputs.iter().flat_map(|input| WalkDir::new(input).sort_by_file_name()).filter_map(Result::ok);
    let files = entries.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path);
    let named =
        files.filter(|file| file.to_str().and_then(hash_of).is_some_and(|name| unread.contains(&name)));
    named.filter(|file| holds_nothing(file)).map(|file| file.display().to_string()).collect()
}

/// The hash of a file's name, for a member of an archive that of the archive; `None` if the path ends without a name.
pub(super) fn hash_of(source: &str) -> Option<String> {
    let file = source.split_once('!').map_or(source, |(archive, _)| archive);
    let name = Path::new(file).file_name()?.to_str()?;
    Some(format!("{:032x}", XxHash3_128::oneshot(name.as_bytes())))
}

fn holds_nothing(file: &Path) -> bool {
    visit(&[file.to_path_buf()], |_, _| ()).applications.is_empty()
}
