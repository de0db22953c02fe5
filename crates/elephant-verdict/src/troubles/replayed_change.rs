//! Changes of settings that would make an application slower, or do it no good.

use super::configuration::Judged;
use super::{replayed_job_change, resources};
use crate::savings::{ReplaysOnce, Resources};
use elephant_analysis::replay::PerMille;
use elephant_analysis::replay::spark::Cause;
use elephant_analysis::task_time::time_of_tasks;
use elephant_base::units::Millis;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::{Application, Engine};
use elephant_rule::finding::percent;
use elephant_ruleset::settings::TroubleParams;

/// The data by which changes are judged.
pub(super) struct Grounds<'a, 'r> {
    pub(super) app: &'a Application,
    pub(super) replays: &'a ReplaysOnce<'r>,
    pub(super) run_time: Option<Millis>,
    /// An application in which no task ran for at least this share of the time counts as idle.
    pub(super) idle_application: f64,
    pub(super) params: &'a TroubleParams,
}

impl Grounds<'_, '_> {
    /// The share of the run time in which no task ran.
    fn without_tasks(&self) -> Option<f64> {
        let run_time = self.run_time.filter(|time| *time > Millis::ZERO)?;
        Some(1.0 - time_of_tasks(self.app).as_f64() / run_time.as_f64())
    }
}

/// Why a change does the application no good, as far as a replay can tell. In Spark, fewer cores for each executor, with the
/// number of executors that is proposed together with them, must not make it slower. Against garbage collection, they
/// must not make it slower if they leave only the usual share of it. Where only a rule of thumb calls for them, they
/// must also save something, and the executors must have had work.
pub(super) fn of(grounds: &Grounds<'_, '_>, judged: Judged<'_>) -> Option<String> {
    let Judged { change, all, is_rule_of_thumb, is_against_collections } = judged;
    let Grounds { app, replays, .. } = grounds;
    if let Some(job) = replays.mapreduce() {
        return replayed_job_change::of(job, change, grounds.params.less_held.get());
    }
    if app.engine != Engine::Spark || !ConfKey::ExecutorCores.names().contains(&change.setting.as_str()) {
        return None;
    }
    if let Some(idle) = is_rule_of_thumb.then(|| grounds.without_tasks()).flatten()
        && idle >= grounds.idle_application
    {
        return Some(format!(
            "no task ran for {} of the time, whatever the size of executors",
            percent(idle)
        ));
    }
    let cores = change.to.parse().ok()?;
    let replays = replays.spark()?;
    let (_, now) = replays.executors()?;
    if cores >= now {
        return None;
    }
    let wanted = resources::of(app, all)?;
    let resources = Resources { cores: Some(cores), executors: wanted.executors, ..Resources::default() };
    let usual = || Cause::Collections(None, PerMille::of_share(grounds.params.usual_collections.get()));
    let without: Vec<Cause> = is_against_collections.then(usual).into_iter().collect();
    // Where the event log does not contain the times of collections, only the replay with all of them is left.
    let predicted = replays.predict(&without, resources).or_else(|_| replays.predict(&[], resources));
    let saved = predicted.ok()?.saves.wall_ms;
    if saved.high < 0.0 {
        return Some(format!("with {cores} the application would take longer"));
    }
    // The memory that the executors take also depends on their heap, so this replay has all changes.
    let saves = replays.predict(&[], wanted).ok()?.saves;
    let saves_memory = saves.gb_hours.is_some_and(|saved| saved.low > 0.0);
    (is_rule_of_thumb && saves.wall_ms.low <= 0.0 && !saves_memory)
        .then(|| format!("with {cores} the application would be no faster, and take no less memory"))
}
