//! The logs of garbage collectors that were found for an application.

use elephant_base::units::Millis;
use elephant_model::model::gc_log::GcLog;
use elephant_model::model::{Application, Engine, ProcessGcLog};

/// The logs of processes that run tasks. The first container of YARN runs the application master.
pub(in crate::any) fn workers(app: &Application) -> impl Iterator<Item = &ProcessGcLog> {
    app.gc_logs.iter().filter(|log| !log.process.is_master())
}

/// The process in which a value is highest, with that value. Of equal ones, the first.
pub(in crate::any) fn worst<'a, T>(
    app: &'a Application,
    value: impl Fn(&'a GcLog) -> Option<T>,
    rank: impl Fn(&T) -> f64,
) -> Option<(&'a ProcessGcLog, T)> {
    let mut worst: Option<(&ProcessGcLog, T)> = None;
    for process in workers(app) {
        let Some(value) = value(&process.log) else { continue };
        if worst.as_ref().is_none_or(|(_, highest)| rank(&value) > rank(highest)) {
            worst = Some((process, value));
        }
    }
    worst
}

/// A process in words: `executor 3`, `container_1_0002_01_000003`.
pub(in crate::any) fn in_words(app: &Application, process: &ProcessGcLog) -> String {
    let id = process.process.id();
    if app.engine == Engine::Spark && !id.starts_with("container_") {
        format!("executor {id}")
    } else {
        id.to_owned()
    }
}

/// Whole milliseconds.
pub(in crate::any) fn millis(duration: std::time::Duration) -> Millis {
    Millis::new(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}
