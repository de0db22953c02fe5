//! A survey in parts: several runs each look for the stragglers of their applications, and a last run rates
//! the detectors on all of them, because usual times are known from other runs of a job.

use std::path::Path;

use super::application::ApplicationStragglers;
use super::{Settings, Sort, StragglerReport, evaluated};
use crate::engine::{Filter, Gathered, Part, PartError, PartKind, Progress, Visited, gather_beside_traces};
use elephant_analysis::node_metrics::NodeMetrics;
use elephant_base::limits::Limits;
use elephant_input::named::Named;
use elephant_model::model::Application;

/// The settings that change what is found in one application, in words.
#[must_use]
pub fn options_of_part(settings: &Settings) -> String {
    let of_report = Settings { models: None, most_jobs: None, trace: None, ..settings.clone() };
    format!("{of_report:?}")
}

/// Looks for the stragglers of the applications below the paths.
///
/// # Errors
/// If there is a cluster trace among them.
pub fn part_of(
    named: Named<'_>,
    settings: &Settings,
    metrics: Option<&NodeMetrics>,
    (filter, limits): (&Filter, &Limits),
    progress: &Progress,
) -> Result<Part, PartError> {
    let look =
        |app: &Application, sources: &[String]| ApplicationStragglers::of(app, sources, settings, metrics);
    let part = |gathered: Gathered<'_, ApplicationStragglers>| Part::of(&gathered, &());
    gather_beside_traces(named, settings.trace, (filter, limits), progress, look, part)
        .map_err(|path| PartError::Trace { path })
}

/// Surveys all applications that the parts have read.
///
/// # Errors
/// If a file is not such a part, or two parts have read the same history.
pub fn report_of_parts(
    (kind, files): (&PartKind<'_>, &[&Path]),
    settings: &Settings,
) -> Result<StragglerReport, PartError> {
    let found = |((), gathered): ((), Gathered<'static, ApplicationStragglers>)| Some(gathered);
    let visited = kind.merge(files, found)?.visited().distinct();
    let Visited { summary: files, applications, problems, named_input_failed, .. } = visited;
    let (mut applications, sums) = evaluated(applications, settings);
    applications.sort_by(ApplicationStragglers::worst_first);
    let total = sums.finish(settings);
    let settings = settings.clone();
    Ok(StragglerReport {
        settings,
        order: Sort::Saving,
        files,
        applications,
        unlisted: 0,
        total,
        problems,
        named_input_failed,
    })
}
