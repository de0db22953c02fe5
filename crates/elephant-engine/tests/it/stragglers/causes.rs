//! Causes of stragglers in our own recordings, in which problems were planted.

use std::collections::BTreeMap;
use std::path::Path;

use elephant_analysis::stragglers::cause::{
    Cause, Confidence, LabelledGroup, Params, StragglerCause, attribute,
};
use elephant_analysis::stragglers::executions::Basis;
use elephant_analysis::stragglers::group::GroupStragglers;
use elephant_analysis::stragglers::labels::Labelling;
use elephant_engine::engine::visit;
use elephant_model::model::Application;
use elephant_model::model::table::TaskKind;

/// A straggler, with the names of its task group and host.
#[derive(Debug, Clone)]
struct FoundStraggler {
    group: String,
    task: Option<u32>,
    node: Option<String>,
    cause: StragglerCause,
}

fn causes_of(app: &Application) -> Vec<FoundStraggler> {
    let groups = GroupStragglers::of_application(app, Labelling::MEDIAN, Basis::Wall);
    let labelled: Vec<LabelledGroup<'_>> = groups
        .iter()
        .map(|view| LabelledGroup {
            group: view.group,
            executions: &view.executions,
            basis: Basis::Wall,
            stragglers: &view.labels.stragglers,
        })
        .collect();
    let causes = attribute(app, &labelled, None, &Params::default());
    assert_eq!(causes.len(), groups.len());
    let mut stragglers = Vec::new();
    for (GroupStragglers { group, labels, .. }, causes) in groups.iter().zip(causes) {
        assert_eq!(causes.len() as u64, labels.count(), "each straggler has a cause");
        let name = match group.kind {
            TaskKind::Stage(stage) => format!("stage {stage}"),
            kind => kind.name().to_owned(),
        };
        stragglers.extend(causes.into_iter().map(|cause| FoundStraggler {
            group: name.clone(),
            task: group.tasks.number(cause.task),
            node:
                group.attempts.node(cause.attempt).and_then(|node| app.strings.get(node)).map(str::to_owned),
            cause,
        }));
    }
    stragglers
}

/// The stragglers of each application below a folder, by its folder.
fn recorded(folder: &Path) -> BTreeMap<String, Vec<FoundStraggler>> {
    let visited = visit(&[folder.to_owned()], |app, _| causes_of(app));
    let mut by_folder = BTreeMap::new();
    for app in visited.applications {
        let source = app.sources.first().unwrap();
        let parent = Path::new(source).strip_prefix(folder).unwrap().parent().unwrap();
        by_folder.insert(parent.display().to_string(), app.value);
    }
    by_folder
}

fn causes_in<'a>(stragglers: &'a [FoundStraggler], group: &str) -> Vec<(Option<u32>, Cause, &'a str)> {
    let of_group = stragglers.iter().filter(|straggler| straggler.group == group);
    of_group
        .map(|straggler| {
            (straggler.task, straggler.cause.primary, straggler.node.as_deref().unwrap_or_default())
        })
        .collect()
}

/// Node 2 is four times as slow as the others.
#[test]
fn slow_node_is_identified_as_the_cause() {
    let Some(runs) = elephant_testing::shared("runs") else { return };
    for form in ["hadoop-synthetic-avro-json", "hadoop-synthetic-avro-binary"] {
        let stragglers = recorded(&runs.join(form)).remove("slownode").unwrap();
        let node = "node002.example.com";
        let expected: Vec<_> = [8, 9, 13, 15].map(|task| (Some(task), Cause::Hardware, node)).into();
        assert_eq!(causes_in(&stragglers, "map"), expected);
        assert_eq!(stragglers.len(), 4);
    }
}

/// One map and one reduce have twelve times the input.
#[test]
fn skewed_input_is_identified_as_the_cause() {
    let Some(runs) = elephant_testing::shared("runs") else { return };
    for form in ["hadoop-synthetic-avro-json", "hadoop-synthetic-avro-binary"] {
        let stragglers = recorded(&runs.join(form)).remove("mapskew").unwrap();
        let causes: Vec<_> =
            stragglers.iter().map(|straggler| (straggler.group.as_str(), straggler.cause.primary)).collect();
        assert_eq!(causes, [("map", Cause::DataSkew), ("reduce", Cause::DataSkew)]);
        assert!(stragglers.iter().all(|straggler| straggler.cause.confidence == Some(Confidence::Measured)));
    }
}

/// One attempt sleeps; its copy on another node does not. In MapReduce, other tasks on its node took as long as usual, so
/// it is neither the task nor a node that was slow for all. In Spark, no other task ran there long enough to tell.
#[test]
fn original_overtaken_by_its_copy_was_delayed_alone() {
    let Some(runs) = elephant_testing::shared("runs") else { return };
    for (run, group, task, expected) in [
        ("hadoop-2.7.3", "map", 5, Cause::Unexplained),
        ("hadoop-2.7.3-avro-binary", "map", 5, Cause::Unexplained),
        ("spark-3.5.9", "stage 1.0", 9, Cause::Contention),
    ] {
        let stragglers = recorded(&runs.join(run)).remove("speculation").unwrap();
        let own = stragglers.iter().find(|it| it.group == group && it.task == Some(task)).unwrap();
        assert_eq!(own.cause.primary, expected, "{run}");
        let evidence: Vec<_> = own.cause.evidence.iter().map(|evidence| evidence.cause).collect();
        assert_eq!(
            evidence.contains(&Cause::Contention),
            expected == Cause::Contention,
            "{run}: {evidence:?}"
        );
    }
}

/// A task that sleeps on every node is slow in every attempt.
#[test]
fn sleeping_task_is_slow_in_every_attempt() {
    let Some(runs) = elephant_testing::shared("runs") else { return };
    let stragglers = recorded(&runs.join("spark-3.5.9")).remove("speculation").unwrap();
    let causes = causes_in(&stragglers, "stage 2.0");
    let found: Vec<_> = causes.iter().map(|straggler| (straggler.0, straggler.1)).collect();
    assert_eq!(found, [(Some(2), Cause::EveryAttempt)]);
}

/// In these applications the first tasks of each executor are the stragglers, whatever else was planted.
#[test]
fn first_tasks_of_executors_are_cold_starts() {
    let Some(runs) = elephant_testing::shared("runs") else { return };
    let mut recorded = recorded(&runs.join("spark-3.5.9"));
    for folder in ["skew", "gc", "execkill", "speculation", "cached"] {
        let stragglers = recorded.remove(folder).unwrap();
        let causes = causes_in(&stragglers, "stage 0.0");
        assert!(!causes.is_empty(), "{folder}");
        assert!(causes.iter().all(|straggler| straggler.1 == Cause::ColdStart), "{folder}: {causes:?}");
    }
}

/// A reduce that was launched early waits for the maps; that is not the fault of its node.
#[test]
fn early_reduce_waited_for_maps() {
    let Some(runs) = elephant_testing::shared("runs") else { return };
    let stragglers = recorded(&runs.join("hadoop-2.7.3")).remove("healthy").unwrap();
    let causes: Vec<_> =
        causes_in(&stragglers, "reduce").iter().map(|straggler| (straggler.0, straggler.1)).collect();
    assert_eq!(causes, [(Some(0), Cause::Scheduler)]);
}

/// Every straggler in every recording has a cause, and user code failures are not attributed to the node.
#[test]
fn every_recorded_straggler_has_a_cause() {
    let Some(runs) = elephant_testing::shared("runs") else { return };
    for (folder, stragglers) in recorded(&runs) {
        if folder.ends_with("failures") || folder.ends_with("retries") {
            assert!(
                stragglers.iter().all(|straggler| straggler.cause.primary != Cause::Hardware),
                "{folder}"
            );
        }
    }
}
