//! Class names of applications: the job's key, which contains no dates or ids of a run. If two applications have the same
//! key, their ids are added.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

use super::text;
use elephant_engine::fingerprint::JobKey;
use elephant_engine::results::ApplicationReport;

/// The names that an application may have.
#[derive(Serialize, Deserialize)]
pub(super) struct Class {
    job: String,
    /// With the id.
    run: String,
}

impl Class {
    pub(super) fn of(app: &ApplicationReport) -> Self {
        let job = of_job(&app.job_key());
        let attempt = app.attempt.as_deref().map(|attempt| format!(" {}", text(attempt)));
        let run = format!("{job} ({}{})", text(&app.id), attempt.unwrap_or_default()).replace('.', "_");
        Self { job, run }
    }
}

/// The names of all applications. Only their hashes are kept, because there may be many.
#[derive(Default)]
pub(super) struct Classes {
    uses: FxHashMap<u128, u64>,
    seen: FxHashMap<u128, u64>,
}

impl Classes {
    /// All applications are counted before the first is named.
    pub(super) fn count(&mut self, class: &Class) {
        *self.uses.entry(hash(&class.job)).or_default() += 1;
    }

    /// The name of the next application.
    pub(super) fn name(&mut self, Class { job, run }: Class) -> String {
        if self.uses.get(&hash(&job)).is_none_or(|&uses| uses == 1) {
            return job;
        }
        let copies = self.seen.entry(hash(&run)).or_default();
        *copies += 1;
        if *copies > 1 { format!("{run} {copies}") } else { run }
    }
}

fn hash(name: &str) -> u128 {
    XxHash3_128::oneshot(name.as_bytes())
}

/// The class name of a job, without dots: Jenkins takes the part before the last dot as a package.
pub(super) fn of_job(job: &JobKey) -> String {
    text(job.as_str()).replace('.', "_")
}
