//! The judgement on the application: lost executors, and those that Spark excluded because tasks failed on them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Counted, Failing};
use crate::shown::FINDINGS;
use crate::spark::support::losses::{Loss, describe_all, lost_executors, mostly_on, only_host, worst_host};
use crate::spark::support::remedies::against_losses;
use elephant_base::severity::Severity;
use elephant_catalogue::Advised;
use elephant_model::model::spark::Spark;
use elephant_model::model::{Application, Status};
use elephant_rule::finding::{Advice, Failure, Judgement, Measure, Phrase, Subject};
use elephant_rule::wording::{limit, percent, plural};

/// The message.
const LOSSES: &str =
    "{lost_executors_count} of {executors} {were} lost, {share} ({limit}): {lost}{mostly}[; {excluded}]";

/// The same if no executor was lost.
const NO_LOSS: &str = "{stages} with relevant failures; no executor was lost";

/// The same if executors were excluded.
const EXCLUDED: &str = "{excluded}";

/// An executor or node that was excluded.
const EXECUTOR: &str = "executor {id}[ on {host}] was excluded[ after {failures}]";
const NODE: &str = "node {host} was excluded[ after failures on {executors}]";
const MORE: &str = "{more} more were excluded";

/// The judgement; `stages` is the number of stages with relevant failures.
pub(super) fn judge(params: &Failing, app: &Advised<'_>, spark: &Spark, stages: u64) -> Judgement {
    let lost: Vec<Loss<'_>> = lost_executors(spark).collect();
    let all = spark.executors.len() as u64;
    let share = lost.len() as f64 / all as f64;
    let by_losses = match params.count {
        Counted::All if !lost.is_empty() => params.lost_share.severity(share),
        _ => Severity::None,
    };
    let excluded = exclusions(app, spark, |_| true, |_| true);
    let by_exclusions = if excluded.is_empty() { Severity::None } else { params.excluded };
    let severity = by_losses.max(by_exclusions);
    let condition = [("lost_share", by_losses, params.lost_share.describe_in(Severity::Low, percent))];
    let host = worst_host(app, spark, &lost);
    let template = match (lost.is_empty(), by_exclusions) {
        (false, _) => LOSSES,
        (true, Severity::None) => NO_LOSS,
        (true, _) => EXCLUDED,
    };
    let mut evidence = vec![
        ("bad_stages_count", Measure::Count(stages)),
        ("executors_count", Measure::Count(all)),
        ("lost_executors_count", Measure::Count(lost.len() as u64)),
        ("excluded_count", Measure::Count(excluded.len() as u64)),
    ];
    evidence.extend(host.map(|(host, _)| ("worst_host_text", Measure::Text(host.to_owned()))));
    Judgement::of(Subject::Application, severity)
        .tasks(all)
        .facts(evidence)
        .failed_by(most_frequent(&lost).map(|failure| {
            let of_host = only_host(app, spark, &lost).is_some() && app.status != Status::Failed;
            if of_host && failure.kind.blames_code() { failure.of_node() } else { failure }
        }))
        .message(
            template,
            &[
                ("stages", &plural(stages, "stage")),
                ("executors", &plural(all, "executor")),
                ("were", &if lost.len() == 1 { "was" } else { "were" }),
                ("share", &percent(share)),
                ("limit", &limit(by_losses, params.lost_share.describe_in(by_losses, percent), &condition)),
                ("lost", &describe_all(app, &lost)),
                ("mostly", &mostly_on(host)),
                ("excluded", &shown(excluded)),
            ],
        )
        .advice(|| advice(app, spark, &lost))
}

/// The same advice as that on the stages, whose findings may not be shown.
fn advice(app: &Advised<'_>, spark: &Spark, lost: &[Loss<'_>]) -> Vec<Advice> {
    if lost.is_empty() {
        return vec![
            "check the disks, memory and logs of what was excluded; the other nodes did its work".into(),
        ];
    }
    against_losses(app, spark, lost)
}

/// The cause of most losses; of equally frequent ones, the one that explains most.
fn most_frequent(lost: &[Loss<'_>]) -> Option<Failure> {
    let mut kinds: BTreeMap<_, (u64, &Failure)> = BTreeMap::new();
    for loss in lost {
        let failure = &loss.cause.failure;
        kinds.entry(failure.kind).or_insert((0, failure)).0 += 1;
    }
    let order =
        |kind: &elephant_model::diagnosis::FailureKind, count: u64| (count, kind.standing(), Reverse(*kind));
    kinds
        .iter()
        .max_by_key(|(kind, (count, _))| order(kind, *count))
        .map(|(_, (_, failure))| (*failure).clone())
}

/// The nodes and executors that Spark excluded, nodes first: those whose host or id is selected.
pub(super) fn exclusions(
    app: &Application,
    spark: &Spark,
    of_node: impl Fn(&str) -> bool,
    of_executor: impl Fn(&str) -> bool,
) -> Vec<Phrase> {
    let mut nodes: BTreeMap<&str, Option<u64>> = BTreeMap::new();
    let of_stages = spark.nodes_excluded_for_stages.iter().map(|(host, failures)| (host.as_str(), *failures));
    let of_all = spark.excluded_nodes.iter().map(|node| (node.name.as_str(), node.task_failures));
    for (host, failures) in of_all.chain(of_stages).filter(|(host, _)| of_node(host)) {
        let known = nodes.entry(host).or_default();
        *known = failures.max(*known);
    }
    let nodes = nodes.into_iter().map(|(host, executors)| {
        let executors = executors.map(|count| plural(count, "executor")).unwrap_or_default();
        Phrase::new(NODE, &[("host", &host), ("executors", &executors)])
    });
    let excluded = spark.executors.iter().filter(|executor| executor.exclusions > 0);
    let executors = excluded.filter(|executor| of_executor(&executor.id)).map(|executor| {
        let host = executor.host.and_then(|host| app.strings.get(host)).unwrap_or_default();
        let failures = executor.failures_before_exclusion.map(|count| plural(count, "task failure"));
        Phrase::new(
            EXECUTOR,
            &[("id", &executor.id), ("host", &host), ("failures", &failures.unwrap_or_default())],
        )
    });
    nodes.chain(executors).collect()
}

/// The first exclusions, and how many more there are.
pub(super) fn shown(mut excluded: Vec<Phrase>) -> Phrase {
    let more = excluded.len().saturating_sub(FINDINGS);
    excluded.truncate(FINDINGS);
    if more > 0 {
        excluded.push(Phrase::new(MORE, &[("more", &more)]));
    }
    Phrase::list("; ", excluded)
}
