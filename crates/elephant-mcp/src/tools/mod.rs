//! The tools, one file each.

mod compare;
mod diagnose;
mod evidence;
mod explain_failure;
mod explain_rule;
mod groups;
mod job_history;
mod list;
mod queries;
mod stragglers;
mod whatif;

use elephant_report::{Format, PieceFormat, TextOptions};
use elephant_store::StoredApplication;
use serde::de::DeserializeOwned;

use super::analyses::Analysis;
use super::failure::Failure;
use super::tool::Row;

/// All tools, in the order in which an agent usually needs them.
pub(crate) const TOOLS: &[Row] = &[
    Row::of::<list::ListApplications>(),
    Row::of::<diagnose::Diagnose>(),
    Row::of::<evidence::Evidence>(),
    Row::of::<queries::Queries>(),
    Row::of::<stragglers::Stragglers>(),
    Row::of::<whatif::WhatIf>(),
    Row::of::<compare::Compare>(),
    Row::of::<job_history::History>(),
    Row::of::<explain_rule::ExplainRule>(),
    Row::of::<explain_failure::ExplainFailure>(),
];

/// The application as the JSON report has it, as far as `T` tells it.
fn json<T: DeserializeOwned>(analysis: &Analysis) -> Result<T, Failure> {
    let format = PieceFormat::new(Format::Ndjson, TextOptions::default(), &analysis.report().rules);
    let app = analysis.application().map(|app| format.render(app)).transpose()?.unwrap_or_default();
    Ok(serde_json::from_slice(&app)?)
}

/// The same of the report that is stored, as far as there is one that `T` can be read from.
fn stored_json<T: DeserializeOwned>(app: &StoredApplication) -> Option<T> {
    serde_json::from_str(app.report.as_deref()?).ok()
}
