//! A source of data on one running application.

use super::client::{Client, RestError};
use crate::watch::application::{Judges, LiveApplication};
use elephant_model::model::Engine;
use elephant_model::model::table::TaskKind;

/// An application's master or driver.
pub(super) trait Source: Send {
    /// The engine.
    fn engine(&self) -> Engine;

    /// Asks for the state of the application and of its tasks. Returns whether it has ended.
    ///
    /// # Errors
    /// If the server does not answer.
    fn ask(
        &mut self,
        client: &Client,
        application: &mut LiveApplication,
        judges: &Judges,
    ) -> Result<bool, RestError>;

    /// The number of the attempt that runs a task, and its host, where that must be asked for.
    fn attempt_of(&self, _: &Client, _: TaskKind, _task: u32) -> Option<(u32, String)> {
        None
    }
}
