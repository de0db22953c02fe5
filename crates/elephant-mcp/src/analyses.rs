//! Histories that are read again, because an answer needs more than a store has of them.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use elephant_engine::engine::{self, Filter, Progress};
use elephant_engine::results::{ApplicationReport, Report};
use elephant_input::named::Named;
use elephant_store::{StoredApplication, local_path};

use super::failure::Failure;
use super::library::Context;

/// Analyses that are kept: questions about one application follow each other.
const KEPT: usize = 4;

/// The last analyses.
#[derive(Default)]
pub(crate) struct Analyses(Mutex<VecDeque<Kept>>);

struct Kept {
    source: String,
    id: String,
    attempt: Option<String>,
    at: Instant,
    report: Arc<Report>,
}

impl Kept {
    fn is_of(&self, app: &StoredApplication) -> bool {
        self.source == app.run.source && self.id == app.run.id && self.attempt == app.run.attempt
    }
}

/// One application, read from its history with all details.
pub(crate) struct Analysis(Arc<Report>);

impl Analysis {
    /// The report, which has this application alone.
    pub(crate) fn report(&self) -> &Report {
        &self.0
    }

    pub(crate) fn application(&self) -> Option<&ApplicationReport> {
        self.0.applications.first()
    }
}

impl Context<'_> {
    /// The application, read from the history that the store names.
    pub(crate) fn analysis(&self, app: &StoredApplication) -> Result<Analysis, Failure> {
        let kept = &self.library.analyses.0;
        let known = {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.retain(|kept| kept.at.elapsed() < self.library.fresh);
            kept.iter().find(|kept| kept.is_of(app)).map(|kept| Arc::clone(&kept.report))
        };
        if let Some(report) = known {
            return Ok(Analysis(report));
        }
        let path = history(app)?;
        let filter = only(&app.run.id);
        let limits = self.library.limits;
        let options = engine::Options { details: true, limits, filter, ..engine::Options::default() };
        let paths = [path];
        let named = Named::from(paths.as_slice());
        let mut report = engine::analyze_by(named, self.basis(), &options, &Progress::default());
        report.applications.retain(|read| read.id == app.run.id && read.attempt == app.run.attempt);
        report.applications.truncate(1);
        if report.applications.is_empty() {
            return Err(Failure::Gone(format!(
                "the history {} no longer has this application; it was changed or replaced, so `elephant-rs ingest` must \
                 read it again",
                app.run.source
            )));
        }
        let report = Arc::new(report);
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.truncate(KEPT - 1);
        kept.push_front(Kept {
            source: app.run.source.clone(),
            id: app.run.id.clone(),
            attempt: app.run.attempt.clone(),
            at: Instant::now(),
            report: Arc::clone(&report),
        });
        Ok(Analysis(report))
    }
}

/// The file of an application's history on this machine. Only the store names it, never an argument.
pub(crate) fn history(app: &StoredApplication) -> Result<PathBuf, Failure> {
    let source = &app.run.source;
    let path = local_path(source).ok_or_else(|| {
        Failure::Gone(format!(
            "this needs the history {source}, which is not on this machine; there, `elephant-rs analyze` has all of it"
        ))
    })?;
    existing(path).ok_or_else(|| {
        Failure::Gone(format!(
            "this needs the history {source}, which is gone; only what the store has of it is left (diagnose, job_history)"
        ))
    })
}

/// The file itself, or the archive that it is a member of, as `archive.zip!member`.
fn existing(path: &Path) -> Option<PathBuf> {
    if path.exists() {
        return Some(path.to_path_buf());
    }
    let text = path.to_str()?;
    let mut archives = text.match_indices('!').filter_map(|(end, _)| text.get(..end)).map(Path::new);
    archives.find(|archive| archive.is_file()).map(Path::to_path_buf)
}

/// Selects the application with this id. Other ids than the usual ones are selected from what was read.
pub(crate) fn only(id: &str) -> Filter {
    let is_plain = id.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let ids = id.parse().ok().filter(|_| is_plain);
    Filter { ids: ids.into_iter().collect(), ..Filter::default() }
}
