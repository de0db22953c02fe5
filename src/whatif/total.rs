//! What each change saves over all applications.

use super::application::{ApplicationReplays, Replays};
use super::settings::Change;
use crate::savings::Range;
use crate::units::Millis;

/// The sums over all applications.
#[derive(Debug, Clone, Default)]
pub(crate) struct Total {
    /// How many applications were replayed.
    pub(crate) replayed: u64,
    /// How long they took together.
    pub(crate) recorded: Millis,
    /// The changes that were replayed for all of them.
    pub(crate) changes: Vec<ChangeTotal>,
}

/// A change over all applications.
#[derive(Debug, Clone)]
pub(crate) struct ChangeTotal {
    pub(crate) change: Change,
    /// How many applications it shortens by more than the error of the model.
    pub(crate) shortened: u64,
    /// By how much together, in milliseconds; `None` without such an application.
    pub(crate) saves_ms: Option<Range>,
    /// How many applications it makes longer by more than the error.
    pub(crate) lengthened: u64,
    /// For how many its effect is not known.
    pub(crate) unknown: u64,
}

impl Total {
    /// Sums up `changes`.
    pub(super) fn of(applications: &[ApplicationReplays], changes: Vec<Change>) -> Self {
        let replayed: Vec<&Replays> =
            applications.iter().filter_map(|app| app.replays.as_ref().ok()).collect();
        let total = |change: Change| {
            let mut total = ChangeTotal { change, shortened: 0, saves_ms: None, lengthened: 0, unknown: 0 };
            let of_change = |scenario: &&super::Scenario| scenario.change == total.change;
            let scenarios: Vec<_> =
                replayed.iter().filter_map(|replays| replays.scenarios.iter().find(of_change)).collect();
            for scenario in scenarios {
                match &scenario.prediction {
                    Err(_) => total.unknown += 1,
                    Ok(prediction) if prediction.within_error => {}
                    Ok(prediction) if prediction.saves.wall_ms.point > 0.0 => {
                        let saves = prediction.saves.wall_ms;
                        total.shortened += 1;
                        total.saves_ms = Some(total.saves_ms.map_or(saves, |sum| sum.plus(saves)));
                    }
                    Ok(_) => total.lengthened += 1,
                }
            }
            total
        };
        Self {
            replayed: replayed.len() as u64,
            recorded: replayed.iter().map(|replays| replays.recorded).sum(),
            changes: changes.into_iter().map(total).collect(),
        }
    }
}
