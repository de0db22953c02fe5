//! Runs that tell less than a whole one would: what they show counts, what they do not show proves nothing.

use super::run::{identity, unfit};
use crate::engine::ApplicationReport;
use crate::fingerprint::JobKey;

/// What is said about findings of a history without its job's name.
pub(super) const UNNAMED: &str = "the history does not tell the name of its job";

/// A run whose history is incomplete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncompleteRun {
    /// The run.
    pub application: String,
    /// What a baseline calls it.
    pub run: String,
    /// Why its history is incomplete.
    pub reason: String,
    /// Whether anything could be judged of it. Without a name of its job nothing can, because nobody knows what is
    /// accepted.
    pub judged: bool,
}

impl IncompleteRun {
    /// `app` as an incomplete run, or `None` where its history is complete.
    pub(super) fn of(app: &ApplicationReport) -> Option<Self> {
        let why = app.incomplete.as_deref()?;
        let unnamed = is_unnamed(app);
        let reason = if unnamed { format!("{UNNAMED}, {why}") } else { why.to_owned() };
        Some(Self { application: app.id.clone(), run: identity(app), reason, judged: app.judged && !unnamed })
    }
}

/// Whether the history is cut before the name of its job, or has lost it. A complete one without a name has none.
pub(super) fn is_unnamed(app: &ApplicationReport) -> bool {
    !app.complete && JobKey::of(app) == JobKey::new(app.engine, None)
}

/// The job of `app`, or what stands for it where its name is lost.
pub(super) fn job_of(app: &ApplicationReport) -> JobKey {
    if is_unnamed(app) {
        JobKey::from(format!("{} · (name unknown)", app.engine.name()))
    } else {
        JobKey::of(app)
    }
}

/// Why `app` does not prove that something is better or gone, or `None` where it does.
pub(super) fn doubt(app: &ApplicationReport) -> Option<String> {
    let unfit = unfit(app)?;
    Some(app.incomplete.as_ref().map_or_else(|| unfit.to_owned(), |why| format!("{unfit}: {why}")))
}

/// Why `rule` says nothing about what is gone from `app`, or `None` where it does.
pub(super) fn doubt_of(app: &ApplicationReport, rule: &str) -> Option<String> {
    let missing = app.not_evaluated.iter().find(|missing| missing.rule == rule);
    missing.map(|missing| missing.reason.clone()).or_else(|| doubt(app))
}
