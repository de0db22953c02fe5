//! Where attempts failed, and the one place at which all of them did.

use std::collections::BTreeSet;

use super::failures::{self, Ends};
use super::remedies::look_at;
use elephant_analysis::root_cause::Places;
use elephant_model::model::spark::{Job, JobResult, Spark, Stage, StageStatus};
use elephant_model::model::table::{EndReason, Outcome, TaskGroup};
use elephant_model::model::{Application, Symbol};
use elephant_rule::finding::{Advice, Failure};
use elephant_rule::wording::plural;

/// The attempts of some tasks by node and by executor.
#[derive(Debug, Default)]
pub(crate) struct FailedPlaces {
    /// The attempts by node.
    pub(crate) nodes: Places,
    /// The attempts by executor.
    pub(crate) executors: Places,
    /// The number of tasks with a failed attempt.
    pub(crate) failed_tasks: u64,
    /// The nodes and the executors on which an attempt succeeded.
    working: (BTreeSet<Symbol>, BTreeSet<Symbol>),
}

impl FailedPlaces {
    /// The attempts of groups.
    pub(crate) fn of<'a>(groups: impl IntoIterator<Item = &'a TaskGroup>) -> Self {
        let mut places = Self::default();
        for TaskGroup { attempts, .. } in groups {
            let mut tasks = BTreeSet::new();
            for row in 0..attempts.len() {
                let failed = attempts.outcome(row) == Outcome::Failed;
                places.nodes.add(attempts.node(row), failed);
                places.executors.add(attempts.executor(row), failed);
                if attempts.outcome(row) == Outcome::Succeeded {
                    places.working.0.extend(attempts.node(row));
                    places.working.1.extend(attempts.executor(row));
                }
                tasks.extend(attempts.task(row).filter(|_| failed));
            }
            places.failed_tasks += tasks.len() as u64;
        }
        places
    }

    /// The node or executor on which all attempts failed, of several tasks: "node3", "executor 3 on node3". `None` if other
    /// attempts failed elsewhere.
    pub(crate) fn only(&self, app: &Application, spark: &Spark) -> Option<String> {
        // A task that fails wherever it runs often runs on one node, where its data is.
        if self.failed_tasks < 2 {
            return None;
        }
        if self.nodes.is_only_worst(app) {
            return self.nodes.worst(app).map(|(host, _)| host.to_owned());
        }
        let (id, _) = self.executors.worst(app).filter(|_| self.executors.is_only_worst(app))?;
        let mut hosts = spark.executors_with_id(id).iter().filter_map(|executor| executor.host);
        let host = hosts.find_map(|host| app.strings.get(host));
        Some(host.map_or_else(|| format!("executor {id}"), |host| format!("executor {id} on {host}")))
    }

    /// Whether no attempt succeeded at [`FailedPlaces::only`], while attempts succeeded elsewhere. Then the place is the
    /// cause even of a failed stage: records that always fail would not stop all other tasks there.
    pub(crate) fn nothing_works_there(&self, app: &Application) -> bool {
        let is_broken = |places: &Places, working: &BTreeSet<Symbol>| {
            places.is_only_worst(app)
                && !working.is_empty()
                && places.worst(app).is_some_and(|(name, _)| {
                    !working.iter().any(|place| app.strings.get(*place) == Some(name))
                })
        };
        let (nodes, executors) = &self.working;
        self.failed_tasks > 1 && (is_broken(&self.nodes, nodes) || is_broken(&self.executors, executors))
    }
}

/// The stages that a job ran.
pub(crate) fn stages_of<'a>(spark: &'a Spark, job: &Job) -> impl Iterator<Item = &'a Stage> {
    let place = spark.jobs.iter().position(|other| other.id == job.id);
    spark.stages.iter().filter(move |stage| place.is_some() && stage.job == place)
}

/// The place of all failures of a job that succeeded, if otherwise only the code could be blamed.
pub(crate) fn of_job(app: &Application, spark: &Spark, job: &Job, ends: &Ends) -> Option<String> {
    if job.result != Some(JobResult::Succeeded) {
        return None;
    }
    to_blame(app, spark, stages_of(spark, job).filter_map(|stage| app.groups.get(stage.group?)), ends)
}

/// The same for a stage that completed.
pub(crate) fn of_stage(app: &Application, spark: &Spark, stage: &Stage, ends: &Ends) -> Option<String> {
    if stage.status != StageStatus::Complete {
        return None;
    }
    to_blame(app, spark, stage.group.and_then(|group| app.groups.get(group)), ends)
}

fn to_blame<'a>(
    app: &Application,
    spark: &Spark,
    groups: impl IntoIterator<Item = &'a TaskGroup>,
    ends: &Ends,
) -> Option<String> {
    let unclear = matches!(ends.main_reason(), Some(EndReason::Exception | EndReason::Other));
    if unclear { FailedPlaces::of(groups).only(app, spark) } else { None }
}

/// Blames the node instead of the code if there is a `place` where all failures happened; otherwise the failure as it
/// is.
pub(crate) fn failure_at(place: Option<&String>, failure: Failure) -> Failure {
    if place.is_some() && failure.kind.blames_code() { failure.of_node() } else { failure }
}

/// The remedy for failures, in short.
pub(crate) fn advice(place: Option<&String>, ends: &Ends) -> Vec<Advice> {
    match place {
        Some(place) => vec![look_at(&plural(ends.failed, "failure"), "happened", place)],
        None => failures::advice(ends.main_reason()).into_iter().map(Advice::from).collect(),
    }
}
