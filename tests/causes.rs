//! Causes of stragglers in our own recordings, in which trouble was planted.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use elephant_rs::engine::visit;
use elephant_rs::model::Application;
use elephant_rs::model::table::TaskKind;
use elephant_rs::stragglers::cause::{Cause, LabelledGroup, Params, StragglerCause, attribute};
use elephant_rs::stragglers::executions::{Basis, Executions};
use elephant_rs::stragglers::labels::{Labelling, Labels};

/// A straggler with the names of what it ran in and on.
#[derive(Debug, Clone)]
struct Told {
    group: String,
    task: Option<u32>,
    node: Option<String>,
    cause: StragglerCause,
}

fn causes_of(app: &Application) -> Vec<Told> {
    let judged: Vec<(Executions, Labels)> = app
        .groups
        .iter()
        .map(|group| {
            let executions = Executions::of(group, Basis::Wall);
            let labels = Labelling::MEDIAN.of(&executions);
            (executions, labels)
        })
        .collect();
    let groups: Vec<LabelledGroup<'_>> = app
        .groups
        .iter()
        .zip(&judged)
        .map(|(group, (executions, labels))| LabelledGroup {
            group,
            executions,
            basis: Basis::Wall,
            stragglers: &labels.stragglers,
        })
        .collect();
    let causes = attribute(app, &groups, None, &Params::default());
    assert_eq!(causes.len(), groups.len());
    let mut told = Vec::new();
    for ((group, causes), (_, labels)) in app.groups.iter().zip(causes).zip(&judged) {
        assert_eq!(causes.len() as u64, labels.count(), "each straggler has a cause");
        let name = match group.kind {
            TaskKind::Stage(stage) => format!("stage {stage}"),
            kind => kind.name().to_owned(),
        };
        told.extend(causes.into_iter().map(|cause| Told {
            group: name.clone(),
            task: group.tasks.number(cause.task),
            node:
                group.attempts.node(cause.attempt).and_then(|node| app.strings.get(node)).map(str::to_owned),
            cause,
        }));
    }
    told
}

/// The stragglers of each application below a folder, by its folder.
fn recorded(folder: &Path) -> BTreeMap<String, Vec<Told>> {
    let visited = visit(&[folder.to_owned()], |app, _| causes_of(app));
    let mut by_folder = BTreeMap::new();
    for app in visited.applications {
        let source = app.sources.first().unwrap();
        let parent = Path::new(source).strip_prefix(folder).unwrap().parent().unwrap();
        by_folder.insert(parent.display().to_string(), app.value);
    }
    by_folder
}

#[test]
fn print_all() {
    let Some(runs) = common::shared("runs") else { return };
    for (folder, told) in recorded(&runs) {
        println!("== {folder}");
        for straggler in told {
            let cause = &straggler.cause;
            println!(
                "{} {:?} on {:?}: {} {:?}",
                straggler.group,
                straggler.task,
                straggler.node,
                cause.primary.name(),
                cause.confidence
            );
            for evidence in &cause.evidence {
                println!("      {} {}: {}", evidence.cause.name(), evidence.confidence.name(), evidence.fact);
            }
        }
    }
    let _ = Cause::Gc;
}
