//! Where a check takes the accepted runs from: a baseline file, or a store of earlier runs.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use elephant_engine::baseline::{Baseline, BaselineError};
use elephant_engine::results::{Comparison, JobKey, JobState, NotCompared, Report};
#[cfg(feature = "store")]
use elephant_store::{Lack, Place, Store};

/// Accepted runs, before it is known which jobs are checked.
pub(super) enum Source<'a> {
    File(&'a Path, Baseline),
    #[cfg(feature = "store")]
    Store(&'a Place, Store),
}

/// The accepted runs of the jobs that are checked.
pub(super) struct Accepted {
    pub(super) baseline: Baseline,
    /// The jobs without accepted runs, each with the reason, and whether the report lists each of their runs.
    lacks: BTreeMap<JobKey, (&'static str, bool)>,
    is_store: bool,
}

impl<'a> Source<'a> {
    /// A baseline file, which must exist unless it is to be written.
    pub(super) fn file(path: &'a Path, may_be_missing: bool) -> Result<Self, BaselineError> {
        match Baseline::load(path)? {
            Some(baseline) => Ok(Self::File(path, baseline)),
            None if may_be_missing => Ok(Self::File(path, Baseline::default())),
            None => Err(BaselineError::Missing { path: path.to_owned() }),
        }
    }

    /// The baseline file, if it is one.
    #[cfg_attr(not(feature = "store"), allow(clippy::unnecessary_wraps))] // without a store, it is always a file
    pub(super) fn file_path(&self) -> Option<&'a Path> {
        match self {
            Self::File(path, _) => Some(path),
            #[cfg(feature = "store")]
            Self::Store(..) => None,
        }
    }

    /// The files of the baseline or of the database.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        match self {
            Self::File(path, _) => vec![path.to_path_buf()],
            #[cfg(feature = "store")]
            Self::Store(place, _) => place.files(),
        }
    }

    /// The accepted state of the jobs in `report`, with at most `keep` runs per job.
    // Without a store, `report` is not used and nothing fails.
    #[cfg_attr(not(feature = "store"), allow(unused_variables, clippy::unnecessary_wraps))]
    pub(super) fn accepted(self, report: &Report, keep: Option<usize>) -> Result<Accepted, Box<dyn Error>> {
        match self {
            Self::File(_, mut baseline) => {
                baseline.keep_runs = keep.unwrap_or(baseline.keep_runs);
                Ok(Accepted { baseline, lacks: BTreeMap::new(), is_store: false })
            }
            #[cfg(feature = "store")]
            Self::Store(place, store) => {
                let keep = keep.unwrap_or(Baseline::default().keep_runs);
                let accepted = store.accepted(report, keep);
                let accepted = accepted.map_err(|error| super::store::failed(place, "read", &error))?;
                let has_others = accepted.lacks.values().any(|lack| *lack == Lack::OtherRules);
                if accepted.baseline.jobs.is_empty() && has_others {
                    return Err(format!(
                        "the earlier runs in {place} were judged by other rules or another version of elephant-rs; run \
                         `elephant-rs ingest --store {place}` with these rules first"
                    )
                    .into());
                }
                // Jobs that the store does not know are only counted. For other jobs, the user expects a comparison.
                let lacks = accepted.lacks.into_iter();
                let lacks = lacks.map(|(key, lack)| (key, (lack.reason(), lack != Lack::Unknown)));
                Ok(Accepted { baseline: accepted.baseline, lacks: lacks.collect(), is_store: true })
            }
        }
    }
}

impl Accepted {
    /// Says in the comparison which runs had nothing to be compared with.
    pub(super) fn explain(&self, comparison: &mut Comparison) {
        comparison.of_store = self.is_store;
        for job in comparison.jobs.iter_mut().filter(|job| job.state == JobState::New) {
            if let Some(&(reason, unfit)) = self.lacks.get(&job.key) {
                let runs = job.applications.iter().cloned();
                job.not_compared.extend(runs.map(|application| NotCompared { application, reason, unfit }));
            }
        }
    }
}
