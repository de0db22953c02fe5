//! What stays the same when a job runs again: the job's definition, and a finding's fingerprint within it.
//!
//! A job definition is its engine and its normalised name. Not its user, because the same job runs as a service on the
//! cluster and as a person in CI; not its queue, type or engine version, because a job that moves stays that job.
//! Applications without a name are one definition for each engine.
//!
//! A fingerprint is `v1-` and the XXH3 hash (128 bits, seed 0) of four lines joined by `\n`: `finding`, the rule's id, the
//! subject as [`subject_key`] spells it, and the job as [`JobKey`] prints it, in 32 hexadecimal digits. Message,
//! severity and values are no part of it, so a finding that gets worse is still the same finding.

mod moment;
mod normalise;
mod stage_names;

use std::fmt;

use twox_hash::XxHash3_128;

use crate::model::{Engine, Subject};

pub use normalise::normalise;
pub use stage_names::StageName;

/// Names longer than this are cut, and a hash of the whole stands for the rest.
const MAX_NAME: usize = 160;

/// A finding's identity over runs of the same job, such as `v1-` and 32 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// The fingerprint of a rule's finding about this subject of this job.
    #[must_use]
    pub fn of(rule: &str, subject: &str, job: &JobKey) -> Self {
        Self(format!("v1-{}", hash(&format!("finding\n{rule}\n{subject}\n{job}"))))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for Fingerprint {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A job definition for people: `spark · nightly-sales <date>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobKey(String);

impl JobKey {
    /// The job of this engine and name.
    #[must_use]
    pub fn new(engine: Engine, name: Option<&str>) -> Self {
        job_key(engine.name(), name)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The job of this name, of an engine as reports name it.
pub(crate) fn job_key(engine: &str, name: Option<&str>) -> JobKey {
    let name = name.map(normalise).filter(|name| !name.is_empty());
    let name = name.map_or_else(|| "(no name)".to_owned(), |name| short(&name));
    JobKey(format!("{engine} · {name}"))
}

impl From<String> for JobKey {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for JobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A subject without the ids of one run: stages by their name and their place among those of the same name, as
/// `stage "count at App.scala:10" #2`; executors are all alike.
#[must_use]
pub fn subject_key(stage_names: &[StageName], subject: &Subject) -> String {
    match subject {
        Subject::Stage(id) => {
            let stage = stage_names.iter().find(|stage| stage.id == *id);
            let mut key = stage.map_or_else(
                || format!("stage {}", id.stage),
                |stage| stage_key(stage.name.as_deref(), stage.ordinal),
            );
            if id.attempt > 0 {
                key.push_str(" retried");
            }
            key
        }
        Subject::Executor(_) => "executor".to_owned(),
        other => other.name().into_owned(),
    }
}

/// How [`subject_key`] spells the `ordinal`th stage (from 1) of this name.
#[must_use]
pub fn stage_key(name: Option<&str>, ordinal: u64) -> String {
    let name = name.map_or_else(|| "(no name)".to_owned(), stage_name);
    if ordinal > 1 { format!("stage \"{name}\" #{ordinal}") } else { format!("stage \"{name}\"") }
}

/// A stage's name without what changes from run to run: normalised, and a script by its file's name, because folders
/// of scripts are made for each run.
#[must_use]
pub fn stage_name(name: &str) -> String {
    let name = match name.rsplit_once(" at ") {
        Some((call, place)) if place.contains('/') => {
            let file = place.rsplit('/').next().unwrap_or(place);
            format!("{call} at {file}")
        }
        _ => name.to_owned(),
    };
    short(&normalise(&name))
}

/// A key without the line numbers of call sites, which move when code above them changes.
pub(crate) fn without_lines(key: &str) -> String {
    let mut parts = key.split(':');
    let mut loose = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        loose.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    loose
}

/// What is at most [`MAX_NAME`] characters long and still tells names apart.
fn short(name: &str) -> String {
    if name.chars().count() <= MAX_NAME {
        return name.to_owned();
    }
    let start: String = name.chars().take(MAX_NAME - 20).collect();
    let hash = hash(name);
    format!("{start}… {}", hash.get(..16).unwrap_or(&hash))
}

/// The XXH3 hash of a text, 128 bits with seed 0, in 32 hexadecimal digits.
pub(crate) fn hash(text: &str) -> String {
    format!("{:032x}", XxHash3_128::oneshot(text.as_bytes()))
}

#[cfg(test)]
mod tests;
