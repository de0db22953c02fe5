//! Identities that stay the same when a job runs again: the job's definition, and a finding's fingerprint
//! within it.
//!
//! A job definition is the engine, what a scheduler calls the run (its job, flow and task) if that is known, and the
//! normalised name: one task of a scheduler may start several applications, and applications of many flows may have one
//! name. The user is not part of it, because the same job
//! may run as a service on the cluster and as a person in CI. Queue, type and engine version are not part
//! of it either, because a job that moves is still the same job. All applications of one engine without a
//! name share one definition.
//!
//! A fingerprint is `v1-` and the XXH3 hash (128 bits, seed 0), in 32 hexadecimal digits, of four lines
//! joined by `\n`: `finding`, the rule's id, the subject as [`subject_key`] writes it, and the job as
//! [`JobKey`] prints it. Message, severity and values are not part of it, so a finding that gets worse
//! keeps its fingerprint.

mod moment;
mod normalise;
mod stage_names;

use std::fmt;

use twox_hash::XxHash3_128;

use elephant_model::model::{Engine, Subject};
use elephant_ruleset::JobIdentity;

pub use normalise::normalise;
pub use stage_names::StageName;

/// Longer names are cut, and a hash of the whole name replaces the rest.
const MAX_NAME: usize = 160;

/// The identity of a finding across runs of the same job: `v1-` and 32 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// The fingerprint of a rule's finding about this subject in this job.
    #[must_use]
    pub fn of(rule: &str, subject: &str, job: &JobKey) -> Self {
        Self(format!("v1-{}", hash(&format!("finding\n{rule}\n{subject}\n{job}"))))
    }

    /// The text.
    #[must_use]
    #[doc(hidden)]
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

/// A job definition in readable form: `spark · nightly-sales <date>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobKey(String);

#[doc(hidden)]
impl JobKey {
    /// The job with this engine and name.
    #[must_use]
    pub fn new(engine: Engine, name: Option<&str>) -> Self {
        job_key(engine.name(), NO_IDENTITY, name)
    }

    /// The job with this engine, name, and what a scheduler calls it.
    #[must_use]
    pub fn with_identity(engine: Engine, identity: Option<&JobIdentity>, name: Option<&str>) -> Self {
        let identity =
            identity.map(|known| [known.job.as_deref(), known.flow.as_deref(), known.task.as_deref()]);
        job_key(engine.name(), identity.unwrap_or(NO_IDENTITY), name)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The engine, by its name in reports.
    #[must_use]
    pub fn engine(&self) -> &str {
        self.0.split_once(BETWEEN).map_or(&self.0, |(engine, _)| engine)
    }
}

/// What separates the engine of a job from its name.
const BETWEEN: &str = " · ";

/// What a scheduler calls a job that none has started: no job, flow and task.
pub const NO_IDENTITY: [Option<&str>; 3] = [None; 3];

/// The job with this name; `engine` is the name used in reports. `identity` has the job, flow and task of a scheduler, whose
/// numbers stay.
pub fn job_key(engine: &str, identity: [Option<&str>; 3], name: Option<&str>) -> JobKey {
    let name = name.map(normalise).filter(|name| !name.is_empty());
    let name = name.map_or_else(|| "(no name)".to_owned(), |name| short(&name));
    let known = ["job", "flow", "task"].into_iter().zip(identity);
    let known = known.filter_map(|(what, known)| {
        let known = known?.trim();
        // A scheduler's number of a job is that of every run.
        let is_number = known.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        let same = if is_number { known.to_owned() } else { normalise(known) };
        (!same.is_empty()).then(|| format!("{what} {}", short(&same)))
    });
    let known: Vec<String> = known.collect();
    let known = if known.is_empty() { String::new() } else { format!("{}{BETWEEN}", known.join(", ")) };
    JobKey(format!("{engine}{BETWEEN}{known}{name}"))
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

/// A subject without the ids of one run. Stages are identified by their name and ordinal among stages of
/// that name, such as `stage "count at App.scala:10" #2`. All executors have the same key, and so
/// have all nodes.
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
        Subject::Node(_) => "node".to_owned(),
        other => other.name().into_owned(),
    }
}

/// The key of the `ordinal`th stage (from 1) of this name.
#[must_use]
pub fn stage_key(name: Option<&str>, ordinal: u64) -> String {
    let name = name.map_or_else(|| "(no name)".to_owned(), stage_name);
    if ordinal > 1 { format!("stage \"{name}\" #{ordinal}") } else { format!("stage \"{name}\"") }
}

/// A stage's name without the parts that change from run to run: normalised, and with only the file name of
/// a script, because folders of scripts are created for each run.
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
#[must_use]
pub fn without_lines(key: &str) -> String {
    let mut parts = key.split(':');
    let mut loose = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        loose.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    loose
}

/// A name of at most [`MAX_NAME`] characters, distinct for distinct names.
fn short(name: &str) -> String {
    if name.chars().count() <= MAX_NAME {
        return name.to_owned();
    }
    let start: String = name.chars().take(MAX_NAME - 20).collect();
    let hash = hash(name);
    format!("{start}… {}", hash.get(..16).unwrap_or(&hash))
}

/// The XXH3 hash of a text, 128 bits with seed 0, in 32 hexadecimal digits.
#[must_use]
pub fn hash(text: &str) -> String {
    format!("{:032x}", XxHash3_128::oneshot(text.as_bytes()))
}

#[cfg(test)]
mod tests;
