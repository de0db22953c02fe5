//! Runs that tell less than a whole one would: what they show counts, what they do not show proves nothing.

use super::run::{identity, unfit};
use crate::results::{ApplicationReport, IncompleteRun};

/// What is said about findings of a history without its job's name.
pub(super) const UNNAMED: &str = "the history does not tell the name of its job";

/// `app` as an incomplete run, or `None` where its history is complete.
pub(super) fn incomplete_run(app: &ApplicationReport) -> Option<IncompleteRun> {
    let why = app.incomplete.as_deref()?;
    let unnamed = app.is_unnamed();
    let reason = if unnamed { format!("{UNNAMED}, {why}") } else { why.to_owned() };
    Some(IncompleteRun {
        application: app.id.clone(),
        run: identity(app),
        reason,
        judged: app.judged && !unnamed,
    })
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
