//! Changes of settings that would make an application slower, or do it no good.

use super::configuration::Judged;
use super::resources;
use crate::model::conf::ConfKey;
use crate::model::{Application, Engine};
use crate::savings::{ReplaysOnce, Resources};

/// Why a change does the application no good, as far as a replay can tell. Fewer cores for each executor, with the number of
/// executors that is proposed together with them, must not make it slower. Where only a rule of thumb calls for them, they
/// must also save something.
pub(super) fn of(
    app: &Application,
    replays: &ReplaysOnce<'_>,
    (change, all, is_rule_of_thumb): Judged<'_>,
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
    let wanted = resources::of(app, all)?;
    let resources = Resources { cores: Some(cores), executors: wanted.executors, ..Resources::default() };
    let saved = replays.predict(&[], resources).ok()?.saves.wall_ms;
    if saved.high < 0.0 {
        return Some(format!("with {cores} the application would take longer"));
    }
    // The heap decides how much memory they take.
    let saves = replays.predict(&[], wanted).ok()?.saves;
    let saves_memory = saves.gb_hours.is_some_and(|saved| saved.low > 0.0);
    (is_rule_of_thumb && saves.wall_ms.low <= 0.0 && !saves_memory)
        .then(|| format!("with {cores} the application would be no faster, and take no less memory"))
}
