//! Changes of settings that would make an application slower.

use crate::finding::SettingChange;
use crate::metrics::Metrics;
use crate::model::conf::ConfKey;
use crate::model::{Application, Engine};
use crate::rules::RuleSet;
use crate::savings::{Resources, SparkReplays};

/// Why a change makes the application slower, as far as a replay can tell: fewer cores for each executor, with the number of
/// executors that is proposed together with them.
pub(super) fn of(
    app: &Application,
    rules: &RuleSet,
    metrics: &Metrics,
    change: &SettingChange,
    all: &[SettingChange],
) -> Option<String> {
    if app.engine != Engine::Spark || !ConfKey::ExecutorCores.names().contains(&change.setting.as_str()) {
        return None;
    }
    let cores = change.to.parse().ok()?;
    let replays = SparkReplays::of(app, rules, metrics).ok()?;
    let (_, now) = replays.executors()?;
    if cores >= now {
        return None;
    }
    let names = ConfKey::ExecutorInstances.names();
    let executors = all.iter().find(|other| names.contains(&other.setting.as_str()));
    let executors = executors.and_then(|other| other.to.parse().ok());
    let resources = Resources { cores: Some(cores), executors, ..Resources::default() };
    let saved = replays.predict(&[], resources).ok()?.saves.wall_ms;
    (saved.high < 0.0).then(|| format!("with {cores} cores for each executor the application takes longer"))
}
