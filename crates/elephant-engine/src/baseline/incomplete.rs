//! Runs with incomplete histories: findings in them count, but missing findings prove nothing.

use super::run::{identity, unfit};
use crate::results::{ApplicationReport, IncompleteRun};

/// Reason given for findings of a history without its job's name.
pub(super) const UNNAMED: &str = "the log does not contain the name of its job";

/// `app` as an incomplete run; `None` if its history is complete.
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

/// Why `app` does not prove that a finding is better or gone; `None` if it does.
pub(super) fn doubt(app: &ApplicationReport) -> Option<String> {
    let unfit = unfit(app)?;
    Some(app.incomplete.as_ref().map_or_else(|| unfit.to_owned(), |why| format!("{unfit}: {why}")))
}

/// Why `rule` does not prove that findings are gone from `app`; `None` if it does.
pub(super) fn doubt_of(app: &ApplicationReport, rule: &str) -> Option<String> {
    let missing = app.not_evaluated.iter().find(|missing| missing.rule == rule);
    missing.map(|missing| missing.reason.clone()).or_else(|| doubt(app))
}
