//! A ranking in parts: several runs each collect the z-scores of their applications, and a last run ranks the
//! nodes by all of them.

use std::path::Path;

use super::cluster::Cluster;
use super::collect::{Hosts, NamedHost, Sample};
use super::run::Host;
use super::{NodeTypes, NodesReport, Settings, rank};
use crate::conditions::Conditions;
use crate::engine::{Filter, Gathered, Part, PartError, PartKind, Progress, Visited, gather_beside_traces};
use elephant_base::limits::Limits;
use elephant_input::named::Named;
use elephant_model::model::Application;

/// The settings that change what is collected, in words.
#[must_use]
pub fn options_of_part(settings: &Settings, conditions: &Conditions) -> String {
    let Settings { min_group, straggler, .. } = settings;
    let tasks = if conditions.is_empty() { String::new() } else { format!(", --where {conditions}") };
    format!("--min-group {min_group}, stragglers from {straggler} medians{tasks}")
}

/// Collects the z-scores of the applications below the paths.
///
/// # Errors
/// If there is a cluster trace among them.
pub fn part_of(
    named: Named<'_>,
    settings: &Settings,
    conditions: &Conditions,
    (filter, limits): (&Filter, &Limits),
    progress: &Progress,
) -> Result<Part, PartError> {
    let hosts = Hosts::default();
    let sample = |app: &Application, _: &[String]| Sample::of(app, &hosts, settings, conditions);
    let part = |mut gathered: Gathered<'_, Sample>| {
        let (named, places) = hosts.in_places();
        for sample in gathered.values_mut() {
            *sample = std::mem::take(sample).renumbered(&places).unwrap_or_default();
        }
        Part::of(&gathered, &named)
    };
    gather_beside_traces(named, settings.trace, (filter, limits), progress, sample, part)
        .map_err(|path| PartError::Trace { path })
}

/// Ranks the nodes of all applications that the parts have read.
///
/// # Errors
/// If a file is not such a part, or two parts have read the same history.
pub fn report_of_parts(
    (kind, files): (&PartKind<'_>, &[&Path]),
    settings: Settings,
    types: &NodeTypes,
    (filter, conditions): (Filter, Conditions),
) -> Result<NodesReport, PartError> {
    let hosts = Hosts::default();
    let known = |(named, mut gathered): (Vec<NamedHost>, Gathered<'static, Sample>)| {
        let host = |(name, rack): &NamedHost| hosts.host(name, rack.as_deref());
        let numbers: Vec<Host> = named.iter().map(host).collect::<Option<_>>()?;
        for sample in gathered.values_mut() {
            *sample = std::mem::take(sample).renumbered(&numbers)?;
        }
        Some(gathered)
    };
    let visited = kind.merge(files, known)?.visited().distinct();
    let Visited { summary: files, applications, problems, named_input_failed, .. } = visited;
    let ranking = rank(Cluster::of(applications), hosts, types, &settings);
    let only_traces = false;
    Ok(NodesReport {
        settings,
        filter,
        conditions,
        files,
        ranking,
        problems,
        named_input_failed,
        only_traces,
    })
}
