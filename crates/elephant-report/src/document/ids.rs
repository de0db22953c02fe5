//! Ids of elements that stay the same from one report to the next, so that a link works tomorrow.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};

use elephant_engine::fingerprint::{Fingerprint, JobKey, NO_IDENTITY, job_key};

/// The digits of a hash that an id consists of.
const DIGITS: usize = 12;

/// Hands out ids, each once. Only their hashes are kept, because there may be many. If two have the same hash, the second
/// gets a longer id than needed.
#[derive(Default)]
pub(crate) struct Taken(FxHashSet<u64>);

/// Hands out ids on pages that are grouped by job.
#[derive(Default)]
pub(crate) struct PageIds(Taken);

impl PageIds {
    /// The id of the job that a run belongs to. A run without a name is a job of its own.
    pub(crate) fn job_of(
        &mut self,
        engine: &str,
        name: Option<&str>,
        user: Option<&str>,
        id: &str,
    ) -> String {
        let job = job_key(engine, NO_IDENTITY, name);
        let alone = job == job_key(engine, NO_IDENTITY, None);
        self.job(&job, if alone { id } else { user.unwrap_or_default() })
    }

    /// The id of a job by a user.
    pub(crate) fn job(&mut self, job: &JobKey, owner: &str) -> String {
        self.0.unique(format!("j-{}", digits(&Fingerprint::of("job", owner, job))), "")
    }

    /// The id of an application, the same as on the page of `analyze`.
    pub(crate) fn application(&mut self, id: &str) -> String {
        self.0.unique(format!("a-{}", application_digits("", id)), "")
    }

    /// The id of a part of an element, for instance of a stage in an application.
    pub(crate) fn part(&mut self, of: &str, name: &str) -> String {
        self.0.unique(format!("{of}-{}", slug(name)), "")
    }
}

pub(crate) fn application_digits(attempt: &str, id: &str) -> String {
    digits(&Fingerprint::of("application", attempt, &id.to_owned().into()))
}

/// A name with only letters, digits and dots.
pub(crate) fn slug(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect()
}

impl Taken {
    /// `id`; if it is taken, `id` with the application or a number added.
    pub(crate) fn unique(&mut self, id: String, application: &str) -> String {
        if self.take(&id) {
            return id;
        }
        let id = if application.is_empty() { id } else { format!("{id}-{application}") };
        let mut numbered =
            (1_u64..).map(|number| if number == 1 { id.clone() } else { format!("{id}-{number}") });
        numbered.find(|id| self.take(id)).unwrap_or(id)
    }

    fn take(&mut self, id: &str) -> bool {
        let mut hasher = FxHasher::default();
        id.hash(&mut hasher);
        self.0.insert(hasher.finish())
    }
}

/// The first digits of a fingerprint.
pub(crate) fn digits(fingerprint: &Fingerprint) -> String {
    let text = fingerprint.as_str();
    let hash = text.split_once('-').map_or(text, |(_, hash)| hash);
    hash.chars().take(DIGITS).collect()
}
