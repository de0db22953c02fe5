//! Changes of settings that would make an application slower.

use super::resources;
use crate::finding::SettingChange;
use crate::model::conf::ConfKey;
use crate::model::{Application, Engine};
use crate::savings::{ReplaysOnce, Resources};

/// Why a change makes the application slower, as far as a replay can tell: fewer cores for each executor, with the number of
/// executors that is proposed together with them.
pub(super) fn of(
    app: &Application,
    replays: &ReplaysOnce<'_>,
    change: &SettingChange,
    all: &[SettingChange],
) -> Option<String> {
    if app.engine != Engine::Spark || !ConfKey::ExecutorCores.names().contains(&change.setting.as_str()) {
        return None;
    }
    let cores = change.to.parse().ok()?;
    let replays = replays.spark()?;
    let (_, now) = replays.executors()?;
    if cores >= now {
        return None;
    }
    let executors = resources::of(app, all)?.executors;
    let resources = Resources { cores: Some(cores), executors, ..Resources::default() };
    let saved = replays.predict(&[], resources).ok()?.saves.wall_ms;
    (saved.high < 0.0).then(|| format!("with {cores} the application would take longer"))
}
