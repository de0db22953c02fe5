//! The recorded run, ready for replays.

use std::sync::OnceLock;

use super::change::Change;
use super::plan::{Plan, Unknown};
use super::schedule::Outcome;
use elephant_model::model::Application;

/// A plan and its replay without a change.
#[derive(Debug)]
pub struct Recorded {
    /// The attempts, stages and jobs of the log.
    pub plan: Plan,
    /// When they run if they are scheduled again as they are.
    pub base: Outcome,
}

impl Recorded {
    /// # Errors
    /// If the application cannot be replayed.
    fn of(app: &Application) -> Result<Self, Unknown> {
        let plan = Plan::of(app)?;
        let base = plan.replay(&Change::default())?;
        Ok(Self { plan, base })
    }
}

/// The recorded run of one application, which rules and savings share. It takes time, so it is computed when it is
/// first needed.
#[derive(Debug, Default)]
pub struct RecordedOnce(OnceLock<Result<Recorded, Unknown>>);

impl RecordedOnce {
    /// # Errors
    /// If the application cannot be replayed.
    pub fn get(&self, app: &Application) -> Result<&Recorded, Unknown> {
        self.0.get_or_init(|| Recorded::of(app)).as_ref().map_err(|&why| why)
    }

    /// # Errors
    /// If the application cannot be replayed.
    pub fn into_inner(self, app: &Application) -> Result<Recorded, Unknown> {
        self.0.into_inner().unwrap_or_else(|| Recorded::of(app))
    }
}
