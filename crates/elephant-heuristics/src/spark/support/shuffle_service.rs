//! Whether an external shuffle service can keep the shuffle files of executors that are removed.

use elephant_model::model::Application;
use elephant_model::model::spark::{Platform, ShuffleService};

/// What the platform of an application is known to offer.
pub(in crate::spark) fn of(app: &Application) -> Option<ShuffleService> {
    Platform::of(app).map(|platform| platform.shuffle_service)
}

/// What to do with the service, on the condition that it runs: an application that is told to use it, and does not find it,
/// fails.
pub(in crate::spark) fn if_it_runs(app: &Application, what: &str) -> String {
    let how = match of(app) {
        Some(ShuffleService::First(how)) => format!(" ({how})"),
        _ => String::new(),
    };
    format!("if the cluster runs the external shuffle service{how}, {what}")
}
